package repl

import (
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/internal/msg"
	"precision/repl/console"
)

// TestReasons translates every reason in the recorded result tables, and every
// note about values: no English sentence is left.
func TestReasons(t *testing.T) {
	texts := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(repoDir, "testdata", "cases"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".csv" {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r := csv.NewReader(f)
		r.FieldsPerRecord, r.LazyQuotes = -1, true
		rows, err := r.ReadAll()
		if err != nil || len(rows) == 0 {
			return nil
		}
		at := slices.Index(rows[0], "CompareFailReason")
		for _, row := range rows[1:] {
			if at >= 0 && at < len(row) && row[at] != "" {
				texts[row[at]] = true
			}
		}
		return nil
	})
	if err != nil || len(texts) < 20 {
		t.Fatalf("%d reasons, %v", len(texts), err)
	}
	for kind := metric.NoteScalar; kind <= metric.NoteZeroGolden; kind++ {
		texts[metric.Note{Kind: kind, Numerics: metric.Exact, Count: 1, Of: 2}.Text("a, b", "c")] = true
	}
	s := &session{Console: &console.Console{Lang: msg.Chinese}}
	for text := range texts {
		switch {
		case strings.HasPrefix(text, "The input information"), strings.HasPrefix(text, "The format"), strings.HasPrefix(text, "The fusion operator list"),
			strings.Contains(text, "Failed to execute"):
			continue // only in the tables of the old tool
		}
		for rest := text; rest != ""; {
			key, _, next := cutReason(rest)
			if key == "" {
				t.Errorf("no message for %q of %q", rest, text)
				break
			}
			rest = next
		}
		if got := s.reason(text); strings.Contains(got, "There is") || strings.Contains(got, "This tensor") {
			t.Errorf("%q became %q", text, got)
		}
	}
	const two = "This tensor is scalar.,[a,b] There is no the ground truth dump file for a:output:0."
	if got, want := s.reason(two), "该张量是标量；[a,b] 没有 a:output:0 的标杆数据文件"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for note, want := range map[string]string{
		"input 1 of pc, which calls this graph":    "输入 1 取自算子 pc，该算子调用本图",
		"output 0 comes from add:0 in graph sub":   "输出 0 来自 add:0，位于图 sub",
		"output 0 shows its producer in graph sub": "输出 0 显示的是图 sub 中产生它的算子",
	} {
		if got := s.reason(note); got != want {
			t.Errorf("%q: got %q, want %q", note, got, want)
		}
	}
	if got := s.reason("something else"); got != "something else" {
		t.Errorf("got %q", got)
	}
	for key, kind := range reasonKinds {
		if !msg.English.Has(key) || !msg.English.Has(kind) {
			t.Errorf("%s or %s is no message", key, kind)
		}
	}
}

func TestReasonKind(t *testing.T) {
	s := &session{Console: &console.Console{Lang: msg.English}}
	for text, want := range map[string]string{
		"": "kind.none",
		"[a] There is no dump file for my output operator \"a\". The type is Relu.":                                        "kind.mine",
		"[a] There is no dump file for my output operator \"a\". The type is Relu. a.1: the file is empty":                 "kind.unreadable",
		"[a] x/Relu.a.5.1.16: offset 63: output 0: found 27 bytes, expected 32":                                            "kind.unreadable",
		"Cannot compare by Cosine Similarity. All the data is zero in x.npy.,Algorithm KL does not support Boolean types.": "kind.type",
		"something else": "kind.other",
	} {
		if got := s.reasonKind(text); got != s.T(want) {
			t.Errorf("%q: got %q, want %q", text, got, s.T(want))
		}
	}
}
