package recording

import (
	"fmt"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
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

// match brings recordings of the same mode, step, rank and file together, and says why others are left.
// Single ones are a pair whatever their numbers.
func match(a, b []found) (pairs [][2]found, why []result.Reason) {
	if len(a) == 1 && len(b) == 1 {
		return [][2]found{{a[0], b[0]}}, nil
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
	return pairs, append(why, right...)
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
