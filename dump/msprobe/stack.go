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
	frames []*line
	once   sync.Once
	user   string
	behind bool
}

// line is a frame as the file has it, and what is told of it; most stacks share most of theirs.
type line struct {
	text, shown       string
	installed, behind bool
}

// Frame is a line of source.
type Frame struct {
	File   string
	Line   int
	Source string // the text of the line
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
	known := map[string]*line{} // frames come again and again
	var err error
	st.Errors, err = object(in, name, func(r *reader, key string) {
		calls, frames := []string{key}, []*line(nil)
		plain, group := true, 0
		r.Enter('[', "stack")
		for r.Elem() {
			if r.Peek() != '[' {
				frames = r.frame(frames, known)
				continue
			}
			plain = false
			if group++; group == 1 {
				calls = calls[:0]
			}
			r.Enter('[', "stack")
			for r.Elem() {
				switch {
				case group == 2:
					frames = r.frame(frames, known)
				case group == 1 && r.Peek() == '"':
					calls = append(calls, r.own())
				default:
					r.Skip()
				}
			}
		}
		if r.Err != nil || plain && len(frames) == 0 {
			return
		}
		t := &trace{frames: frames}
		for _, c := range calls {
			st.traces[c] = t
		}
	})
	return st, err
}

// frame reads a text and adds the frame that it is, and passes over anything else.
func (r *reader) frame(to []*line, known map[string]*line) []*line {
	if r.Peek() != '"' {
		r.Skip()
		return to
	}
	b := r.Str()
	l := known[string(b)]
	if l == nil {
		text := valid(b)
		f := parseFrame(text)
		l = &line{text: text, shown: f.String(), installed: f.Installed(), behind: strings.Contains(text, ", in backward,")}
		if len(known) < maxNames {
			known[string(b)] = l
		}
	}
	return append(to, l)
}

// Len is the number of calls with a stack.
func (s *Stack) Len() int { return len(s.traces) }

// Of yields the frames of a call, the innermost first; none if they are not known. Only forward calls are recorded.
func (s *Stack) Of(call string) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		for _, l := range s.of(call).frames {
			if !yield(parseFrame(l.text)) {
				return
			}
		}
	}
}

var noTrace trace

// of is the stack of a call; an empty one of a call without one, or where s is nil.
func (s *Stack) of(call string) (t *trace) {
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
func told(frames []*line) (user string, behind bool) {
	var buf [2 << 10]byte // of most stacks: what is kept is a copy
	text, n := buf[:0], 0
	for _, l := range frames {
		behind = behind || l.behind
		if n == mostFrames || l.installed {
			continue
		}
		if n++; n > 1 {
			text = append(text, '\n')
		}
		text = append(text, l.shown...)
	}
	if n == 0 && len(frames) > 0 {
		text = append(text, frames[0].shown...)
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
	number, _, _ := strings.Cut(rest[i+len(", line "):], ", in ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return Frame{Source: strings.TrimSpace(s)}
	}
	return Frame{rest[:i], n, strings.TrimSpace(source)}
}
