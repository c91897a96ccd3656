package run

import (
	"context"
	"sync"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
)

// mostSeen bounds the elements of a tensor that is looked at.
const mostSeen = 1 << 24

// Elements looks at the elements of one tensor of a judged table, whose sides must still be there. It is nil where the
// sides have none of it, or too many.
func Elements(ctx context.Context, j *verdict.Judged, tensor string) (seen *result.Look, err error) {
	defer must.Catch(&err)
	m := &j.Table.Meta
	op, _, _, err := result.ParseTensor(tensor)
	must.Do(err)
	c := &Compare{}
	c.Left, c.Right, c.LeftTime, c.RightTime = m.Left.Dir, m.Right.Dir, m.Left.Recording, m.Right.Recording
	if m.Pairing.How == result.ByGraph {
		c.Graph = m.Graph
	}
	c.settle(&verdict.Options{Profile: j.Profile})
	opened := must.Get(c.Request.Open(ctx))
	defer opened.Close()
	var mu sync.Mutex
	err = opened.Again(ctx, &engine.Glance{
		Ops:    func(name string) bool { return name == op },
		Wanted: func(r *result.Row) bool { return r.Tensor() == tensor },
		Most:   mostSeen,
		Take: func(r *result.Row, s engine.Seen) {
			l := look.At(r, s)
			mu.Lock()
			defer mu.Unlock()
			seen = &l
		},
	})
	return seen, err
}
