package uplot

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// TestSums: the chart's library is the one that was vendored.
func TestSums(t *testing.T) {
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"uPlot.iife.min.js": Script, "uPlot.min.css": Style}
	for line := range strings.Lines(string(sums)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		text, ok := texts[name]
		if !ok {
			license, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text = string(license)
		}
		sum := sha256.Sum256([]byte(text))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has the sha256 %s, expected %s", name, got, want)
		}
	}
}
