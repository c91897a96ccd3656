package msprobe

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"sync"
	"unique"
)

// Stack is stack.json: the lines of source that calls were made in.
type Stack struct {
	// Errors are the parts that could not be read.
	Errors []*SyntaxError

	traces map[string]*trace
}

// trace is the stack of calls, which often have the same one.
type trace struct {
	frames []string
	once   sync.Once
	user   string
	behind bool
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
	st := &Stack{traces: map[string]*trace{}}
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
		t := &trace{frames: frames}
		for _, c := range calls {
			st.traces[c] = t
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
func (s *Stack) Len() int { return len(s.traces) }

// Of yields the frames of a call, the innermost first; none if they are not known. Only forward calls are recorded.
func (s *Stack) Of(call string) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, l := range s.of(call).frames {
			if !yield(parseFrame(l)) {
				return
			}
		}
	}
}

var noTrace trace

// of is the stack of a call; an empty one of a call without one, or where s is nil.
func (s *Stack) of(call string) *trace {
	var t *trace
	if s != nil {
		t = s.traces[call]
	}
	if t == nil {
		return &noTrace
	}
	t.once.Do(func() { t.user, t.behind = told(t.frames) })
	return t
}

// User is the lines of the user's program that led to a call, the innermost first and a line each; the
// innermost of all where there are only installed libraries.
func (s *Stack) User(call string) string { return s.of(call).user }

// Behind tells that a call was made while gradients were computed: that of a function which
// is run again for them (activation checkpointing), or one in a user's own backward.
func (s *Stack) Behind(call string) bool { return s.of(call).behind }

// mostFrames bounds how many lines are kept of the stack of a call.
const mostFrames = 32

// told is what [Stack.User] and [Stack.Behind] say.
func told(frames []string) (user string, behind bool) {
	var buf [2 << 10]byte // of most stacks: what is kept is a copy
	text, n := buf[:0], 0
	for _, l := range frames {
		behind = behind || strings.Contains(l, ", in backward,")
		if n == mostFrames {
			continue
		}
		if f := parseFrame(l); !f.Installed() {
			if n++; n > 1 {
				text = append(text, '\n')
			}
			text = f.appendTo(text)
		}
	}
	if n == 0 && len(frames) > 0 {
		text = parseFrame(frames[0]).appendTo(text)
	}
	return unique.Make(string(text)).Value(), behind
}

// appendTo adds file:line: source, as one line.
func (f Frame) appendTo(text []byte) []byte {
	start := len(text)
	text = strconv.AppendInt(append(append(text, f.File...), ':'), int64(f.Line), 10)
	if f.Source != "" {
		text = append(append(text, ": "...), f.Source...)
	}
	for i := start; i < len(text); i++ {
		if text[i] == '\n' {
			text[i] = ' '
		}
	}
	return text
}

// String is file:line: source.
func (f Frame) String() string { return string(f.appendTo(nil)) }

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
