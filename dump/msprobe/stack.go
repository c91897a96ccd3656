package msprobe

import (
	"io"
	"iter"
	"strconv"
	"strings"
)

// Stack is stack.json: the lines of source that calls were made in.
type Stack struct {
	// Errors are the parts that could not be read.
	Errors []*SyntaxError

	frames map[string][]string
}

// Frame is a line of source.
type Frame struct {
	File     string
	Line     int
	Function string
	Source   string // the text of the line
}

// frameworks are the packages whose lines nobody looks for: those of models, as transformers, are
// what people read.
var frameworks = map[string]bool{"torch": true, "torch_npu": true, "functorch": true, "mindspore": true, "msprobe": true, "mindtorch": true}

// Installed tells whether a line is of a framework, or of no file.
func (f Frame) Installed() bool {
	_, path, ok := strings.Cut(strings.ReplaceAll(f.File, "\\", "/"), "-packages/")
	name, _, _ := strings.Cut(path, "/")
	return ok && frameworks[name] || strings.HasPrefix(f.File, "<")
}

// ReadStack reads stack.json in both its forms, calls grouped by equal stacks
// and calls by name; name is for messages. What can be read of a damaged file is
// there beside the errors. An error is one of reading.
func ReadStack(in io.Reader, name string) (*Stack, error) {
	st := &Stack{frames: map[string][]string{}}
	var known names // frames come again and again
	var err error
	st.Errors, err = object(in, name, func(r *reader, key string) {
		r.names = &known
		calls, frames := []string{key}, []string(nil)
		plain, group := true, 0
		r.list(func(i int) {
			if r.next() != '[' {
				if frame, ok := r.frame(); ok {
					frames = append(frames, frame)
				}
				return
			}
			plain = false
			if group++; group == 1 {
				calls = calls[:0]
			}
			r.list(func(int) {
				text, ok := r.frame()
				switch {
				case !ok:
				case group == 1:
					calls = append(calls, text)
				case group == 2:
					frames = append(frames, text)
				}
			})
		})
		if !r.ok() || plain && len(frames) == 0 {
			return
		}
		for _, c := range calls {
			st.frames[c] = frames
		}
	})
	return st, err
}

// frame reads a text, and passes over anything else.
func (r *reader) frame() (string, bool) {
	if r.next() == '"' {
		return r.line(), true
	}
	r.skip()
	return "", false
}

// line is [cursor.text] for texts with escaped ends of lines.
func (r *reader) line() string {
	b, escaped := r.raw()
	if !escaped {
		return r.names.of(b)
	}
	if s, ok := r.names.m[string(b)]; ok {
		return s
	}
	s := unescape(b)
	if r.names.m == nil {
		r.names.m = map[string]string{}
	}
	if len(r.names.m) < maxNames {
		r.names.m[string(b)] = s
	}
	return s
}

// Len is the number of calls with a stack.
func (s *Stack) Len() int { return len(s.frames) }

// Of yields the frames of a call, the innermost first; none if they are not known. Only forward calls are recorded.
func (s *Stack) Of(call string) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, l := range s.frames[call] {
			if !yield(parseFrame(l)) {
				return
			}
		}
	}
}

// Behind tells that a call was made while gradients were computed: that of a function which
// is run again for them (activation checkpointing), or one in a user's own backward.
func (s *Stack) Behind(call string) bool {
	for _, l := range s.frames[call] {
		if strings.Contains(l, ", in backward,") {
			return true
		}
	}
	return false
}

// parseFrame reads "File P, line N, in F, \n SOURCE". Another text is all source.
func parseFrame(s string) Frame {
	head, source, _ := strings.Cut(s, "\n")
	rest, ok := strings.CutPrefix(head, "File ")
	i := strings.LastIndex(rest, ", line ")
	if !ok || i < 0 {
		return Frame{Source: strings.TrimSpace(s)}
	}
	number, in, _ := strings.Cut(rest[i+len(", line "):], ", in ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return Frame{Source: strings.TrimSpace(s)}
	}
	return Frame{rest[:i], n, strings.TrimRight(in, ", "), strings.TrimSpace(source)}
}
