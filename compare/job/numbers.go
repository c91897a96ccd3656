package job

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Numbers is a set of numbers as ranges, both ends included; nil holds all.
type Numbers [][2]int

// ParseNumbers reads a list such as "0,4-7,16-": numbers, ranges, and ranges without
// an end. An empty text is all numbers.
func ParseNumbers(text string) (n Numbers, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		r := [2]int{0, math.MaxInt}
		var err error
		if r[0], err = strconv.Atoi(first); err == nil {
			switch {
			case !isRange:
				r[1] = r[0]
			case last != "":
				r[1], err = strconv.Atoi(last)
			}
		}
		if err != nil || r[0] < 0 || r[1] < r[0] {
			return nil, fmt.Errorf("found %q in %q, expected a number or a range such as 4-7", part, text)
		}
		n = append(n, r)
	}
	return n, nil
}

// Has tells whether a number is in the set.
func (n Numbers) Has(i int) bool {
	return slices.ContainsFunc(n, func(r [2]int) bool { return i >= r[0] && i <= r[1] }) || n == nil
}

// unknownRank is what a number is that is not known.
const unknownRank = "?"

// ranges writes sorted numbers as a list that [ParseNumbers] reads: "0,4-7". A number below 0 is not known.
func ranges(list []int) string {
	var n Numbers
	for _, i := range list {
		if k := len(n) - 1; k >= 0 && n[k][0] >= 0 && i <= n[k][1]+1 {
			n[k][1] = i
		} else {
			n = append(n, [2]int{i, i})
		}
	}
	return n.String()
}

// String is the list as [ParseNumbers] reads it.
func (n Numbers) String() string {
	var list []string
	for _, r := range n {
		switch {
		case r[0] < 0:
			list = append(list, unknownRank)
		case r[1] == math.MaxInt:
			list = append(list, strconv.Itoa(r[0])+"-")
		case r[0] == r[1]:
			list = append(list, strconv.Itoa(r[0]))
		default:
			list = append(list, strconv.Itoa(r[0])+"-"+strconv.Itoa(r[1]))
		}
	}
	return strings.Join(list, ",")
}
