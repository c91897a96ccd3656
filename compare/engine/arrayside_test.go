package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/internal/msg"
	"precision/testdata/workshop/dumptest"
)

// Two folders of arrays, of two runs of a framework, are compared by the names of
// operators and the numbers of outputs.
func TestTwoFoldersOfArrays(t *testing.T) {
	dir := t.TempDir()
	write := func(side, file, descr string, dims []int64, data []byte) {
		t.Helper()
		if err := dumptest.WriteNpy(filepath.Join(dir, side, file), descr, dims, data); err != nil {
			t.Fatal(err)
		}
	}
	one := dumptest.Floats(ramp(6, 1))
	for _, f := range []struct {
		side, file string
		dims       []int64
		data       []byte
	}{
		{"a", "scope/conv.0.1630000000000003.npy", shape(2, 3), one},
		{"b", "scope/conv.0.1630000000000103.npy", shape(2, 3), dumptest.Floats(ramp(6, 2))},
		{"a", "split.0.1630000000000001.npy", shape(6), one},
		{"a", "split.1.1630000000000002.npy", shape(6), one},
		{"b", "split.0.1630000000000101.npy", shape(6, 1), one},
		{"b", "split.2.1630000000000102.npy", shape(6), one},
		{"a", "mine.0.1630000000000004.npy", shape(6), one},
		{"b", "theirs.0.1630000000000104.npy", shape(6), one},
		{"a", "small.0.1630000000000005.npy", shape(6), one},
		{"b", "small.0.1630000000000105.npy", shape(3), one[:12]},
	} {
		write(f.side, strings.ReplaceAll(f.file, "/", "_"), "<f4", f.dims, f.data)
	}
	if err := os.WriteFile(filepath.Join(dir, "b", "bad.0.1630000000000106.npy"), []byte("no array"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("a", "bad.0.1630000000000006.npy", "<f4", shape(6), one)
	table, first := network(t, Job{Left: dir + "/a", Right: dir + "/b"})
	var got []string
	for i := range table.Rows {
		r := &table.Rows[i]
		text := r.Tensor()
		if r.Compared {
			text += " " + r.Result().Text(metric.MaxAbsoluteError)
		}
		for _, reason := range r.Reasons {
			text += " " + string(reason.Kind)
		}
		got = append(got, text)
	}
	want := "split:output:0 0.000000\nsplit:output:1 no-right-tensor\nsplit:output:2 no-left-tensor\nscope_conv:output:0 6.000000\n" +
		" no-right-op\nsmall:output:0 shapes-differ\nbad:output:0 bad-tensor\n no-left-op"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if m := table.Meta; m.Pairing.How != result.ByName || m.Left.Kind != "numpy" || m.Right.Dir != dir+"/b" || len(table.Ops) != 5 {
		t.Errorf("%+v, %d operators", m, len(table.Ops))
	}
	if first != "" { // twice as large is cosine 1: for the judge
		t.Errorf("first bad %s", first)
	}
	if bad := report.Sentences(msg.English, table.Rows[6].Reasons); !strings.Contains(bad, "bad.0.1630000000000106.npy") {
		t.Errorf("the reason %q names no file", bad)
	}
}
