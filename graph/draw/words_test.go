package draw

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"precision/graph"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// TestWords: legends, counts and tool tips are in the language of the style, in both kinds
// of picture.
func TestWords(t *testing.T) {
	x := indexOf(t, `graph { name: "g"
		op { name: "in" type: "Data" output_desc { dtype: DT_FLOAT } }
		op { name: "conv" type: "Conv2D" id: 1 input: "in:0" input_desc { dtype: DT_FLOAT layout: "ND" } output_desc { }
			attr { key: "_datadump_original_op_names" value { list { s: "a" s: "b" } } } attr { key: "pass_name" value { s: "ConvPass" } } }
		op { name: "cast" type: "Cast" id: 2 input: "conv:0" attr { key: "_datadump_original_op_names" value { list { } } } output_desc { } }
		op { name: "out" type: "Relu" id: 3 input: "cast:0" output_desc { } }
		op { name: "last" type: "Relu" id: 4 input: "out:0" } }`)
	conv, cast, out := x.Ops[1], x.Ops[2], x.Ops[3]
	english := regexp.MustCompile(`\b[a-z]+ [a-z]+ [a-z]+\b`)
	for _, c := range []struct {
		lang msg.Lang
		want []string // of every picture
		svg  []string
	}{
		{msg.English, []string{"id 1, stream 0", "of a, b", "by ConvPass", "input 0 DT_FLOAT ND []", "output 0 DT_UNDEFINED - []", "inserted", "+1 producer, +1 consumer", "+1 consumer"},
			[]string{"Colours: CosineSimilarity, red 0.9, green 1, violet not computable", "1 more operator is within reach but not drawn"}},
		{msg.Chinese, []string{"ID 1，流 0", "对应 a, b", "融合规则 ConvPass", "输入 0 DT_FLOAT ND []", "输出 0 DT_UNDEFINED - []", "插入的算子", "另有 1 个来源，另有 1 个去向", "另有 1 个去向"},
			[]string{"着色：CosineSimilarity，红 0.9，绿 1，紫表示无法计算", "另有 1 个算子在范围内，未画出"}},
	} {
		style := Style{Lang: c.lang, Heat: map[*graph.Op]float64{conv: math.NaN()}}
		var svg, dot bytes.Buffer
		for _, op := range []*graph.Op{conv, cast, out} { // alone, with all around left out
			d := Neighborhood(x, op, 0)
			d.Cut = 1
			if err := d.WriteSVG(&svg, style); err != nil {
				t.Fatal(err)
			}
			if err := d.WriteDOT(&dot, style); err != nil {
				t.Fatal(err)
			}
		}
		written := strings.ReplaceAll(dot.String(), `\ `, " ") // blanks of labels
		for _, want := range c.want {
			if !strings.Contains(written, want) {
				t.Errorf("DOT has no %q in\n%s", want, written)
			}
		}
		for _, want := range append(c.want, c.svg...) {
			if !strings.Contains(svg.String(), want) {
				t.Errorf("SVG has no %q in\n%s", want, &svg)
			}
		}
		if found := english.FindString(svg.String() + written); c.lang == msg.Chinese && found != "" {
			t.Errorf("English in Chinese pictures: %q", found)
		}
	}
}

// TestWideNames: a box is as wide as its Chinese name, whose characters take two columns.
func TestWideNames(t *testing.T) {
	for text, want := range map[string]int{"": 0, "conv/1": 6, "卷积，1": 7, "é…": 2, "（ア）": 6} {
		if got := columns(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	op := &graph.Op{Type: "T", Name: strings.Repeat("层", 10)}
	if w := newSVGBox(Node{Op: op}, &Style{}).w; w < 20*svgChar || w > 22*svgChar+14 {
		t.Errorf("%g wide", w)
	}
}
