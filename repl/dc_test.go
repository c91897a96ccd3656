package repl

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestConvertBelow: of a folder that holds no dumps itself, those in the folders
// below are converted.
func TestConvertBelow(t *testing.T) {
	for _, dir := range []string{"precision_data/npu", "precision_data/npu/debug_0/dump"} {
		cfg, out, errs := sampleConfig(t)
		layOut(t, repoDir, "two")
		cfg.Commands = "dc " + dir
		code := Run(context.Background(), cfg)
		found, _ := filepath.Glob("precision_data/temp/decode/dump_convert/*.npy")
		if code != exitOK || len(found) == 0 || !strings.Contains(errs.String(), dir+" holds only folders; converting ") {
			t.Errorf("%s: exit status %d, %d arrays\n%s%s", dir, code, len(found), errs, out)
		}
		second, _ := filepath.Glob("precision_data/temp/decode/dump_convert/debug_1/*/*/*/*/*.npy")
		if both := dir == "precision_data/npu"; both != (len(second) == len(found)) {
			t.Errorf("%s: %d arrays of the first run, %d of the second", dir, len(found), len(second))
		}
	}
}
