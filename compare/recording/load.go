package recording

import (
	"io"
	"os"
	"strconv"

	"precision/compare"
	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// side is one recording in memory: without elements, those stay in their files.
type side struct {
	calls []*call
	// open opens the elements of a tensor that has a DataName.
	open func(*leaf) (*compare.SideTensor, error)
	// parent leads from a call to the module around it.
	parent map[string]string
	stack  *msprobe.Stack
	index  map[string]*call
	// summed and grain are those of [result.Said].
	summed dtype.Type
	grain  float64
	// remarks tell what could not be read.
	remarks []string
}

// call is an entry of a recording.
type call struct {
	*msprobe.Call
	at     int // in side.calls
	leaves []leaf
	// token is what the call does, whatever its number: two calls with the same
	// token can be a pair. content adds what went in.
	token   string
	content string
	pair    *call
	how     int8
	// slots numbers the values of the call and its partner by place, outputs and
	// inputs on their own.
	slots map[string]int
	// op is the name of its operator in the table.
	op string
}

// How a pair was found.
const (
	byName int8 = iota + 1
	byOrder
)

// most is the number of remarks on one recording.
const most = 5

// readCalls reads a file of calls of msprobe.
func (s *side) readCalls(path string) error {
	f, err := msprobe.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	add := s.adder()
	for f.Scan() {
		switch rec := f.Result().(type) {
		case *msprobe.Call:
			add(rec.Clone())
		case *msprobe.SyntaxError:
			s.remark(rec.Error())
		}
	}
	return f.Err()
}

// adder is a function that adds calls in the order of recording and keeps what it is
// given. A name that comes twice is another call.
func (s *side) adder() func(*msprobe.Call) {
	seen := map[string]int{}
	return func(rec *msprobe.Call) {
		c := &call{Call: rec, at: len(s.calls)}
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name += "#" + strconv.Itoa(seen[c.Name])
		}
		c.leaves = leavesOf(c.Call)
		c.token, c.content = c.describe()
		s.calls = append(s.calls, c)
	}
}

func (s *side) remark(text string) {
	if len(s.remarks) < most {
		s.remarks = append(s.remarks, text)
	}
}

// beside reads a file that may be missing.
func (s *side) beside(path string, read func(io.Reader, string) ([]*msprobe.SyntaxError, error)) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		s.remark(err.Error())
		return nil
	}
	defer f.Close()
	bad, err := read(f, path)
	for _, e := range bad {
		s.remark(e.Error())
	}
	return err
}

// source is the line of the user's program that made a call: the innermost one
// that is no part of an installed library.
func (s *side) source(name string) string {
	if s.stack == nil {
		return ""
	}
	frames := s.stack.Of(name)
	for _, f := range frames {
		if !installed(f.File) {
			return lineOf(f)
		}
	}
	if len(frames) > 0 {
		return lineOf(frames[0])
	}
	return ""
}
