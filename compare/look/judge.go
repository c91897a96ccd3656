package look

import (
	"context"

	"precision/compare"
	"precision/compare/oracle"
	"precision/compare/result"
	"precision/compare/verdict"
)

// Judge judges what a session compared. Where the verdict depends on weights that only the left
// side has, a few operators are recomputed with golden inputs, at sampled places, to tell whether
// the framework had the same ones: a checkpoint, or a step, is no operator's fault. Recordings of
// calls have no session, and record weights.
func Judge(ctx context.Context, s *compare.Session, t *result.Table, opts verdict.Options) (*verdict.Judged, error) {
	j := verdict.Judge(t, opts)
	names := j.Weigh()
	if s == nil || len(names) == 0 || len(t.Checks) > 0 || s.Graph == "" || s.Folders.How() != result.ByGraph {
		return j, nil
	}
	f := s.Folders
	w, err := oracle.Weigh(ctx, &oracle.Golden{Dumps: f.Left, Folder: f.Right, Rules: f.Rules}, s.Graph, f.Workers, names)
	if err != nil || w.Differ == 0 {
		return j, ctx.Err() // then the verdict says what it depends on
	}
	t.Meta.Weighed = w
	return verdict.Judge(t, opts), nil
}
