package face

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/job"
	"precision/compare/report/html"
	"precision/internal/msg"
	"precision/testdata/workshop/jobtest"
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
	r.Pages = make([]string, len(r.Digests))
	r.Pages[len(r.Pages)-1] = "tables/<a b>.html"
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		var b bytes.Buffer
		if err := Write(&b, r, lang); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, never := range []string{"<script>alert", "\x1b"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: the page has %q", lang, never)
			}
		}
		d := unpack(t, text)
		say := d.Page.Say[lang.String()]
		switch {
		case d.Page.Lang != lang.String() || d.Job.Verdict != "bad" || len(d.Job.Parts) != 6 || len(say.Parts) != 6 || len(d.Page.Say) != 2:
			t.Errorf("%s: the page has %+v", lang, d.Page)
		case d.Page.Pages[5] != "tables/%3Ca%20b%3E.html" || d.Page.Pages[0] != "":
			t.Errorf("%s: pages of parts are at %q", lang, d.Page.Pages)
		case len(d.Page.First) != len(d.Job.Origins) || len(say.Origins) != len(d.Job.Origins):
			t.Errorf("%s: %d origins with %d cards at %d", lang, len(d.Job.Origins), len(say.Origins), d.Page.First)
		}
		for i, at := range d.Page.First {
			o, part := d.Job.Origins[i], d.Job.Parts[at]
			if part.Step != o.First || !strings.Contains(say.Parts[at], o.Op) {
				t.Errorf("%s: %s is said to begin at step %d, rank %d: %s", lang, o.Op, part.Step, part.Rank, say.Parts[at])
			}
		}
		if !strings.Contains(say.Origins[0][0].Segments[0].Text, "net/mul") {
			t.Errorf("%s: the first card says %+v", lang, say.Origins[0])
		}
	}
}

// TestWriteGood: a job in which no error begins has a page with lists that are empty, and not missing.
func TestWriteGood(t *testing.T) {
	r := &job.Result{Plan: &job.Plan{Request: job.Request{Left: "a", Right: "b"}}, Verdict: "good", Counts: map[string]int{"good": 1}}
	var b bytes.Buffer
	if err := Write(&b, r, msg.English); err != nil {
		t.Fatal(err)
	}
	from, _, err := html.Data(&b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil || !strings.Contains(string(text), `"origins":[]`) || strings.Contains(string(text), `:null`) {
		t.Errorf("%v: %s", err, text)
	}
}

// unpack reads the data of a page as its script does.
func unpack(t *testing.T, page string) (d data) {
	t.Helper()
	from, _, err := html.Data(strings.NewReader(page))
	if err == nil {
		err = json.NewDecoder(from).Decode(&d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}
