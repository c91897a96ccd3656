package recording

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
	"precision/internal/order"
)

// NoPairError: no recording of one side belongs to one of the other.
type NoPairError struct {
	Left, Right string
	// Found are the first recordings of the sides.
	Found [2]string
	// Why is [result.ProcessesUnpaired] where it is a matter of processes without a rank.
	Why result.Reason
}

func (e *NoPairError) Error() string {
	if e.Why.Kind == result.ProcessesUnpaired {
		return fmt.Sprintf("%s and %s: no rank tells which process belongs to which, found %s and %s; give the folders of two of them", e.Left, e.Right, e.Why.Args[0], e.Why.Args[1])
	}
	return fmt.Sprintf("%s and %s: no recordings of the same step and rank, found %s and %s", e.Left, e.Right, e.Found[0], e.Found[1])
}

// name is the label with what else tells the recording from others.
func (r *found) name() string {
	name := r.label()
	if r.rank < 0 {
		name += r.process
	}
	if r.file == msprobe.DebugFile {
		name += "/" + r.file
	}
	return name
}

// match brings recordings of the same mode, step, rank and file together, and says why others are left,
// of which it counts those. Single ones are a pair whatever their numbers, and a golden process without a
// rank is the partner of every rank of its step.
func match(a, b []found) (pairs [][2]found, why []result.Reason, unpaired int) {
	if len(a) == 1 && len(b) == 1 {
		return [][2]found{{a[0], b[0]}}, nil, 0
	}
	all := a
	pairs, a, b = withOne(a, b)
	if len(pairs) > 0 {
		defer func() { // the order of steps is that of the left side
			at := func(p [2]found) int {
				return slices.IndexFunc(all, func(r found) bool { return r.name() == p[0].name() })
			}
			order.Stable(pairs, func(x, y [2]found) int { return at(x) - at(y) })
		}()
	}
	type key struct{ label, file string }
	var order []key
	sides := map[key]*[2][]found{}
	for side, list := range [][]found{a, b} {
		for _, r := range list {
			k := key{r.label(), r.file}
			if sides[k] == nil {
				sides[k] = &[2][]found{}
				order = append(order, k)
			}
			sides[k][side] = append(sides[k][side], r)
		}
	}
	var right []result.Reason // told last
	for _, k := range order {
		found, left := together(sides[k])
		pairs = append(pairs, found...)
		unpaired += len(left[0]) + len(left[1])
		switch {
		case len(left[0]) > 0 && len(left[1]) > 0:
			why = append(why, result.Because(result.ProcessesUnpaired, names(left[0]), names(left[1])))
		case len(left[0]) > 0:
			for _, r := range left[0] {
				why = append(why, result.Because(result.RanksUnpaired, "left", r.name()))
			}
		default:
			for _, r := range left[1] {
				right = append(right, result.Because(result.RanksUnpaired, "right", r.name()))
			}
		}
	}
	return pairs, append(why, right...), unpaired
}

// withOne pairs the ranks of a step with the only golden process of that step, where that has no rank, and
// gives what is left of each side.
func withOne(a, b []found) (pairs [][2]found, left, right []found) {
	of := func(list []found) (ranks, processes map[occasion]int) {
		ranks, processes = map[occasion]int{}, map[occasion]int{}
		for i := range list {
			if list[i].rank < 0 {
				processes[list[i].occasion()]++
			} else {
				ranks[list[i].occasion()]++
			}
		}
		return ranks, processes
	}
	ranks, processes := of(a)
	ownRanks, own := of(b)
	for i := range b {
		k := b[i].occasion()
		if b[i].rank >= 0 || own[k] != 1 || ownRanks[k] > 0 || ranks[k] == 0 || processes[k] > 0 {
			right = append(right, b[i])
			continue
		}
		for j := range a {
			if a[j].occasion() == k {
				pairs = append(pairs, [2]found{a[j], b[i]})
			}
		}
	}
	if len(right) == len(b) {
		return nil, a, b
	}
	for j := range a {
		if k := a[j].occasion(); own[k] != 1 || ownRanks[k] > 0 || processes[k] > 0 {
			left = append(left, a[j])
		}
	}
	return pairs, left, right
}

// elsewhere leaves out what a run of one process calls and a rank does not, where another rank of the same
// step does, or may: the stages of a pipeline.
func (s *Source) elsewhere(pairs [][2]found, ofMany bool) {
	several := map[occasion]int{}
	made := map[occasion]map[string]bool{}
	for i, p := range pairs {
		if p[0].rank < 0 || p[1].rank >= 0 && !ofMany {
			continue
		}
		k := p[1].occasion()
		if several[k]++; made[k] == nil {
			made[k] = map[string]bool{}
		}
		for _, u := range s.parts[i].units {
			if u.left != nil && u.right != nil {
				made[k][u.right.Name] = true
			}
		}
	}
	n := 0
	for i, p := range pairs {
		k := p[1].occasion()
		if several[k] < 2 && !(several[k] == 1 && ofMany) {
			continue
		}
		s.parts[i].units = slices.DeleteFunc(s.parts[i].units, func(u *unit) bool {
			other := u.left == nil && (ofMany || made[k][u.right.Name])
			if other {
				n++
			}
			return other
		})
	}
	if n > 0 {
		s.why = append(s.why, result.Because(result.CallsElsewhere, strconv.Itoa(n)))
	}
}

// together pairs what the two sides have of one step, rank and file, and gives what is left of each.
// Where there are several they are processes without a rank, see [msprobe.Partners].
func together(sides *[2][]found) (pairs [][2]found, left [2][]found) {
	var numbers [2][]string
	for side, list := range sides {
		for i := range list {
			numbers[side] = append(numbers[side], list[i].process)
		}
	}
	taken := make([]bool, len(sides[1]))
	for i, k := range msprobe.Partners(numbers[0], numbers[1]) {
		if k < 0 {
			left[0] = append(left[0], sides[0][i])
			continue
		}
		pairs = append(pairs, [2]found{sides[0][i], sides[1][k]})
		taken[k] = true
	}
	for k, r := range sides[1] {
		if !taken[k] {
			left[1] = append(left[1], r)
		}
	}
	return pairs, left
}

// names lists a few recordings.
func names(list []found) string {
	const most = 4
	var text []string
	for i := range list {
		if rest := len(list) - i; i >= most && rest > 1 {
			text = append(text, "… "+strconv.Itoa(rest))
			break
		}
		text = append(text, list[i].name())
	}
	return strings.Join(text, ", ")
}

func isProcesses(r result.Reason) bool { return r.Kind == result.ProcessesUnpaired }
