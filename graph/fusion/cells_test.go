package fusion

import (
	"strconv"
	"strings"
	"testing"
)

// The cells of a group of very many operators have an end; others hold all.
func TestCellsHaveAnEnd(t *testing.T) {
	for _, n := range []int{2, mostNames, mostNames + 1, 3000} {
		g := &Group{}
		var names []string
		for i := range n {
			names = append(names, "op"+strconv.Itoa(i))
		}
		for _, name := range names {
			g.Ops = append(g.Ops, &Op{Name: name, OriginNames: names})
		}
		want := strings.Join(names[:min(n, mostNames)], ",")
		if n > mostNames {
			want += ",… " + strconv.Itoa(n-mostNames) + " more"
		}
		if g.NPUNames() != want || g.GoldenNames() != want {
			t.Errorf("%d operators: the cells are %.60q and %.60q, expected %.60q", n, g.NPUNames(), g.GoldenNames(), want)
		}
	}
}
