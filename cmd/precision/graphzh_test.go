package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestGraphSpeaks: whatever precision graph prints of the sample is in the language asked for,
// beside names.
func TestGraphSpeaks(t *testing.T) {
	dir := t.TempDir()
	built := filepath.Join(dir, "other.txt")
	text, err := os.ReadFile(sampleGraph)
	if err != nil {
		t.Fatal(err)
	}
	// A build with another type, without an operator, and with one more.
	other := strings.Replace(string(text), "dtype: DT_FLOAT16", "dtype: DT_FLOAT", 1)
	other = strings.ReplaceAll(other, `"softmax"`, `"other_softmax"`)
	if err := os.WriteFile(built, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, _, table := compareSample(t)
	result := filepath.Join(dir, "result.csv")
	if err := os.WriteFile(result, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	svg, dot := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.dot")
	english := regexp.MustCompile(`\b[a-z]+,? [a-z]+,? [a-z]+\b`)
	sentences := 0 // outputs in English that have one
	for _, args := range [][]string{
		{sampleGraph}, {sampleGraph, "-name", "block"}, {sampleGraph, "-op", "block2/conv"}, {sampleGraph, "-op", "block2/conv", "-attrs"},
		{sampleGraph, "-op", "trans_TransData_0"}, {sampleGraph, "-op", "conv"}, {sampleGraph, "-diff", sampleGraph}, {sampleGraph, "-diff", built},
		{"-fusion", fusionResult(t), "-all"}, {sampleGraph, "-root", "block2/conv", "-svg", svg, "-dot", dot, "-result", result},
		{sampleGraph, "-op", "nothing"}, {sampleGraph, "-root", "conv", "-svg", svg}, {result}, {filepath.Join(dir, "nowhere")},
	} {
		said := map[string]string{}
		for _, lang := range []string{"en", "zh"} {
			_, out, errs := precision(t, append([]string{"-lang", lang, "graph"}, args...)...)
			if slices.Contains(args, "-dot") {
				for _, path := range []string{svg, dot} {
					picture, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					out += string(picture)
				}
			}
			said[lang] = out + errs
		}
		if !strings.ContainsFunc(said["zh"], isHan) {
			t.Errorf("%v: nothing is Chinese in\n%s", args, said["zh"])
		}
		for line := range strings.Lines(said["zh"]) {
			if found := english.FindString(line); found != "" {
				t.Errorf("%v: %q in %q", args, found, line)
			}
		}
		if english.MatchString(said["en"]) {
			sentences++
		}
		if strings.ContainsFunc(said["en"], isHan) {
			t.Errorf("%v: Chinese in\n%s", args, said["en"])
		}
	}
	if sentences < 8 {
		t.Errorf("only %d English outputs have sentences: the pattern does not find them", sentences)
	}
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
