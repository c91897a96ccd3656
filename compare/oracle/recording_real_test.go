package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"precision/dump/msprobe"
)

// TestRealRecordings checks the recordings of ../shared: their numbers were computed by
// PyTorch on a CPU, and no call may be wrong.
func TestRealRecordings(t *testing.T) {
	root := filepath.Join("..", "..", "..", "shared", "real", "msprobe")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recordings beside the repository")
	}
	for _, name := range []string{"cnn_mix_tensor", "cnn_l1_tensor_slice", "block_l1_tensor_md5", "block_l1_tensor_bf16", "types_l1_tensor_md5", "odd_mix_tensor_md5"} {
		for _, side := range []string{"golden", "target"} {
			list, err := msprobe.Find(filepath.Join(root, name, side))
			if err != nil {
				t.Fatal(err)
			}
			findings, remarks, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
			if err != nil || len(remarks) > 0 {
				t.Fatal(err, remarks)
			}
			counts := map[Verdict]int{}
			for _, f := range findings {
				counts[f.Verdict]++
				if f.Verdict != OK || testing.Verbose() {
					fmt.Println(name, side, f.Op, f.Index, f.DType, f.Shape, f.Verdict, f.Ratio, f.Reasons, f.Worst, f.Expected, f.Found, f.Bound)
				}
			}
			t.Log(name, side, counts)
		}
	}
}
