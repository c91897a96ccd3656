// Package explain says errors in the language of the user. Errors of the packages below are
// data with an English text; those that a user meets often are said anew here.
package explain

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump"
	"precision/dump/torch"
	"precision/graph"
	"precision/graph/describe"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Message is an error in both languages: a message and its arguments. An argument that is an
// error is said in the same language, and can be found with errors.As.
type Message struct {
	Key  string
	Args []any
}

// Say makes an error of a message.
func Say(key string, args ...any) error { return &Message{key, args} }

// Refuse ends the work, as package must does, with the error of a message where something is bad.
func Refuse(bad bool, key string, args ...any) {
	if bad {
		must.Do(Say(key, args...))
	}
}

func (s *Message) Error() string { return s.in(msg.English) }

func (s *Message) in(l msg.Lang) string {
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		if err, ok := a.(error); ok {
			a = Error(l, err)
		}
		args[i] = a
	}
	return l.T(s.Key, args...)
}

// inLanguage are the arguments of a message of package dump, with those that are messages
// themselves in the same language.
func inLanguage(l msg.Lang, args []any) []any {
	list := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case error:
			a = Error(l, v)
		case dump.Kind:
			a = v.String()
		}
		if text, ok := a.(string); ok && l.Has("explain.dump."+text) {
			a = l.T("explain.dump." + text)
		}
		list[i] = a
	}
	return list
}

// Unwrap gives the errors among the arguments.
func (s *Message) Unwrap() (list []error) {
	for _, a := range s.Args {
		if err, ok := a.(error); ok {
			list = append(list, err)
		}
	}
	return list
}

// Error is the text of an error in a language. What is not known here keeps its English
// text.
func Error(l msg.Lang, err error) string {
	switch e := err.(type) {
	case *Message:
		return e.in(l)
	case interface{ In(msg.Lang) string }: // has both languages itself
		return e.In(l)
	case *engine.SideError:
		side := l.T("explain.left")
		if e.Right {
			side = l.T("explain.right")
		}
		if len(e.Choices) > 0 {
			return l.T("explain.choices", side, e.Path, strings.Join(e.Choices, "\n  "))
		}
		return l.T("explain.side", side, Error(l, e.Err))
	case *engine.SwappedError:
		return l.T("explain.swapped", e.Arrays, e.Dumps)
	case *engine.GraphFolderError:
		if e.Unreadable() {
			return l.T("explain.unread", e.Dir, len(e.Unread), describe.Warning(l, e.Unread[0]))
		}
		if e.Graphs == 0 {
			return l.T("explain.graphs.none", e.Dir)
		}
		return l.T("explain.graphs", e.Dir, e.Graphs, e.Dumps)
	case *engine.StrangeGraphError:
		return l.T("explain.strange", e.Graph, e.Known, e.Of)
	case *engine.NotTakenWarning:
		return l.T("explain.nottaken", Error(l, e.Err))
	case *graph.NotGraphError:
		return l.T("explain.nograph", e.Path, l.T("explain.is."+string(e.Is)))
	case *graph.Error:
		return describe.Error(l, e)
	case *report.NoTableError:
		return l.T("explain.notable", e.Path, e.Rows)
	case *report.RecordedCSVError:
		return l.T("explain.csv", e.Path)
	case *engine.NoRecordingError:
		return l.T("explain.norecording", e.Dir, e.Time, strings.Join(e.Names(), l.T("report.and")))
	case *recording.NoPairError:
		if e.Why.Kind == result.ProcessesUnpaired {
			return l.T("explain.nopair.process", e.Left, e.Right, e.Why.Args[0], e.Why.Args[1])
		}
		return l.T("explain.nopair", e.Left, e.Right, e.Found[0], e.Found[1])
	case *verdict.NoProfileError:
		return l.T("explain.noprofile", e.Name, strings.Join(verdict.BuiltinNames(), l.T("report.and")))
	case *torch.ExcessError:
		return l.T("explain.excess", e.Shown, e.Stored)
	case *whole.LinkError:
		return l.T("explain.link", e.Path)
	case *whole.FolderError:
		return l.T("explain.makefolder", Error(l, e.Err))
	case *engine.SideWarning:
		side := l.T("explain.left")
		if e.Right {
			side = l.T("explain.right")
		}
		return l.T("explain.side", side, Error(l, e.Warning))
	case *engine.GraphWarning:
		return describe.Warning(l, e.Warning)
	case *engine.StrangersWarning:
		first := e.First()
		some := strings.Join(first, l.T("explain.and"))
		if e.Strangers > len(first) {
			some += l.T("explain.others")
		}
		text := l.T("explain.strangers", e.Strangers, e.Of, e.Dir, e.Graph, some)
		if e.Most() {
			text += l.T("explain.stranger")
		}
		return text
	case dump.Warning:
		if key := "explain.dump." + e.Format; e.Format != "" && l.Has(key) {
			return l.T("explain.path", e.Path, l.T(key, inLanguage(l, e.Args)...))
		}
	case *dump.Error:
		if key := "explain.dump." + e.Format; e.Format != "" && e.Err == nil && l.Has(key) {
			return l.T("explain.path", e.Path, l.T(key, inLanguage(l, e.Args)...))
		}
		if e.Text == "" && e.Offset < 0 && e.Err != nil {
			return l.T("explain.path", e.Path, Error(l, e.Err))
		}
	case *fs.PathError:
		var kind *plainfile.KindError
		if !errors.As(e.Err, &kind) {
			return l.T("explain.path", e.Path, reason(l, e.Err))
		}
		expected := kind.Expected
		if key := "explain.want." + expected; l.Has(key) {
			expected = l.T(key)
		}
		return l.T("explain.plain", e.Path, l.T("explain.kind."+kind.Is), expected)
	case syscall.Errno:
		return reason(l, e)
	}
	switch {
	case errors.Is(err, engine.ErrLoneGraph):
		return l.T("explain.lone")
	case err == whole.ErrTwice:
		return l.T("explain.twice")
	case err == whole.ErrInput:
		return l.T("explain.input")
	}
	// The texts of wrappers are made of those of what they wrap.
	if inner := errors.Unwrap(err); inner != nil {
		if text, said := err.Error(), Error(l, inner); strings.Contains(text, inner.Error()) {
			return strings.Replace(text, inner.Error(), said, 1)
		}
	}
	return err.Error()
}

// reason is why the system refuses a path.
func reason(l msg.Lang, err error) string {
	for key, kind := range map[string]error{"none": fs.ErrNotExist, "denied": fs.ErrPermission, "exists": fs.ErrExist, "full": syscall.ENOSPC, "nofolder": syscall.ENOTDIR, "readonly": syscall.EROFS} {
		if errors.Is(err, kind) {
			return l.T("explain." + key)
		}
	}
	return err.Error()
}
