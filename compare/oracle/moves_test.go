package oracle

import (
	"os"
	"regexp"
	"strings"
	"testing"

	catalogue "precision/op"
)

// Every function that the oracle moves data with is movement for the judge, too.
func TestMovesAreKnown(t *testing.T) {
	names := regexp.MustCompile(`(?:define|order|split|join|filled)\("([^"]+)"`)
	found := 0
	for _, file := range []string{"move.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			for _, name := range strings.Fields(m[1]) {
				if found++; !catalogue.Is(name, catalogue.Moves) {
					t.Errorf("%s: %s is no movement for the judge", file, name)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("found %d functions", found)
	}
}
