package dump

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"precision/internal/order"
)

// Recording is what one run left in a folder, where several runs wrote to it.
// Times are the numbers in the names of files.
type Recording struct {
	// First and Last are the times of its first and its last file.
	First, Last uint64
	// Ops counts the operators, or outputs of arrays, that it has.
	Ops int
}

// Name is the number of its first file.
func (r Recording) Name() string { return strconv.FormatUint(r.First, 10) }

// String tells when it began and how much it holds.
func (r Recording) String() string {
	at := ""
	switch text := r.Name(); {
	case len(text) == 16:
		at = time.UnixMicro(int64(r.First)).Format(" (2006-01-02 15:04:05)")
	case len(text) == 17:
		if t, err := time.Parse("20060102150405", text[:14]); err == nil {
			at = t.Format(" (2006-01-02 15:04:05)")
		}
	}
	return fmt.Sprintf("%s%s, %d", r.Name(), at, r.Ops)
}

// moment is a file in the order of time.
type moment struct {
	at  uint64
	key int
}

// Recordings groups the files of a folder by the runs that wrote them, oldest
// first: a run records every tensor once. There is one unless some operator has
// several files that are no slices, and none of an operator that a network runs
// in a loop: at least one recording must hold nine tenths of all operators, else
// no group of files is a run, and the list is empty.
//
// Runs are told apart at the longest silence between the files of an operator.
func (f *Folder) Recordings() (list []Recording) {
	var files []moment
	type span struct{ from, to uint64 } // between two files of an operator
	var spans []span
	for k, op := range f.Ops {
		if op.Slicing != Whole {
			continue
		}
		last := uint64(0)
		for i := range op.Files {
			n := &op.Files[i].Name
			if !n.HasTime {
				continue
			}
			if last > 0 && n.Time > last {
				spans = append(spans, span{last, n.Time})
			}
			last = n.Time
			files = append(files, moment{n.Time, k})
		}
	}
	if len(spans) == 0 {
		return []Recording{all(files)}
	}
	order.Stable(files, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
	order.Stable(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	var cuts []uint64 // a recording begins at each
	for i := 0; i < len(spans); {
		// All spans that begin before the first one ends share a moment: one
		// cut serves them.
		from, to := spans[i].from, spans[i].to
		for i < len(spans) && spans[i].from < to {
			from = max(from, spans[i].from)
			i++
		}
		cuts = append(cuts, silence(files, from, to))
	}
	most := 0
	for i := 0; i < len(files); {
		end := uint64(math.MaxUint64)
		if len(list) < len(cuts) {
			end = cuts[len(list)]
		}
		r := Recording{First: files[i].at}
		seen := map[int]bool{}
		for ; i < len(files) && files[i].at < end; i++ {
			r.Last = files[i].at
			seen[files[i].key] = true
		}
		r.Ops = len(seen)
		most = max(most, r.Ops)
		list = append(list, r)
	}
	total := map[int]bool{}
	for _, m := range files {
		total[m.key] = true
	}
	if 10*most < 9*len(total) {
		return nil
	}
	return list
}

func all(files []moment) Recording {
	r := Recording{First: math.MaxUint64}
	seen := map[int]bool{}
	for _, m := range files {
		r.First, r.Last = min(r.First, m.at), max(r.Last, m.at)
		seen[m.key] = true
	}
	r.Ops = len(seen)
	if len(files) == 0 {
		r.First = 0
	}
	return r
}

// silence is when files begin to be written again after the longest pause
// behind from and up to to.
func silence(files []moment, from, to uint64) uint64 {
	at, longest, last := to, uint64(0), from
	start, _ := slices.BinarySearchFunc(files, from, func(m moment, at uint64) int { return cmp.Compare(m.at, at) })
	for _, m := range files[start:] {
		if m.at > to {
			break
		}
		if pause := m.at - last; m.at > from && pause > longest {
			at, longest = m.at, pause
		}
		last = m.at
	}
	return at
}

// Newest is the recording to take: the latest of those that hold nearly as many
// operators as the fullest, -1 of an empty list.
func Newest(list []Recording) int {
	most := 0
	for _, r := range list {
		most = max(most, r.Ops)
	}
	for i, r := range slices.Backward(list) {
		if 10*r.Ops >= 9*most {
			return i
		}
	}
	return -1
}

// Take leaves out the files of other recordings. Files whose names tell no time
// stay.
func (f *Folder) Take(r Recording) *Folder {
	out := *f
	out.Ops, out.byKey = nil, map[string]*Op{}
	for _, op := range f.Ops {
		kept := &Op{Key: op.Key, Slicing: op.Slicing}
		for _, e := range op.Files {
			if !e.Name.HasTime || e.Name.Time >= r.First && e.Name.Time <= r.Last {
				kept.Files = append(kept.Files, e)
			}
		}
		if len(kept.Files) > 0 {
			out.Ops = append(out.Ops, kept)
			out.byKey[kept.Key] = kept
		}
	}
	return &out
}

// Device tells whether the folder holds dumps of whole operators, inputs and
// outputs, as a device wrote them: in its layouts and under its names of operators.
// Else every recording is one output of the framework's operator.
func (f *Folder) Device() bool { return f.Kind == Offline }

// Simulated tells whether the folder holds what the framework computed of a
// quantised network: numbers of the device's dtypes, in no layout of a device.
func (f *Folder) Simulated() bool { return f.Kind == Quant }

// Holding returns the recordings that hold an output of an operator, nil if there
// are none: those of the operator where it is recorded as a whole, else those of
// the output.
func (f *Folder) Holding(op string, output int) *Op {
	if f.Device() {
		return f.Op(op)
	}
	return f.Output(op, output)
}

// Described names the kind of recordings in a word: npu, quantised, numpy, or what
// [Kind] calls it.
func (f *Folder) Described() string {
	switch {
	case f.Device():
		return "npu"
	case f.Simulated():
		return "quantised"
	case f.Numpy:
		return "numpy"
	}
	return f.Kind.String()
}
