package clean

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"conv1": "conv1", "": "", "=cmd|' /C calc'!A0": " =cmd|' /C calc'!A0", "@x": " @x", "+1": "+1", "-1.5e3": "-1.5e3",
		"-inf": "-inf", "-x": " -x", "%s": " %s", "a;=b": "a; =b", ";@": "; @", "\uff1dx": " \uff1dx",
		"(0.1;1.2),(-0.3;2.0)": "(0.1;1.2),(-0.3;2.0)", "\t=x": `\x09=x`,
	} {
		if got := Cell(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// Whatever is written into a table, nothing in it is run, steers a terminal or breaks a line; what
// was made with Cell stays as it is, and so do numbers.
func TestCSV(t *testing.T) {
	for in, want := range map[string]string{
		"=cmd|' /C calc'!A0": " =cmd|' /C calc'!A0", "a\x1b]0;x\x07b": `a\x1b]0;x\x07b`, "a\x00b\u202ec": `a\x00b\xe2\x80\xaec`, "x\ny\r": `x\x0ay\x0d`,
		"-1.5": "-1.5", "(0;-1),(-0.3;+Inf)": "(0;-1),(-0.3;+Inf)", "a;-b": "a; -b", "-1+cmd": " -1+cmd", `\x1b`: `\x1b`, Cell("=a\x1b;@"): Cell("=a\x1b;@"),
	} {
		var b bytes.Buffer
		w := NewCSV(&b)
		if err := w.Write([]string{in, "1"}); err != nil || w.Flush() != nil {
			t.Fatal(err)
		}
		if got, err := csv.NewReader(&b).Read(); err != nil || got[0] != want {
			t.Errorf("%q becomes %q, want %q; %v", in, got, want, err)
		}
	}
}

// TestCSVQuotes: a line is what encoding/csv makes of the cleaned cells.
func TestCSVQuotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("a1.-+=;, \"\\.\t\n\r\u00a0\u3000\uff1d中[()e%@")
	for range 20000 {
		cells, cleaned := make([]string, 1+rng.IntN(3)), []string(nil)
		for i := range cells {
			cell := make([]rune, rng.IntN(5))
			for k := range cell {
				cell[k] = alphabet[rng.IntN(len(alphabet))]
			}
			cells[i] = string(cell)
			cleaned = append(cleaned, unformulated(Line(cells[i]), figures))
		}
		var got, want bytes.Buffer
		w, lib := NewCSV(&got), csv.NewWriter(&want)
		lib.UseCRLF = true
		if err := errors.Join(w.Write(cells), w.Flush(), lib.Write(cleaned)); err != nil {
			t.Fatal(err)
		}
		if lib.Flush(); got.String() != want.String() {
			t.Fatalf("%q becomes %q, want %q", cells, &got, &want)
		}
	}
}

// TestOnlyOne: there is one writer of csv and one cleaner of texts. Who needs another is named here, and why.
func TestOnlyOne(t *testing.T) {
	other := regexp.MustCompile(`csv\.NewWriter|unicode\.(?:IsControl|IsPrint|Cf|Cc)\b|< ' '|< 0x20`)
	known := map[string]string{
		"cmd/msaccucmp/argparse/value.go": "names a character as Python's repr does",
		"compare/report/json_text.go":     "JSON has its own escapes, which stay readable",
		"dump/checkpoint/checkpoint.go":   "tells a name from other bytes",
		"internal/plainfile/error.go":     "names of files",
		"dump/names.go":                   "refuses names, and changes none",
		"graph/read/tensorflow.go":        "tells names from other bytes",
		"graph/read/read.go":              "tells text from other bytes",
		"graph/write/json.go":             "JSON has its own escapes",
		"repl/capture/capture.go":         "refuses texts, and changes none",
		"repl/complete.go":                "leaves names out, and changes none",
		"console/parser_posix.go":         "takes keys apart",
		"repl/workspace/workspace.go":     "names of files",
	}
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || e.Name() == ".git" || name == "internal/clean"):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if m := other.Find(text); m != nil {
			if found[name] = true; known[name] == "" {
				t.Errorf("%s has %q: tables and texts go through internal/clean", name, m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if !found[name] {
			t.Errorf("%s is known here for nothing", name)
		}
	}
}
