package html

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"precision/compare/advice"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
	"precision/testdata/workshop/madeup"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// TestRoundTrip: what a page carries gives the table back without loss, and the
// same verdict.
func TestRoundTrip(t *testing.T) {
	for name, table := range map[string]madeup.Network{"bad": {Ops: 60, Broken: 7}, "good": {Ops: 40}, "no graph": {Ops: 20, Broken: 3, Flat: true}, "hostile": {Ops: 12, Broken: 4, Hostile: true}} {
		j := verdict.Judge(table.Table(), verdict.Options{})
		var page bytes.Buffer
		if err := Write(&page, j, Options{Lang: msg.Chinese}); err != nil {
			t.Fatal(err)
		}
		saved, err := Read(&page)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after bytes.Buffer
		profile, err := saved.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if err := report.WriteJSON(&before, j); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteJSON(&after, verdict.Judge(saved.Table, verdict.Options{Profile: profile})); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before.Bytes(), after.Bytes()) {
			t.Errorf("%s: the table of the page is not the one that was written", name)
		}
	}
}

// TestLate: what a page unpacks has no columns that it does not look at, its scripts name none of these, and one base64 text of
// one gzip file has them all.
func TestLate(t *testing.T) {
	for ops := range 12 { // lengths of every remainder
		j := verdict.Judge(madeup.Network{Ops: 20 + ops, Broken: 3}.Table(), verdict.Options{})
		var page bytes.Buffer
		if err := Write(&page, j, Options{}); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(page.String(), dataBegin)
		text, _, _ = strings.Cut(text, dataEnd)
		first, second, ok := strings.Cut(text, "\n")
		if !ok || strings.Contains(first, "=") || strings.Contains(second, "\n") {
			t.Fatalf("the data are no two lines of one text in base64: %q, %q", first[len(first)-4:], second)
		}
		data, _, err := Data(strings.NewReader(dataBegin + first + dataEnd))
		if err != nil {
			t.Fatal(err)
		}
		var looked struct {
			Page  *pageData
			Table struct{ Rows map[string]json.RawMessage }
		}
		if err := json.NewDecoder(io.MultiReader(data, strings.NewReader("}}}"))).Decode(&looked); err != nil {
			t.Fatal(err)
		}
		if data, _, err = Data(&page); err != nil {
			t.Fatal(err)
		}
		var whole struct {
			Table struct{ Rows map[string]json.RawMessage }
		}
		if err := json.NewDecoder(data).Decode(&whole); err != nil {
			t.Fatal(err)
		}
		for name := range whole.Table.Rows {
			if _, ok := looked.Table.Rows[name]; ok == late[name] {
				t.Errorf("%s is looked at: %v", name, ok)
			}
		}
		if looked.Page == nil || len(looked.Table.Rows) < 20 || len(whole.Table.Rows) < len(looked.Table.Rows)+20 {
			t.Errorf("the page looks at %d of %d columns", len(looked.Table.Rows), len(whole.Table.Rows))
		}
	}
	for _, name := range Comparison.modules {
		for column := range late {
			if bad := regexp.MustCompile(`\braw\.` + column + `\b|['"]` + column + `['"]`).FindString(asset("assets/" + name + ".js")); bad != "" {
				t.Errorf("%s.js asks for %s, which is not unpacked", name, bad)
			}
		}
	}
}

// TestAdviceLines: a page has the lines to paste that its recording has a use for.
func TestAdviceLines(t *testing.T) {
	for _, c := range []struct {
		kind, op string
		want     []advice.Where
	}{
		{"msprobe", "Functional.linear.0.forward", []advice.Where{advice.Command, advice.PyTorch}},
		{"msprobe", "Mint.matmul.0.forward", []advice.Where{advice.Command}},
		{"mindspore", "Default/network/MatMul-op7", []advice.Where{advice.Command}},
	} {
		table := &result.Table{Rows: []result.Row{{Op: c.op, Role: result.Output, Recorded: &result.Recorded{Place: "output.0", Left: &result.Summary{}, Right: &result.Summary{}}}}}
		table.Meta.Recorded, table.Meta.Left.Kind = true, c.kind
		var file bytes.Buffer
		if err := Write(&file, verdict.Judge(table, verdict.Options{}), Options{}); err != nil {
			t.Fatal(err)
		}
		data, _, err := Data(&file)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Page struct{ Advice adviceData } }
		if err := json.NewDecoder(data).Decode(&got); err != nil {
			t.Fatal(err)
		}
		var places []advice.Where
		for _, lines := range got.Page.Advice.Lines {
			for _, l := range lines {
				places = append(places, l.Where)
			}
		}
		slices.Sort(places)
		if places = slices.Compact(places); !slices.Equal(places, c.want) {
			t.Errorf("%s: lines for %q, want %q", c.op, places, c.want)
		}
	}
}

// TestReadBad: pages that are none, or that were cut off, are refused with the
// place.
func TestReadBad(t *testing.T) {
	var page bytes.Buffer
	if err := Write(&page, verdict.Judge(madeup.Network{Ops: 5}.Table(), verdict.Options{}), Options{}); err != nil {
		t.Fatal(err)
	}
	whole := page.String()
	begin := strings.Index(whole, dataBegin)
	for _, c := range []struct{ page, want string }{
		{"", "found no data"},
		{"<!doctype html><p>hello", "found no data"},
		{whole[:begin+100], "have no end"},
		{whole[:begin+100] + dataEnd, "the file ends"},
		{dataBegin + "!!!!" + dataEnd, "illegal base64"},
		{dataBegin + "aGVsbG8gaGVsbG8gaGVsbG8=" + dataEnd, "gzip"},
	} {
		if _, err := Read(strings.NewReader(c.page)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, expected %q", c.page, err, c.want)
		}
	}
}

// TestTextsAreUsed: every text of the page is asked for, and every text that is
// asked for is there.
func TestTextsAreUsed(t *testing.T) {
	var all strings.Builder
	for _, name := range slices.Concat(Comparison.modules, Job.modules, Check.modules, Rollout.modules, Preflight.modules) {
		all.WriteString(asset("assets/" + name + ".js"))
	}
	for _, sheet := range []*Sheet{Comparison, Rollout, Preflight} {
		all.WriteString(sheet.parts().body)
	}
	source := all.String()
	known := msg.English.Under("html.")
	for _, m := range regexp.MustCompile(`\bt\('([a-z0-9.-]+)'[,)]|data-(?:say|title)="([a-z0-9.-]+)"`).FindAllStringSubmatch(source, -1) {
		key := m[1] + m[2]
		if known["html."+key] == "" && !strings.HasSuffix(key, ".") {
			t.Errorf("the page says %s, which has no text", key)
		}
	}
	for key := range known {
		key = strings.TrimPrefix(key, "html.")
		last := key[strings.LastIndexAny(key, ".-")+1:]
		if !strings.Contains(source, "'"+key+"'") && !strings.Contains(source, `"`+key+`"`) && !strings.Contains(source, last) && !strings.HasPrefix(key, "column.") &&
			key != "inputs" && key != "outputs" && !strings.HasPrefix(key, "no-looks.") &&
			!strings.HasPrefix(key, "rollout.finding.") && !strings.HasPrefix(key, "rollout.weight.") {
			t.Errorf("nothing says html.%s", key)
		}
	}
}

// TestFixed: the parts are joined without imports left, and nothing in them ends
// a script or asks for something from outside.
func TestFixed(t *testing.T) {
	for _, sheet := range []*Sheet{Comparison, Job, Check, Rollout, Preflight} {
		checkFixed(t, sheet)
	}
}

func checkFixed(t *testing.T, sheet *Sheet) {
	t.Helper()
	p := sheet.parts()
	if regexp.MustCompile(`(?m)^(import|export) `).MatchString(p.script) {
		t.Error("a module is not joined")
	}
	for _, text := range []string{p.script, p.uplot, p.style, p.uplotStyle} {
		if bad := regexp.MustCompile(`(?i)</(script|style)|@import|\burl\(['"]?https?|\beval\(|new Function`).FindString(text); bad != "" {
			t.Errorf("found %q in the page", bad)
		}
	}
	if !reflect.DeepEqual(p, sheet.join()) {
		t.Error("the parts change")
	}
}
