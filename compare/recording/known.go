package recording

import (
	"slices"

	"precision/compare/result"
)

// Known are the pairs of an earlier table whose calls have different names on the two sides: what the left side's are
// called on the right. A recording of a few of these calls does not tell what stands in whose place.
func Known(t *result.Table) map[string]string {
	pairs, several := map[string]string{}, map[string]bool{}
	for i := range t.Rows {
		r := &t.Rows[i]
		_, left := result.Placed(r.Op)
		_, right := result.Placed(r.Right.Names)
		if right == "" || right == "*" || left == right {
			continue
		}
		if was, ok := pairs[left]; ok && was != right {
			several[left] = true // of ranks and steps that were paired in different ways, or of a call that stands for many
		}
		pairs[left] = right
	}
	for name := range several {
		delete(pairs, name)
	}
	return pairs
}

// known pairs calls that an earlier comparison paired.
func known(left, right *side, pairs map[string]string) {
	if len(pairs) == 0 {
		return
	}
	ms, _, migrated := across(left, right)
	for _, a := range left.calls {
		at := slices.IndexFunc(right.calls, func(b *call) bool { return b.Name == pairs[a.Name] })
		if at < 0 || a.pair != nil || right.calls[at].pair != nil {
			continue
		}
		switch b := right.calls[at]; {
		case !migrated:
			join(a, b)
		case ms == left:
			standFor([]*call{a}, b)
		default:
			standFor([]*call{b}, a)
		}
	}
}
