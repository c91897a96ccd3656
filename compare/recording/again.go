package recording

import (
	"context"

	"precision/compare"
)

// Again reads two recordings once more for the elements that a glance wants: a source lets go of what it
// has read.
func Again(left, right string, with Options, opt compare.Options) func(context.Context, *compare.Glance) error {
	return func(ctx context.Context, g *compare.Glance) error {
		source, err := Open(left, right, with)
		if err != nil {
			return err
		}
		opt.Glance, opt.Listener = g, compare.Listener{}
		_, err = compare.Run(ctx, source, opt)
		return err
	}
}
