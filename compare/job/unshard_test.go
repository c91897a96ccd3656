package job

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/testdata/workshop/dumptest"
)

// Slices of a tensor are compared with those of a run that was not sharded, whichever way ranks
// have them; a tensor that every rank has whole is compared as it is.
func TestUnshard(t *testing.T) {
	const rows, columns, ranks = 4, 12, 4
	whole := make([]float32, rows*columns)
	for i := range whole {
		whole[i] = float32(i*i%37) - 11
	}
	for _, way := range []string{"turn", "neighbours"} {
		dir := t.TempDir()
		write := func(path string, op string, shape []int64, data []float32) {
			d := dumptest.Dump{OpName: op, Outputs: []dumptest.Tensor{{Type: dumptest.Float32, Format: dumptest.ND, Shape: shape, Origin: shape, Data: dumptest.Floats(data)}}}
			if err := d.Write(filepath.Join(path, "Mul."+op+".1.7.1767268800000000")); err != nil {
				t.Fatal(err)
			}
		}
		golden := func(op string) {
			if err := dumptest.WriteNpy(filepath.Join(dir, "golden", op+".0.1767268800000000.npy"), "<f4", []int64{rows, columns}, dumptest.Floats(whole)); err != nil {
				t.Fatal(err)
			}
		}
		golden("cut")
		golden("whole")
		for r := range ranks {
			slice := r % 2
			if way == "neighbours" {
				slice = r / 2
			}
			var part []float32
			for row := range rows {
				part = append(part, whole[row*columns+slice*columns/2:][:columns/2]...)
			}
			if r == 3 {
				part = slices.Clone(part)
				part[5] += 900
			}
			at := filepath.Join(dir, "npu", "20260101120000", fmt.Sprint(r), "net", "1", "0")
			write(at, "cut", []int64{rows, columns / 2}, part)
			write(at, "whole", []int64{rows, columns}, whole)
		}
		for text, works := range map[string]bool{"auto": true, "2": true, "1:2": true, "0:2": false, "4": false} {
			u, err := ParseUnshard(text)
			if err != nil {
				t.Fatal(err)
			}
			r := Request{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden")}
			r.Unshard = u
			out := filepath.Join(t.TempDir(), "out")
			res := ran(t, r, Settings{Out: out})
			var got []string
			for _, d := range res.Digests {
				got = append(got, d.Verdict)
			}
			table := files(t, out)["tables/step0_rank1.csv"]
			if works && (!slices.Equal(got, []string{"good", "good", "good", "bad"}) || !strings.Contains(table, "of 2 along axis 1")) || !works && strings.Contains(table, "along axis") {
				t.Errorf("%s, %s: %q\n%s", way, text, got, table)
			}
		}
	}
	for _, bad := range []string{"", "x", "1", "-1:2", "1:", "1:1"} {
		if _, err := ParseUnshard(bad); err == nil {
			t.Errorf("%q is a way to cut", bad)
		}
	}
}
