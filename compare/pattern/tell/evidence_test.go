package tell

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"precision/compare/pattern"
	"precision/internal/msg"
)

// TestEvidence holds what is said of a finding, in both languages.
func TestEvidence(t *testing.T) {
	part := pattern.Region{From: []int64{0, 16}, To: []int64{1, 24}, First: 256, Last: 383, Share: 1, Of: 0.25, Tail: true, Aligned: true}
	for _, c := range []struct {
		kind   pattern.Kind
		args   any
		en, zh string
	}{
		{pattern.Unwritten, pattern.Unfilled{Region: part}, "filled with 0; [0:1, 16:24], 25 % of the tensor; from a block boundary to the end of the tensor", "全部为 0；[0:1, 16:24]，占张量的 25 %；从分块边界到张量末尾"},
		{pattern.RegionOnly, pattern.Region{First: 3, Last: 9, Flat: true, Share: 0.5, Of: 0.1}, "elements 3 to 9 in memory order, 10 % of the tensor; 50 % of the elements there", "内存次序的第 3 至 9 个元素，占张量的 10 %；占该区域元素的 50 %"},
		{pattern.Stale, pattern.Copy{Name: "a:input:0", By: 8, Pieces: 1, Equal: 1, Region: pattern.Region{Of: 1}}, "they are those of a:input:0; from 8 elements further on; 1 element is equal bit for bit; the whole tensor", "来自 a:input:0；来自其后第 8 个元素；1 个元素逐位相同；整个张量"},
		{pattern.BitFlip, pattern.Flip{Bit: 30, Part: "exponent", Flips: []pattern.OneFlip{{At: []int64{1, 2}, Bit: 30, Got: 4, Want: 1}}}, "bit 30 (exponent); at 1,2: expected 1, found 4", "第 30 位（指数位）；1,2 处：应为 1，实为 4"},
		{pattern.Scale, pattern.Linear{Factor: 0.5, Offset: 1e-9}, "factor 0.5", "系数 0.5"},
		{pattern.AxesPermuted, pattern.Permutation{Perm: []int{0, 2, 1}}, "the order of the recorded axes is 0, 2, 1", "实际的轴次序为 0、2、1"},
		{pattern.Shifted, pattern.Shift{Axis: -1, By: 16, Cyclic: true}, "by 16 elements in memory order; what leaves at one end enters at the other", "按内存次序移动了 16 个元素；从一端移出的元素由另一端移入"},
		{pattern.Clipped, pattern.Clip{Low: math.Inf(-1), High: 6}, "nothing is larger than 6", "没有大于 6 的数值"},
		{pattern.NaN, pattern.NonFinite{NaN: 2, First: []int64{0, 1}, Region: pattern.Region{Of: 1}, Cause: pattern.ExpOverflow, Share: 1, Operand: "x", Threshold: 88.7}, "NaN in 2 elements; the first at 0,1; the whole tensor; e^x beyond the range of the type explains 100 % of them; seen in the input x; from 88.7 on",
			"2 个元素为 NaN；首个在 0,1；整个张量；由 e^x 超出数据类型的范围引起的占 100 %；见于输入 x；从 88.7 起"},
	} {
		for lang, want := range map[msg.Lang]string{msg.English: c.en, msg.Chinese: c.zh} {
			if got := Evidence(lang, &pattern.Finding{Kind: c.kind, Args: c.args}); got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.kind, got, want)
			}
		}
	}
}

// TestEveryKindHasEvidence: what belongs to a kind is told, and every text for it is there.
func TestEveryKindHasEvidence(t *testing.T) {
	text, err := os.ReadFile("en.txt")
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, m := range regexp.MustCompile(`(?m)^pattern\.(\S+) =`).FindAllStringSubmatch(string(text), -1) {
		var f pattern.Finding
		if err := json.Unmarshal([]byte(`{"kind":"`+m[1]+`","args":{}}`), &f); err != nil {
			t.Fatal(err)
		}
		if f.Args == nil || reflect.TypeOf(f.Args).Kind() != reflect.Struct {
			continue // of an operator's own kind, which has no more to say
		}
		v := reflect.New(reflect.TypeOf(f.Args)).Elem()
		for i := range v.NumField() {
			word, known := map[string]string{"Mode": "up", "Part": "sign", "Cause": "0/0", "Name": "relu", "Layout": "NC1HWC0"}[v.Type().Field(i).Name]
			if known && v.Field(i).Kind() == reflect.String {
				v.Field(i).SetString(word)
			}
		}
		f.Args = v.Interface()
		for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
			if said := Evidence(lang, &f); said == "" || strings.Contains(said, "evidence.") || strings.Contains(said, "%!") {
				t.Errorf("%s: %q", m[1], said)
			}
		}
		told++
	}
	if told < 25 {
		t.Errorf("only %d kinds", told)
	}
}
