package page

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/job"
	"precision/compare/job/jobtest"
	"precision/internal/msg"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := (jobtest.Job{Ranks: 3, Steps: 2, Size: 32, Break: func(step, rank int, op string, out []float32) {
		if rank == 1 && step == 1 && op == jobtest.Mul {
			out[0] += 1e6
		}
	}}).Write(dir); err != nil {
		t.Fatal(err)
	}
	plan, err := job.Request{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt")}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	plan.Left = "<script>alert(1)</script>\x1b[31m"
	r, err := plan.Run(context.Background(), job.Settings{Out: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		var b bytes.Buffer
		if err := Write(&b, r, lang); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for want, n := range map[string]int{
			"<script": 0, "\x1b": 0, "&lt;script&gt;": 2, `<td class="good">`: 3, `<td class="bad">`: 3, "ZgotmplZ": 0,
			`href="tables/step1_rank1.csv"`: 1, `id="` + lang.String() + `" checked`: 1, "net/mul:output:0": 3,
		} {
			if got := strings.Count(text, want); got != n {
				t.Errorf("%s: %d times %s, want %d", lang, got, want, n)
			}
		}
	}
}
