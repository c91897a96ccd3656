package job

import (
	"cmp"
	"context"

	"precision/compare/engine"
	"precision/compare/oracle"
	"precision/compare/result"
	"precision/internal/each"
	"precision/internal/order"
)

// weights hashes the weights that the operators of a part read, each where it is read
// first. A worker of the pool does it, an operator at a time.
func (r *runner) weights(ctx context.Context, s *engine.Session, t *result.Table) (peers []Peer, err error) {
	if s == nil || s.Folders.Rules == nil || !s.Folders.Left.Device() {
		return nil, nil
	}
	constant := map[string]bool{}
	for i := range t.Ops {
		constant[t.Ops[i].Name] = t.Ops[i].Constant
	}
	type read struct {
		tensor string
		slot   int
	}
	reads := map[string][]read{}
	var ops []string
	seen := map[result.Port]bool{}
	for i := range t.Rows {
		row := &t.Rows[i]
		from := row.Facts.Producer
		if row.Role != result.Input || !constant[from.Op] || seen[from] {
			continue
		}
		seen[from] = true
		if reads[row.Op] == nil {
			ops = append(ops, row.Op)
		}
		reads[row.Op] = append(reads[row.Op], read{result.TensorName(from.Op, result.Output, from.Index), row.Slot})
	}
	err = r.pool.Each(ctx, len(ops), func(i int) {
		op := s.Folders.Rules.Op(ops[i])
		files := s.Folders.Left.Op(ops[i])
		if op == nil || files == nil {
			return
		}
		file, err := files.Newest().Open()
		if err != nil {
			return // the rows say so
		}
		defer file.Close()
		slots := each.Of(reads[ops[i]], func(x read) int { return x.slot })
		sums := oracle.InputSums(op.Op, file, slots)
		r.mu.Lock()
		defer r.mu.Unlock()
		for k, x := range reads[ops[i]] {
			if sums[k] != "" {
				peers = append(peers, Peer{x.tensor, sums[k]})
			}
		}
	})
	order.Stable(peers, func(a, b Peer) int { return cmp.Compare(a.Tensor, b.Tensor) })
	return peers, err
}
