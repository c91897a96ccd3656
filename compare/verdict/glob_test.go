package verdict

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
)

// Patterns match as those of package path, with stars that cross slashes, and of many those
// are found that match.
func TestGlobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(letters string) string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = letters[rng.IntN(len(letters))]
		}
		return string(b)
	}
	patterns := make([]string, 400)
	for i := range patterns {
		patterns[i] = text("aab/**?")
	}
	g := newGlobs(len(patterns), func(i int) string { return patterns[i] })
	for range 2000 {
		name := text("aab/")
		may := g.of(name)
		if !slices.IsSorted(may) {
			t.Fatalf("%q: not in order", name)
		}
		for i, p := range patterns {
			want, _ := path.Match(strings.ReplaceAll(p, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
			if got := Glob(p, name); got != want {
				t.Fatalf("Glob(%q, %q) = %v", p, name, got)
			}
			if (want || p == "") && !slices.Contains(may, i) {
				t.Fatalf("%q is not found for %q", p, name)
			}
		}
	}
}

// Of thousands of patterns with stars in front, behind or nowhere, a name is held against few.
func TestManyGlobs(t *testing.T) {
	const n = 8000
	for _, form := range []string{"layer%d/conv:output:0", "layer%d/*", "*/layer%d", "*x%d:output:0", "a*b%d", "*r%d/relu:*", "*/none%d/*"} {
		g := newGlobs(n, func(i int) string { return fmt.Sprintf(form, i) })
		looked := 0
		for i := range n {
			looked += len(g.of(strings.ReplaceAll(fmt.Sprintf(form, i), "*", "net")))
		}
		if looked > 8*n {
			t.Errorf("%s: %d names are held against %d patterns", form, n, looked)
		}
	}
}
