package recording

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/internal/plainfile"
)

// side is one recording in memory: without elements, those stay in their files.
type side struct {
	calls []*call
	// open opens the elements of a tensor that has a DataName.
	open func(*leaf) (*engine.SideTensor, error)
	// parent leads from a call to the module around it.
	parent map[string]string
	stack  *msprobe.Stack
	index  map[string]*call
	// masks are the outputs that masks are made of, read those whose infinities another call takes (infinite.go).
	masks, read map[place]bool
	// other tells that the other side was recorded kernel by kernel, or this one alone.
	other bool
	// omitted are functions of this side that only move numbers and that the other side's recorder leaves out (findOmitted).
	omitted map[string]bool
	// through are the calls without a partner between an input and what feeds it (feed.go).
	through map[*leaf][]*call
	// feeds are what the graph beside a dump of MindSpore's own says feeds its kernels, nil without one.
	feeds map[string][]mindspore.Port
	// raw tells that the checksums are those of memory, whatever the strides of the tensors that
	// lie there.
	raw bool
	// stopped is the last call that has files of its elements, in a recording that is raw, and
	// bare tells that no values were recorded at all.
	stopped string
	bare    bool
	// summed, grain and significant are Summed, Grain and Digits of [result.Summary].
	summed      dtype.Type
	grain       float64
	significant int
	// printed tells that parts of the elements were read (prints.go).
	printed bool
	// filed tells that there are files of elements.
	filed bool
	// unordered tells that it is files alone, whose names are those of calls in a
	// dump.json: these names tell more than their order.
	unordered bool
	// renumbered are the backward calls of modules that were counted otherwise than the forward calls (renumber).
	renumbered tally
	// widened is how many tensors are called float16 and are float32 in their files.
	widened int
	// damaged is what could not be read.
	damaged []result.Damage
}

// call is an entry of a recording.
type call struct {
	Name   string
	Parsed msprobe.Name
	at     int // in side.calls
	leaves []leaf
	// scaled are those of a quantiser, kept for what takes its numbers or their scales (scaled.go).
	scaled []leaf
	gists  []gist // while calls are aligned
	// token is what the call does, whatever its number: two calls with the same
	// token can be a pair. content is what went in.
	token   identity
	content identity
	pair    *call
	how     int8
	// fused is the call put together that this one is a part of, parts are those of
	// such a call and taken the values its own are copies of (maps.go).
	fused *call
	parts []*call
	taken []*leaf
	// block tells of a call put together that it is one side of a block (blocks.go).
	block bool
	// state tells of what holds a value behind the call that made it, and computes nothing.
	state bool
	// gap tells that something went in that was not recorded.
	gap bool
	// again tells that it was made while gradients were computed, and original is the
	// call that it repeats then.
	again    bool
	original *call
	// op is the name of its operator in the table, meets what it is of all ranks that run it
	// together.
	op, meets string
	// flagged tells that a device found NaN or infinities in it; other calls ask for that when the values are let go.
	flagged bool
	// nonfinite identifies its outputs where NaN or infinities are in them, for the same reason.
	nonfinite identity
	// begins tells that it does not wait until what it does is done.
	begins bool
}

// How a pair was found.
const (
	byName int8 = iota + 1
	byOrder
	byMap
)

// mostDamaged bounds what is kept of the damage of one recording.
const mostDamaged = 1000

// readCalls reads a file of calls of msprobe.
func (s *side) readCalls(path string) error {
	f, err := msprobe.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	add, seen := s.adder(), map[string]bool{}
	var offsets []int64 // of the calls
	for f.Scan() {
		switch rec := f.Result().(type) {
		case *msprobe.Call:
			file, offset := rec.Pos()
			offsets = append(offsets, offset)
			if seen[rec.Name] {
				s.damage(result.FileDamaged, rec.Name, path, &msprobe.SyntaxError{File: file, Offset: offset, Found: "the entry " + strconv.Quote(rec.Name) + " a second time", Expected: "every entry once"})
			}
			seen[rec.Name] = true
			add(rec)
		case *msprobe.SyntaxError:
			s.damage(result.RecordingCut, "", path, rec)
		}
	}
	s.bare = f.Header().Task == "structure" && len(s.calls) == 0
	s.belied(path, offsets)
	s.unheld(path, offsets)
	return f.Err()
}

// damage notes what cannot be read of the recording: a tensor or call by its name, or all that a
// file holds; file is where it lies, unless the error knows better.
func (s *side) damage(kind result.Kind, name, file string, err error) {
	if len(s.damaged) >= mostDamaged {
		return
	}
	d := result.DamageOf(name, file, result.Because(kind, err.Error()), err)
	d.Name = cmp.Or(d.Name, filepath.Base(d.File))
	s.damaged = append(s.damaged, d)
}

// promises tells whether a recording names files of elements.
func (s *side) promises() bool {
	return slices.ContainsFunc(s.calls, func(c *call) bool {
		return slices.ContainsFunc(c.leaves, func(l leaf) bool { return l.DataName != "" })
	})
}

// beside reads a file that may be missing.
func (s *side) beside(path string, read func(io.Reader, string) ([]*msprobe.SyntaxError, error)) error {
	if path == "" {
		return nil
	}
	f, _, err := plainfile.Open(path, "a file of msprobe")
	if err != nil {
		s.damage(result.FileDamaged, "", path, err)
		return nil
	}
	defer f.Close()
	bad, err := read(f, path)
	for _, e := range bad {
		s.damage(result.FileDamaged, "", path, e)
	}
	return err
}

// source is the line of the user's program that made a call: the innermost one
// that is no part of an installed library.
func (s *side) source(name string) string {
	line, _, _ := strings.Cut(s.stack.User(name), "\n")
	return line
}

// leaf is the value at a place, nil if there is none; it is likely to be number i.
func (c *call) leaf(place string, i int) *leaf {
	if i < len(c.leaves) && c.leaves[i].place == place {
		return &c.leaves[i]
	}
	for k := range c.leaves {
		if c.leaves[k].place == place {
			return &c.leaves[k]
		}
	}
	return nil
}
