package oracle

import (
	"slices"
	"testing"
)

func TestGapsIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		places []Place
		want   []string
	}{
		{"one rank, chosen", []Place{{0, 3}}, nil},
		{"no ranks", []Place{{-1, -1}, {-1, -1}}, nil},
		{"a node", []Place{{0, 8}, {0, 9}, {0, 10}}, nil},
		{"a rank of a step", []Place{{0, 0}, {0, 1}, {1, 1}}, []string{"step1/rank0"}},
		{"a rank of all", []Place{{-1, 0}, {-1, 2}}, []string{"rank1"}},
	} {
		if got := GapsIn(c.places); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
	if got := GapsIn([]Place{{0, 0}, {0, 1 << 40}}); len(got) != mostGaps {
		t.Errorf("%d names", len(got))
	}
}
