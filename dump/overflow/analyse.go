package overflow

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump"
)

// Options of [Analyse]. The zero value is for a new report; msaccucmp.py takes
// the oldest dump and searches for one detector only.
type Options struct {
	// Top is how many records to analyse, the oldest first; 0 is all.
	Top int
	// Oldest takes the oldest of several dumps that fit a record, not the one
	// nearest to it in time.
	Oldest bool
	// LastOnly searches for the dump of the last detector that noticed
	// something, if there are several in one record.
	LastOnly bool
}

// Event is a record with the operators it is about.
type Event struct {
	// Entry is the debug file.
	Entry dump.Entry
	// Records holds what could be decoded, one of each output of the file;
	// what could not is nil. There ought to be one.
	Records []*Record
	// Detected holds the detectors that noticed something.
	Detected []*Block
	// Ops holds the operators whose dumps were found.
	Ops []Op
	// Missing holds the detectors to which no dump belongs.
	Missing []*Block
	// Err tells why there is no more; a [*dump.Error] with the exit code of
	// msaccucmp.py overflow.
	Err error
	// Warnings tell what is odd.
	Warnings []dump.Warning
}

// Op is an operator that overflowed.
type Op struct {
	// Entry is its dump.
	Entry dump.Entry
	// Block is the detector that noticed it.
	Block *Block
	// Type is from the name of the dump, Name from its header.
	Type, Name string
	// Others is the number of further dumps that fit the record as well.
	Others int
	// Tensors holds the inputs, then the outputs.
	Tensors []Tensor
	// Err tells why the dump could not be read.
	Err error
}

// Tensor is an input or an output of an operator that overflowed.
type Tensor struct {
	dump.Tensor
	// File is the name of the array that a converter makes of the tensor.
	File  string
	Stats Stats
	// Err tells why there are no statistics.
	Err error
}

// Analyse decodes records of a tree, finds the dumps they are about and reads
// their tensors. What goes wrong with one record stays with that record.
func Analyse(t *Tree, o Options) []Event {
	n := len(t.Records)
	if o.Top > 0 {
		n = min(n, o.Top)
	}
	a := NewAnalyser(t, o)
	events := make([]Event, n)
	for i := range events {
		events[i] = a.Event(i)
	}
	return events
}

// Analyser is [Analyse] for one record at a time; Top does not matter to it.
type Analyser struct {
	tree    *Tree
	options Options
	dumps   index
}

// NewAnalyser prepares the analysis of the records of a tree.
func NewAnalyser(t *Tree, o Options) *Analyser {
	return &Analyser{t, o, newIndex(t.Dumps)}
}

// Event analyses record i of the tree.
func (a *Analyser) Event(i int) Event {
	e := Event{Entry: a.tree.Records[i]}
	e.analyse(a.dumps, a.options)
	return e
}

// index holds dumps by task, the number that all names have.
type index map[int64][]dump.Entry

func newIndex(dumps []dump.Entry) index {
	x := index{}
	for _, e := range dumps {
		x[e.Name.Task] = append(x[e.Name.Task], e)
	}
	return x
}

// below returns the dumps of a task in a folder and the folders in it.
func (x index) below(dir string, task uint64) (entries []dump.Entry, names []dump.Name) {
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	if dir == "." {
		prefix = ""
	}
	for _, e := range x[int64(task)] {
		if strings.HasPrefix(e.Path, prefix) {
			entries, names = append(entries, e), append(names, e.Name)
		}
	}
	return entries, names
}

func (e *Event) fail(code int, text string, err error) {
	e.Err = &dump.Error{Path: e.Entry.Path, Code: code, Offset: -1, Text: text, Err: err}
}

func (e *Event) analyse(x index, o Options) {
	records, err := Read(e.Entry)
	e.Records = records
	for _, r := range records {
		if r == nil {
			continue
		}
		for _, w := range r.Warnings {
			e.Warnings = dump.Warn(e.Warnings, dump.Warning{Path: e.Entry.Path, Text: w})
		}
	}
	switch {
	case err != nil:
		e.fail(CodeRecord, "no record", inner(err))
		return
	case len(records) > 1:
		e.fail(CodeMany, fmt.Sprintf("found %d records, expected one", len(records)), nil)
		return
	}
	if err := records[0].check(); err != nil {
		bad, _ := errors.AsType[*Error](err)
		e.fail(bad.Code, bad.Text, nil)
		return
	}
	e.Detected = records[0].Detected()
	e.search(x, o)
}

// inner drops path and code, which the error around it has.
func inner(err error) error {
	var e *dump.Error
	if !errors.As(err, &e) {
		return err
	}
	short := *e
	short.Path = "reading it"
	return &short
}

// search finds the dumps of the detected operators.
func (e *Event) search(x index, o Options) {
	blocks := e.Detected
	if o.LastOnly {
		blocks = blocks[len(blocks)-1:]
	}
	seen := map[string]bool{}
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		entries, names := x.below(filepath.Dir(e.Entry.Path), b.Task)
		found := Match(b, names)
		if len(found) == 0 {
			e.Missing = append(e.Missing, b)
			continue
		}
		best := found[0]
		if !o.Oldest {
			best = Nearest(found, names, e.Entry.Name.Time)
		}
		op := Op{Entry: entries[best], Block: b, Others: len(found) - 1}
		if seen[op.Entry.Path] {
			continue
		}
		seen[op.Entry.Path] = true
		op.read()
		e.Ops = append(e.Ops, op)
	}
}

// read fills in the tensors.
func (op *Op) read() {
	op.Type, op.Name = op.Entry.Name.OpType, op.Entry.Name.OpName
	f, err := op.Entry.Open()
	if err != nil {
		op.Err = err
		return
	}
	defer f.Close()
	if f.OpName != "" {
		op.Name = f.OpName
	}
	for _, side := range [][]dump.Tensor{f.Inputs, f.Outputs} {
		for i := range side {
			t := Tensor{Tensor: side[i], File: fmt.Sprintf("%s.%s.%d.npy", filepath.Base(op.Entry.Path), dump.SideOf(side[i].Input), side[i].Index)}
			t.Stats, t.Err = Measure(f, &t.Tensor)
			if e, ok := errors.AsType[*dump.Error](t.Err); ok && e.Path == "" {
				e.Path = op.Entry.Path
			}
			op.Tensors = append(op.Tensors, t)
		}
	}
	if len(op.Tensors) == 0 {
		op.Err = &dump.Error{Path: op.Entry.Path, Code: dump.CodeInvalid, Offset: -1, Text: "the dump has neither inputs nor outputs"}
	}
}

// Code is the exit code of msaccucmp.py for a report of these events: that of
// the first record that could not be used, else that of the first dump or
// tensor that could not be read, else 0.
func Code(events []Event) int {
	for i := range events {
		if c := dump.Code(events[i].Err); c != 0 {
			return c
		}
	}
	for i := range events {
		for _, op := range events[i].Ops {
			if c := dump.Code(op.Err); c != 0 {
				return c
			}
			for j := range op.Tensors {
				if c := dump.Code(op.Tensors[j].Err); c != 0 {
					return c
				}
			}
		}
	}
	return 0
}

// Usable reports whether any record could be used. If none could, there is
// nothing to report and msaccucmp.py writes no summary.
func Usable(events []Event) bool {
	return slices.ContainsFunc(events, func(e Event) bool { return e.Err == nil })
}

// Advice tells from extreme values where to look for the cause. That inputs
// are sound takes inputs, and all of them read.
func (op *Op) Advice() Message {
	var side [2]struct{ read, lost, extreme bool } // outputs, inputs
	for i := range op.Tensors {
		t := &op.Tensors[i]
		s := &side[0]
		if t.Input {
			s = &side[1]
		}
		s.read = s.read || t.Err == nil
		s.lost = s.lost || t.Err != nil
		s.extreme = s.extreme || t.Err == nil && t.Stats.Extreme
	}
	out, in := side[0], side[1]
	switch {
	case !in.read && !out.read:
		return AdviceNoTensors
	case in.extreme:
		return AdviceUpstream
	case in.lost || !in.read:
		return AdviceIncomplete
	case out.extreme:
		return AdviceHere
	case out.lost || !out.read:
		return AdviceIncomplete
	}
	return AdviceInside
}
