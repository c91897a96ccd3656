package oracle

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// Replicas: what ranks of a data parallel job have alike, and what they must not. Their weights are the same, and
// so are gradients after they were reduced, which the weights of the next step show; their batches are not.
// Nothing is said of ranks that run something together before the first gradient, or hold parts of
// tensors: what of theirs is alike nobody knows.

// mostOther is the share of weights, one in so many, in which ranks may differ and still be taken for replicas; leastAlike is
// how many calls have to give the same for a batch to be.
const mostOther, leastAlike = 4, 4

// replica is what one rank of a step has.
type replica struct {
	of      *recordedCalls
	weights map[string]ownWeight // by call and place
	made    []string             // what its calls gave, one after the other
}

// ownWeight is a weight of a rank, by its statistics.
type ownWeight struct {
	call *recordedCall
	said string
}

// replicas finds ranks with another weight than their peers, and ranks that were fed the same batch.
func replicas(list []*recordedCalls) (out []remark) {
	type occasion struct {
		mode string
		step int
	}
	ranks := map[occasion][]*replica{}
	var order []occasion
	for _, r := range list {
		if r.from == nil || r.from.Rank < 0 {
			continue
		}
		k := occasion{r.from.Mode, r.from.Step}
		if ranks[k] == nil {
			order = append(order, k)
		}
		ranks[k] = append(ranks[k], replicaOf(r))
	}
	for _, k := range order {
		all := ranks[k]
		if len(all) < 2 || slices.Contains(all, nil) {
			continue
		}
		out = append(out, otherWeights(all)...)
		for i, t := range all {
			for _, u := range all[:i] {
				if len(t.made) >= leastAlike && slices.Equal(t.made, u.made) {
					out = append(out, remark{t.of.calls[0], because(SameBatch, u.of.from.Rank, len(t.made))})
					break
				}
			}
		}
	}
	return out
}

// remark is what makes a call suspect beside what its outputs say.
type remark struct {
	on  *recordedCall
	why result.Reason
}

// heard has findings say what was found of their calls beside them.
func heard(findings []Finding, remarks []remark) []Finding {
	for _, r := range remarks {
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Op == r.on.name })
		if at < 0 {
			at = len(findings)
			findings = append(findings, Finding{Op: r.on.name, Type: r.on.Parsed.API, ID: int64(r.on.order), Rank: -1, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan})
		}
		f := &findings[at]
		if f.Verdict < Suspect {
			f.Verdict, f.Reasons = Suspect, nil
		}
		f.Reasons = append(f.Reasons, r.why)
	}
	return findings
}

// replicaOf is what a rank has before its first gradient; nil where ranks run something together there or hold parts of
// tensors.
func replicaOf(r *recordedCalls) *replica {
	t := &replica{of: r, weights: map[string]ownWeight{}}
	for _, c := range r.calls {
		if c.Parsed.Direction == msprobe.Backward {
			break
		}
		if distributed(c.Call) {
			return nil
		}
		var params []string
		if f := functions[c.Parsed.API]; f != nil && c.Parsed.Form == msprobe.API {
			params = f.params
		}
		for i := range c.Values {
			v := &c.Values[i]
			if v.Kind != msprobe.Tensor || v.DType == "" {
				continue
			}
			if v.Placements() != nil {
				return nil
			}
			said, ok := statisticsText(v)
			switch at, err := strconv.Atoi(v.Path); {
			case !ok:
			case v.Section == msprobe.Output && v.Known && !v.Elem.IsInteger() && !v.Elem.IsBool() && c.Parsed.Form == msprobe.API:
				t.made = append(t.made, c.Name+" "+said)
			case v.Section == msprobe.Parameters, v.Section == msprobe.Kwargs && (v.Path == "weight" || v.Path == "bias"),
				v.Section == msprobe.Input && err == nil && at < len(params) && (params[at] == "weight" || params[at] == "bias"):
				t.weights[c.Name+" "+v.Section.String()+"."+v.Path] = ownWeight{c, said}
			}
		}
	}
	return t
}

// statisticsText is what is said of a tensor; false where it says little.
func statisticsText(v *msprobe.Value) (string, bool) {
	if norm, ok := v.Norm.Value(); !ok || norm-norm != 0 {
		return "", false
	}
	return strings.Join([]string{v.Max.String(), v.Min.String(), v.Mean.String(), v.Norm.String()}, " "), true
}

// otherWeights holds the weights of ranks against those of the one that most ranks agree with.
func otherWeights(all []*replica) (out []remark) {
	differ := func(t, u *replica) (names []string) {
		for name, w := range t.weights {
			if x, ok := u.weights[name]; ok && x.said != w.said {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(t.weights[a].call.order-t.weights[b].call.order, cmp.Compare(a, b))
		})
		said := map[string]bool{} // once where a module and its function have it
		return slices.DeleteFunc(names, func(name string) bool {
			twice := said[t.weights[name].said]
			said[t.weights[name].said] = true
			return twice
		})
	}
	var common *replica
	least := -1
	for _, t := range all {
		sum := 0
		for _, u := range all {
			sum += len(differ(t, u))
		}
		if least < 0 || sum < least {
			common, least = t, sum
		}
	}
	for _, t := range all {
		said := map[string]bool{}
		for _, w := range t.weights {
			said[w.said] = true
		}
		if names := differ(t, common); len(names) > 0 && mostOther*len(names) <= len(said) {
			first := t.weights[names[0]].call
			_, place, _ := strings.Cut(names[0], " ")
			out = append(out, remark{first, because(OtherWeight, place, common.of.from.Rank, len(names), len(said))})
		}
	}
	return out
}
