// Package sides opens what is compared: two folders of dumps with their graph, two recordings of the calls of
// a program, or two sets of named tensors. All become a source of pairs that can be run, and run again for some elements.
package sides

import (
	"context"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/weights"
	"precision/internal/must"
)

// Request says what to open.
type Request struct {
	// Job names the sides. Of recordings of calls Left, Right and Options count.
	engine.Job
	// Calls tells that the sides are recordings of calls, which With says how to pair.
	Calls bool
	With  recording.Options
	// Stored tells that the sides are files or folders of named tensors.
	Stored bool
}

// Opened are two sides, ready to be compared.
type Opened struct {
	engine.Source
	Options engine.Options
	Columns result.Columns
	// Session is that of dumps, nil for recordings of calls.
	Session *engine.Session
	// Again compares once more, Before with the recording before that of the left side, nil if there is none.
	Again, Before look.Again
	// Close closes files that were opened.
	Close func() error
}

// Open opens both sides.
func (r Request) Open(ctx context.Context) (_ *Opened, err error) {
	defer must.Catch(&err)
	none := func() error { return nil }
	if r.Stored {
		source := must.Get(weights.Open(r.Left, r.Right, r.With.Mapping))
		r.EnsureDefaults()
		return &Opened{Source: source, Options: r.Options, Columns: result.Columns{Values: r.Options.Values()}, Again: source.Again(r.Options), Close: source.Close}, nil
	}
	if r.Calls {
		source := must.Get(recording.Open(r.Left, r.Right, r.With))
		r.EnsureDefaults()
		return &Opened{source, r.Options, recording.Columns(r.Options), nil, recording.Again(r.Left, r.Right, r.With, r.Options), nil, none}, nil
	}
	s := must.Get(r.Job.Open(ctx))
	return &Opened{s, s.Folders.Options, s.Folders.Columns(), s, look.Folders(s), look.Before(s), none}, nil
}
