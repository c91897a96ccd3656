package describe

import (
	"precision/graph"
	"precision/internal/msg"
)

// Error says what is wrong with a graph file, and where.
func Error(lang msg.Lang, e *graph.Error) string {
	if e.Path == "" {
		return e.Error()
	}
	said := Message(lang, e.Msg)
	switch {
	case e.Line > 0:
		return lang.T("graph.at.line", e.Path, e.Line, said)
	case e.Offset >= 0:
		return lang.T("graph.at.offset", e.Path, e.Offset, said)
	}
	return lang.T("graph.at.file", e.Path, said)
}

// Warning says what a reader passed over, and where.
func Warning(lang msg.Lang, w graph.Warning) string {
	return Error(lang, &graph.Error{Path: w.Path, Line: w.Line, Offset: w.Offset, Msg: w.Msg})
}

// Message says a message of package graph. One without a translation stays in English.
func Message(lang msg.Lang, m graph.Message) string {
	key := "graph.fault." + m.Format
	if !lang.Has(key) {
		return m.Text
	}
	args := make([]any, len(m.Args))
	for i, a := range m.Args {
		switch a := a.(type) {
		case graph.Message:
			args[i] = Message(lang, a)
		case graph.Term:
			args[i] = term(lang, a)
		default:
			args[i] = a
		}
	}
	return lang.T(key, args...)
}

func term(lang msg.Lang, t graph.Term) string {
	if key := "graph.term." + string(t); lang.Has(key) {
		return lang.T(key)
	}
	return string(t)
}
