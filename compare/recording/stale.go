package recording

import (
	"context"
	"path/filepath"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/dtype"
)

// mostSummed bounds how many elements are read once more to hold their sums against the
// recorded ones: larger files are known by their extremes.
const mostSummed = 1 << 20

// contradicted tells of files whose Mean, Norm or checksum is not what was recorded of
// them: sums may be off by what rounding makes of them in the type of the tensor, for as
// many elements; checksums may not. The error is that of a context that is done.
func contradicted(ctx context.Context, row *result.Row, x leafPair, a, b *engine.SideTensor) error {
	if !row.Compared {
		return nil
	}
	for i, l := range []*leaf{x.left, x.right} {
		t := []*engine.SideTensor{a, b}[i]
		own := l.sums()
		if t.Count == 0 || t.Count > mostSummed || !recorded(own.sum) && !recorded(own.stats[atNorm]) && !recorded(own.stats[atMean]) {
			continue
		}
		found, err := measure(ctx, t, l, &own)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // the comparison tells what cannot be read
		}
		tell := func(what, have, recorded string) {
			contradicts(row, t.File, result.StaleValue, what, have, recorded)
		}
		if recorded(own.sum) && recorded(found.sum) && len(l.Shape) > 0 && t.Type == l.Elem {
			if own.sum.S != found.sum.S {
				// Alone it is no damage: recorders have hashed other bytes than they wrote.
				row.Add(result.Because(result.StaleValue, filepath.Base(t.File), "md5", found.sum.String(), own.sum.String()))
			}
			if crc(own.sum) && own.sum.S == found.sum.S {
				continue // which settles the rest
			}
		}
		if l.Elem != dtype.Undefined && row.Result().Facts.Finite != row.Result().Facts.N || found.alike() {
			continue // recorders sum what is not finite in their own ways; of one number everywhere the extremes tell
		}
		if err := found.look(ctx, t, own.stats[atNorm], l); ctx.Err() != nil {
			return err
		}
		for i, name := range []string{atMean: "Mean", atNorm: "Norm"} {
			if name != "" && recorded(own.stats[i]) && !found.agrees(i, own.stats[i], l) {
				tell(name, found.stats[i].String(), own.stats[i].String())
			}
		}
	}
	return nil
}
