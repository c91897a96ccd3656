package sides

import (
	"context"

	"precision/compare/oracle"
	"precision/compare/result"
)

// Recompute asks the oracle about what was compared, with the golden side of the operators that are
// doubted. ok is false where there is nothing it can go by: neither a graph that pairs dumps nor a
// recording of calls that it knows.
func (r Request) Recompute(ctx context.Context, o *Opened, t *result.Table, doubted func(op string) bool, workers int, progress func(done, total int)) (list []result.Check, ok bool, err error) {
	switch {
	case r.Stored:
		return nil, false, nil
	case r.Calls:
		return oracle.RecomputeCalls(ctx, r.Left, r.Right, t, doubted, workers, progress)
	}
	f := o.Session.Folders
	if o.Session.Graph == "" || f.How() != result.ByGraph {
		return nil, false, nil
	}
	list, err = oracle.Recompute(ctx, &oracle.Golden{Dumps: f.Left, Folder: f.Right, Rules: f.Rules, Follow: doubted}, o.Session.Graph, workers, progress)
	return list, true, err
}
