// Package sides opens what is compared: two folders of dumps with their graph, or two recordings of the calls of
// a program. Both become a source of pairs that can be run, and run again for some elements.
package sides

import (
	"context"

	"precision/compare"
	"precision/compare/look"
	"precision/compare/recording"
	"precision/compare/result"
)

// Request says what to open.
type Request struct {
	// Job names the sides. Of recordings of calls Left, Right and Options count.
	compare.Job
	// Calls tells that the sides are recordings of calls, which With says how to pair.
	Calls bool
	With  recording.Options
}

// Opened are two sides, ready to be compared.
type Opened struct {
	compare.Source
	Options compare.Options
	Columns result.Columns
	// Session is that of dumps, nil for recordings of calls.
	Session *compare.Session
	// Again compares once more, Before with the recording before that of the left side, nil if there is none.
	Again, Before look.Again
}

// Open opens both sides.
func (r Request) Open(ctx context.Context) (*Opened, error) {
	if r.Calls {
		source, err := recording.Open(r.Left, r.Right, r.With)
		if err != nil {
			return nil, err
		}
		r.EnsureDefaults()
		return &Opened{source, r.Options, recording.Columns(r.Options), nil, recording.Again(r.Left, r.Right, r.With, r.Options), nil}, nil
	}
	s, err := r.Job.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &Opened{s, s.Folders.Options, s.Folders.Columns(), s, look.Folders(s), look.Before(s)}, nil
}
