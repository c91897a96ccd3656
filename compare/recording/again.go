package recording

import (
	"context"

	"precision/compare/engine"
)

// Again reads two recordings once more for the elements that a glance wants: a source lets go of what it
// has read.
func Again(left, right string, with Options, opt engine.Options) func(context.Context, *engine.Glance) error {
	return func(ctx context.Context, g *engine.Glance) error {
		source, err := Open(left, right, with)
		if err != nil {
			return err
		}
		opt.Glance, opt.Progress = g, nil
		_, err = engine.Run(ctx, source, opt)
		return err
	}
}
