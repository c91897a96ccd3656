package report

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/report/html"
	"precision/internal/msg"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/trainlog"
	"precision/testdata/workshop/msgtest"
)

var update = flag.Bool("update", false, "write the texts that are expected")

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// logs are two trainings, of which the second goes wrong behind step 30.
func logs(t *testing.T) *trainlog.Difference {
	t.Helper()
	var text [2]strings.Builder
	scale := 1024.0
	for i := 1; i <= 100; i++ {
		v := 1 + 4*math.Exp(-float64(i)/20)
		fmt.Fprintf(&text[0], "step %d, loss %.4f, lr 0.1, loss scale 1024\n", i, v)
		if i > 30 {
			v += 0.02 * float64(i-30)
		}
		if i == 40 || i == 60 {
			scale /= 2
		}
		fmt.Fprintf(&text[1], "step %d, loss %.4f, lr 0.1, loss scale %g, grad norm 2\n", i, v*(1+0.001*float64(i%3)), scale)
	}
	var read [2]*trainlog.Log
	for i := range text {
		l, err := trainlog.Read(context.Background(), strings.NewReader(text[i].String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		l.Path = fmt.Sprintf("%c\x1b[31m<x>.log", 'a'+i)
		read[i] = l
	}
	return trainlog.Diff(read[0], read[1], trainlog.DefaultFloor)
}

func configs(t *testing.T) *config.Difference {
	t.Helper()
	var files [2]*config.File
	for i, c := range []struct {
		format config.Format
		text   string
	}{{config.YAML, "train: {learning_rate: 1e-3, batchSize: 32, seed: 1, data: /gpu/set}\nname: \"\\e]0;x\"\n"}, {config.Shell, "python t.py --lr 1e-2 --batch-size 32 --random-seed 1 --data /npu/set --amp"}} {
		list, err := config.Parse([]byte(c.text), c.format)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = &config.File{Path: fmt.Sprint("file", i), Format: c.format, Entries: list}
	}
	return config.Diff(files[0], files[1], nil)
}

func manifests(t *testing.T) *manifest.Difference {
	t.Helper()
	dir := t.TempDir()
	write := func(name, lines string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("# precision manifest 1 md5\n"+lines+"# end\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sum := func(c string) string { return strings.Repeat(c, 32) }
	a := write("a", "1\t"+sum("1")+"\t-\tsame\n2\t"+sum("2")+"\t-\tx\n3\t-\t-\ty\n-1\t-\t-\tz\n4\t"+sum("4")+"\t-\tzz\n")
	b := write("b", "1\t"+sum("1")+"\t-\tsame\n2\t"+sum("3")+"\t-\tx\n3\t"+sum("3")+"\t-\ty\n3\t"+sum("5")+"\t-\tz\n4\t"+sum("4")+"\t-\tzzz\n")
	d, err := manifest.Diff(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestGolden: what is said, in both languages and both widths, stands in testdata.
func TestGolden(t *testing.T) {
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		plain := Text{Lang: lang, Width: 80, Most: 5}
		coloured := plain
		coloured.Width, coloured.Paint = 60, func(c Colour, s string) string { return fmt.Sprintf("{%d:%s}", c, s) }
		got := plain.Of(Manifest{manifests(t)}) + "\n----\n" + plain.Of(Config{configs(t)}) + "\n----\n" + plain.Of(Log{logs(t), false}) + "\n----\n" + coloured.Of(Log{logs(t), false})
		if strings.ContainsRune(got, '\x1b') {
			t.Error("a name steers the terminal")
		}
		path := filepath.Join("testdata", lang.String()+".txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: the text differs; run with -update and look at the difference\n%s", path, got)
		}
	}
}

// TestJSON: the three are JSON with what the texts say, NaN included.
func TestJSON(t *testing.T) {
	l := logs(t)
	l.Quantities[0].FirstA = trainlog.Number(math.NaN())
	l.Quantities[0].Last = trainlog.Number(math.Inf(1))
	for kind, write := range map[string]func(*bytes.Buffer) error{
		"manifest": func(b *bytes.Buffer) error { return JSON(b, Manifest{manifests(t)}) },
		"config":   func(b *bytes.Buffer) error { return JSON(b, Config{configs(t)}) },
		"log":      func(b *bytes.Buffer) error { return JSON(b, Log{l, false}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, &b)
		}
		if got["kind"] != kind || got["differs"] != true {
			t.Errorf("%s: %v", kind, got)
		}
		if kind == "log" {
			q := got["quantities"].([]any)[0].(map[string]any)
			if q["first_a"] != "NaN" || q["last_relative_difference"] != "Inf" || q["part_step"] == nil {
				t.Error(q)
			}
		}
	}
}

// TestPage: the pages of all three kinds hold what differs in both languages, and nothing that a viewer obeys.
func TestPage(t *testing.T) {
	l := logs(t)
	l.Quantities[0].Name = "</script><b>"
	page := Page{Lang: msg.Chinese, A: "<img src=x>", B: "b"}
	for _, c := range []struct {
		kind    string
		write   func(*bytes.Buffer) error
		what    []string
		verdict string
	}{
		{"log", func(b *bytes.Buffer) error { return page.Write(b, Log{l, false}) }, nil, "bad"},
		{"config", func(b *bytes.Buffer) error { return page.Write(b, Config{configs(t)}) }, []string{"changed", "only-a", "only-b", "paths", "same", "same"}, "bad"},
		{"manifest", func(b *bytes.Buffer) error { return page.Write(b, Manifest{manifests(t)}) }, []string{"changed", "moved", "unproven", "unread"}, "bad"},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Contains(text, "<b>") || strings.Contains(text, "<x>") || strings.Contains(text, "<img") {
			t.Errorf("%s: a name is markup", c.kind)
		}
		from, _, err := html.Data(&b)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		var d pageData
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(string(text), '\x1b') || strings.Contains(string(text), `\u001b`) {
			t.Errorf("%s: a name steers", c.kind)
		}
		slices.Sort(d.Rows.What)
		slices.Sort(c.what)
		if d.Verdict != c.verdict || d.A != "<img src=x>" || d.Page.Lang != "zh" || !slices.Equal(d.Rows.What, c.what) || len(d.Rows.Key) != len(c.what) || len(d.Rows.KeyB) != len(c.what) {
			t.Errorf("%s: %s, rows %q", c.kind, d.Verdict, d.Rows.What)
		}
		en, zh := d.Page.Say["en"], d.Page.Say["zh"]
		if en.Headline[0].Text == "" || en.Headline[0].Text == zh.Headline[0].Text || len(en.Lines) == 0 || len(en.Lines) != len(zh.Lines) || en.Texts["report.word.good"] == zh.Texts["report.word.good"] {
			t.Errorf("%s: the page says %q, %q", c.kind, en.Headline, zh.Headline)
		}
		if c.kind == "log" && (len(d.Curves) != 3 || len(d.Curves[0].ValuesA) != 100 || !d.Curves[0].Parts || d.Curves[0].PartStep < 30 || len(en.Quantities) != 3 || !strings.Contains(en.Quantities[0][1], "diverges at step")) {
			t.Errorf("the curves are %+v, %q", d.Curves, en.Quantities)
		}
	}
}

// TestPageGood: what does not differ is good on the page, what is not proven to be the same is not.
func TestPageGood(t *testing.T) {
	same, open := configs(t), manifests(t)
	same.Count[config.Changed], same.Count[config.OnlyA], same.Count[config.OnlyB] = 0, 0, 0
	for _, what := range []manifest.What{manifest.Changed, manifest.OnlyA, manifest.OnlyB} {
		open.Lists[what] = &manifest.List{}
	}
	short := logs(t)
	for i := range short.Quantities {
		short.Quantities[i].Parts = false
	}
	short.B.DropCount, short.B.Drops = 0, nil
	for _, c := range []struct {
		want  string
		write func(*bytes.Buffer) error
	}{
		{"good", func(b *bytes.Buffer) error { return Page{}.Write(b, Config{same}) }},
		{"inconclusive", func(b *bytes.Buffer) error { return Page{}.Write(b, Manifest{open}) }},
		{"good", func(b *bytes.Buffer) error { return Page{}.Write(b, Log{short, false}) }},
		{"bad", func(b *bytes.Buffer) error { return Page{}.Write(b, Log{short, true}) }}, // a quantity is in one log only
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		var d pageData
		from, _, err := html.Data(&b)
		if err == nil {
			err = json.NewDecoder(from).Decode(&d)
		}
		if err != nil || d.Verdict != c.want {
			t.Errorf("%v: %s, want %s", err, d.Verdict, c.want)
		}
	}
}
