package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConclusions: what other tools concluded is no recording, and it is said what it was made from.
func TestConclusions(t *testing.T) {
	for _, name := range []string{"anomaly_detected/rank0/anomaly.json", "anomaly_analyze_17.json", "cross_rank_analysis.json"} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, file} {
			c := Check{Path: path}
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), filepath.Base(file)+" is what a tool") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
