package report

import (
	"strings"
	"testing"

	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
)

// TestWordsComplete: whatever a judge can say has its words.
func TestWordsComplete(t *testing.T) {
	var keys []string
	for _, k := range verdict.Kinds() {
		keys = append(keys, "short."+string(k), "rule."+string(k))
	}
	for v := range verdict.Inconclusive + 1 {
		keys = append(keys, "word."+v.String())
	}
	for s := range verdict.StateBad + 1 {
		keys = append(keys, "word."+s.String())
	}
	for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
		for _, k := range keys {
			if !lang.Has("report." + k) {
				t.Errorf("there is no report.%s in %v", k, lang)
			}
		}
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		v, against float64
		want       string
	}{
		{0.98, 0.98, "0.98"}, {0.97999999, 0.98, "0.97999999"}, {12345.678, 0, "12350"}, {123456789, 0, "1.235e8"}, {1e-7, 0, "1e-7"}, {0, 1, "0"}, {2, 2, "2"},
	} {
		if got := figure(c.v, c.against); got != c.want {
			t.Errorf("figure(%v, %v) is %s, expected %s", c.v, c.against, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	if got := clean.Line("a\x1b[31m\u202eb\nc名"); got != `a\x1b[31m\xe2\x80\xaeb\x0ac名` {
		t.Errorf("clean gives %q", got)
	}
}

func TestRender(t *testing.T) {
	lines := []Line{{Label: "结论", Segments: []Segment{{"bad", Bad}, {": x", Plain}}}, {Segments: []Segment{{"y", Dim}}}}
	got := Render(lines, 8, func(s Style, text string) string {
		if s == Plain {
			return text
		}
		return "<" + text + ">"
	})
	if want := "结论    <bad>: x\n        <y>\n"; got != want {
		t.Errorf("rendered %q, expected %q", got, want)
	}
	if got := Render(lines, 0, nil); strings.Contains(got, "<") {
		t.Errorf("rendered %q without a painter", got)
	}
}
