package main

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"precision/compare"
)

// printSummary says in a few lines what a user asks first.
func printSummary(w io.Writer, s *compare.Summary, path string) {
	fmt.Fprintf(w, "Compared         %s of %s in %s\n", count(s.Compared, "tensor"), fmt.Sprint(s.Rows), count(s.Operators, "operator group"))
	if !s.Unjudged && s.Compared > 0 {
		fmt.Fprintf(w, "Below %-10g %s\n", s.Threshold, count(s.Below, "tensor"))
	}
	if missed := s.Rows - s.Compared; missed > 0 {
		var kinds []compare.Kind
		for k := range s.Missed {
			kinds = append(kinds, k)
		}
		sort.Slice(kinds, func(i, j int) bool {
			a, b := kinds[i], kinds[j]
			return s.Missed[a] > s.Missed[b] || s.Missed[a] == s.Missed[b] && a < b
		})
		var parts []string
		for _, k := range kinds {
			parts = append(parts, fmt.Sprintf("%s %d", k, s.Missed[k]))
		}
		fmt.Fprintf(w, "Not comparable   %d: %s\n", missed, strings.Join(parts, ", "))
	}
	switch {
	case s.Compared == 0:
		fmt.Fprintf(w, "Nothing matched: no tensor of the two sides could be compared. Are they of the same network, and is the graph theirs?\n")
	case s.Unjudged:
		fmt.Fprintf(w, "No verdict: CosineSimilarity is not among the selected metrics.\n")
	case s.First == nil && s.Below > 0:
		fmt.Fprintf(w, "First below      none among the outputs of framework operators\n")
	case s.First == nil:
		fmt.Fprintf(w, "First below      none: every compared operator of the framework agrees\n")
	default:
		fmt.Fprintf(w, "First below      %s\n", finding(s.First))
	}
	if s.FirstInserted != nil {
		fmt.Fprintf(w, "Inserted below   %s: added by the graph compiler, compared with what feeds it\n", finding(s.FirstInserted))
	}
	fmt.Fprintf(w, "Result           %s\n", path)
}

func finding(f *compare.Finding) string {
	r := &f.Row
	value := fmt.Sprintf("cosine %.6f", f.Cosine)
	switch {
	case f.Scalar && !math.IsNaN(f.Error): // its cosine, if any, says nothing
		value = fmt.Sprintf("relative error %.6f", f.Error)
	case math.IsNaN(f.Cosine):
		value = "cosine NaN"
		if reason := r.Reason(); reason != "" {
			value += ", " + reason
		}
	}
	name := r.Op
	if r.OpType != "" {
		name = r.OpType + " " + name
	}
	return fmt.Sprintf("%s (Index %d, %s): %s", name, r.Index, r.Tensor(), value)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
