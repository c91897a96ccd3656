package report

import (
	"encoding/csv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// sample is a reason of every kind.
func sample(kind result.Kind) result.Reason {
	args := []string{"a/b", "Conv2D", "x:1", "(1, 2)", "5"}
	r := result.Because(kind)
	if n := patternOf(kind).count(); n > 0 {
		r.Args = args[:n]
	}
	return r
}

// Every kind and every class has a text in both languages, and the English
// sentence of a kind is recognised in a table.
func TestKinds(t *testing.T) {
	for _, kind := range result.Kinds() {
		key := "reason." + string(kind)
		if !msg.English.Has(key) || !msg.Chinese.Has(key) {
			t.Errorf("no text of %s", kind)
			continue
		}
		r := sample(kind)
		text := Sentence(msg.English, r)
		if text == "" || strings.Contains(text, "%!") || strings.Contains(Sentence(msg.Chinese, r), "%!") {
			t.Errorf("%s: %q, %q", kind, text, Sentence(msg.Chinese, r))
		}
		if vague[kind] {
			continue
		}
		two := []result.Reason{r, result.Because(result.NoteScalar)}
		if got := ParseReasons(Sentences(msg.English, two)); !slices.EqualFunc(got, two, result.Reason.Equal) {
			t.Errorf("%s: %q is read as %v", kind, Sentences(msg.English, two), got)
		}
	}
	for _, c := range result.Classes() {
		for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
			if !lang.Has("missing."+c.String()) && c != result.Remark {
				t.Errorf("no text of missing %s", c)
			}
		}
	}
	for _, r := range []result.Reason{{Kind: "other", Args: []string{"x"}}, {Kind: result.NoLeftDump, Args: []string{"a"}}} {
		if got, want := Sentence(msg.Chinese, r), string(r.Kind)+" "+r.Args[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Reasons of the recorded tables are recognised, and read the same again.
func TestRecordedReasons(t *testing.T) {
	texts := map[string]bool{}
	err := filepath.WalkDir("../../testdata/cases", func(path string, d fs.DirEntry, err error) error {
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
	for text := range texts {
		if strings.HasPrefix(text, "The input information") || strings.HasPrefix(text, "The fusion operator list is empty") {
			continue // only in the tables of the old tool
		}
		reasons := ParseReasons(text)
		for _, r := range reasons {
			if r.Kind == result.Text && !strings.Contains(text, "Failed to execute") {
				t.Errorf("%q of %q is not recognised", r.Args, text)
			}
		}
		same := strings.ReplaceAll(text, "Please check the batch of the dump data or the shape may be changed due to optimization.",
			"Check that both sides were dumped with the same batch, or whether an optimisation changed the shape.")
		if got := Sentences(msg.English, reasons); got != same {
			t.Errorf("%q became %q", text, got)
		}
	}
	const two = "This tensor is scalar.,[a,b] There is no the ground truth dump file for a:output:0."
	if got, want := Sentences(msg.Chinese, ParseReasons(two)), "该张量是标量；[a,b] 没有 a:output:0 的标杆数据文件"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a saved table says is read back to reasons that say the same.
func TestReasonsOfTables(t *testing.T) {
	for _, text := range []string{
		"[a] There is no dump file for my output operator \"a\". The type is Relu.",
		"[a] There is no dump file for my output operator \"a\". The type is Relu. a.1: the file is empty",
		"[a] x/Relu.a.5.1.16: offset 63: output 0: found 27 bytes, expected 32",
		"Cannot compare by Cosine Similarity. All the data is zero in x.npy.,Algorithm KL does not support Boolean types.",
		"something else",
	} {
		if got := Sentences(msg.English, ParseReasons(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
