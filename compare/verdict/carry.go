package verdict

import catalogue "precision/op"

import "slices"

// An error that began at a root arrives far below it, also where it stays within
// all limits for a while: it may pass ten operators at a distance of 0.19 and
// cross the limit at the eleventh, which is not to blame for it. The judge
// therefore follows errors through good operators too: an operator carries the
// roots of those inputs that make up its error. Size is no sign of that where
// elements are moved, or where small errors come out large: an attention mask of
// -10000 hides in its rounding all that is wrong with the scores beside it, and
// the softmax behind it brings that to light.

const (
	// carriedShare is how large an input's error has to be beside the largest
	// one to count as part of the output's.
	carriedShare = 1.0 / 4
	// quietUnits is the distance, in unit roundoffs of the coarser dtype, up to
	// which an error is what every tensor has, and nobody's.
	quietUnits = 3
	// coarsestQuiet is the roundoff, bfloat16's, beyond which that of a type is no measure of what is quiet: of float8 an error
	// of a fifth would be.
	coarsestQuiet = 1.0 / (1 << 8)
)

// carried are the roots whose errors the inputs of an operator bring, as places
// in Judged.Roots. What was not compared brings whatever arrives at it.
func (j *judge) carried(op *Operator, origins [][]int) []int {
	type source struct {
		roots    []int
		rel, abs float64
		sure     bool // counts whatever its size
	}
	var sources []source
	var rel, abs float64
	for t, from := range j.feeds(op) {
		producer := from.by
		if producer == nil {
			continue
		}
		if t == nil || t.Verdict == Uncompared {
			t = producer.output(from.Index)
		}
		s := source{roots: origins[producer.at], sure: true}
		if t != nil && t.Verdict != Uncompared {
			row := &j.table.Rows[t.Row]
			if f := &row.Result().Facts; f.Known && f.BitEqual && t.Verdict == Good {
				continue // what is equal bit by bit brings nothing
			}
			o, ok := operandOf(row)
			s.sure = t.Verdict != Good || !ok || op.row.Traits&catalogue.Steep != 0 || hands(op.row)
			s.rel, s.abs = max(o.relative(), o.relativeMax()/8), o.err.rms
			if ok && !s.sure && s.rel <= quietUnits*min(max(unit(coarserOf(row)), 1.0/(1<<24)), coarsestQuiet) {
				continue
			}
			rel, abs = max(rel, s.rel), max(abs, s.abs)
		}
		sources = append(sources, s)
	}
	var list []int
	for _, s := range sources {
		if s.sure || s.rel >= carriedShare*rel || s.abs >= carriedShare*abs {
			list = append(list, s.roots...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
