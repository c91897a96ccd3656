package patterns

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"precision/compare/pattern"
	"precision/compare/result"
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

// TestLine holds the sentences with size and place, in both languages.
func TestLine(t *testing.T) {
	channels := pattern.Region{From: []int64{0, 240, 0, 0}, To: []int64{1, 256, 14, 14}, Shape: []int64{1, 256, 14, 14}, Axes: "NCHW", Share: 1, Of: 0.0625}
	rows := pattern.Region{From: []int64{3, 0}, To: []int64{4, 8}, Shape: []int64{16, 8}, Share: 0.5, Of: 0.0625}
	for _, c := range []struct {
		kind   pattern.Kind
		args   any
		en, zh string
	}{
		{pattern.Scale, pattern.Linear{Factor: 1.0099}, "every number is multiplied by 1.01", "所有数值都乘以了 1.01"},
		{pattern.Scale, pattern.Linear{Factor: -1.0002}, "every sign is reversed", "所有数值的符号都相反"},
		{pattern.Offset, pattern.Linear{Offset: 0.75}, "0.75 is added to every number", "所有数值都加上了 0.75"},
		{pattern.Affine, pattern.Linear{Factor: 2, Offset: -3}, "every number is multiplied by 2, then -3 is added", "所有数值都先乘以 2，再加上 -3"},
		{pattern.Unwritten, pattern.Unfilled{Region: channels}, "channels 240 to 255 not written: the numbers there are 0", "通道 240 至 255 未写入：该处数值均为 0"},
		{pattern.Unwritten, pattern.Unfilled{Region: pattern.Region{Of: 1}}, "nothing was written: every number is 0", "什么都没有写入：所有数值均为 0"},
		{pattern.RegionOnly, rows, "only in index 3 of axis 0 (50 % of the elements there)", "只有 下标 3（第 0 轴） 有误（占该处元素的 50 %）"},
		{pattern.RegionOnly, pattern.Region{First: 3, Last: 9, Flat: true, Share: 1, Of: 0.1}, "only in elements 3 to 9 (100 % of the elements there)", "只有 第 3 至 9 个元素 有误（占该处元素的 100 %）"},
		{pattern.PassedThrough, pattern.Copy{Name: "0", Own: true, Region: pattern.Region{Of: 1}}, "equal to its own input 0: Tanh did nothing", "与自身的输入 0 相同：Tanh 什么也没有做"},
		{pattern.Stale, pattern.Copy{Name: "a:output:0", Region: pattern.Region{Of: 1}}, "equals the tensor of a:output:0", "与 a:output:0 的张量相同"},
		{pattern.Stale, pattern.Copy{Name: "a:output:0", Region: channels}, "channels 240 to 255: numbers of a:output:0", "通道 240 至 255 处是 a:output:0 的数值"},
		{pattern.Stale, pattern.Copy{Name: "1", Own: true, Region: channels}, "channels 240 to 255: numbers of its own input 1", "通道 240 至 255 处是其自身输入 1 的数值"},
		{pattern.Stale, pattern.Copy{Earlier: true, Region: channels}, "channels 240 to 255: numbers of this very tensor in the recording before (the previous step)", "通道 240 至 255：是该张量在前一次采集（上一步）中的数值"},
		{pattern.RandomElements, pattern.Scatter{Size: 23.9, Region: pattern.Region{From: []int64{3, 42}, To: []int64{4, 43}, Elements: 1}}, "one element is wrong, [3,42], by 23.9 times the size of the others",
			"有一个元素有误，位于 [3,42]，误差为其他元素大小的 23.9 倍"},
		{pattern.RandomElements, pattern.Scatter{Share: 0.01, Size: 2, Region: pattern.Region{Elements: 4}}, "scattered single elements are wrong: 1 % of them, by 2 times their size", "零散的个别元素有误：占 1 %，误差为其大小的 2 倍"},
		{pattern.BitFlip, pattern.Flip{Bit: 30, Part: "exponent", Elements: 3, Flips: []pattern.OneFlip{{At: []int64{0, 3, 17}, Bit: 30, Got: 4, Want: 1}}},
			"bit 30 (exponent) of element [0,3,17] is flipped: 4 for 1, and bits of 2 other elements", "第 30 位（指数位）在元素 [0,3,17] 处翻转：实为 4，应为 1，另有 2 个元素的位翻转"},
		{pattern.BitsMisread, pattern.Reading{Of: "bfloat16", As: "float16"}, "bits of bfloat16 were read as float16", "bfloat16 的比特按 float16 解读"},
		{pattern.BitsMisread, pattern.Reading{Of: "float32", As: "float32", Swapped: true}, "the bytes of every float32 are in reverse order", "每个 float32 的字节次序都相反"},
		{pattern.BitsMisread, pattern.Reading{Of: "bfloat16", As: "float16", Swapped: true},
			"the bits were read as another type: the bits of bfloat16 were read as float16, with the bytes in reverse order", "按另一种类型解读了比特：bfloat16 的比特按 float16 解读，且字节次序相反"},
		{pattern.StrideIgnored, pattern.Stride{Axes: []int{2, 3}, By: 2}, "a stride of 2 along axis 2, 3 was ignored", "步长 2 未生效（沿第 2、3 轴）"},
		{pattern.InvertedMask, pattern.Masked{Fill: 0, Share: 0.25}, "the mask is inverted: 0 stands where numbers belong, in 75 % of the elements", "掩码取反：0 出现在应有数值之处，占元素的 75 %"},
		{pattern.InvertedMask, pattern.Masked{Fill: -10000, Added: true, Share: 0.25}, "the added mask is inverted: -10000 was added where nothing is, to 75 % of the elements",
			"相加的掩码取反：-10000 加到了不应加之处，占元素的 75 %"},
		{pattern.RowScale, pattern.Slices{Axis: 3, Off: 320, Least: 0.678, Most: 0.999}, "each of 320 rows along axis 3 is multiplied by a factor: 0.678 to 0.999", "320 行（沿第 3 轴）各乘以了一个系数：0.678 至 0.999"},
		{pattern.InvertedMask, pattern.Masked{Choice: true}, "the choice is inverted: each element is that of the other operand", "选择取反：每个元素都取自另一个操作数"},
		{pattern.WrongEpsilon, pattern.Attribute{Name: "epsilon", Value: "0", Graph: "1e-05"}, "computed with epsilon = 0; given is 1e-05", "按 epsilon = 0 计算；给定的是 1e-05"},
		{pattern.MissingTerms, pattern.Terms{Taken: 64, Of: 80}, "only the first 64 of 80 terms (of a convolution: channels) were summed", "求和只取了前 64 项（卷积则为通道），共 80 项"},
		{pattern.Shifted, pattern.Shift{Axis: 2, By: -1}, "shifted by -1 along axis 2", "移动 -1（沿第 2 轴）"},
		{pattern.Unexplained, pattern.Spread{Share: 1, Relative: 1.5}, "no rule explains it: 100 % of the elements are off, by 1.5 times their size", "没有规律可以解释：100 % 的元素有误，误差为其大小的 1.5 倍"},
		{pattern.AxesPermuted, pattern.Permutation{Perm: []int{0, 2, 1}}, "the axes are in a different order: the order of the recorded axes is 0, 2, 1", "轴的次序不同：实际的轴次序为 0、2、1"},
	} {
		f := pattern.Finding{Kind: c.kind, Args: c.args}
		for lang, want := range map[msg.Lang]string{msg.English: c.en, msg.Chinese: c.zh} {
			if got := Line(lang, result.Pattern{Kind: string(c.kind), Evidence: f.Evidence()}, "Tanh"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.kind, got, want)
			}
		}
	}
	// What a table says of its own accord is a name at most.
	for _, evidence := range []string{"", "{", "[]", `{"factor":"x"}`} {
		if got := Line(msg.English, result.Pattern{Kind: "scale", Evidence: evidence}, ""); got != "the numbers are multiplied by a factor" {
			t.Errorf("%q: %q", evidence, got)
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
			word, known := map[string]string{"Mode": "up", "Part": "sign", "Cause": "0/0", "Name": "relu", "Layout": "NC1HWC0", "Of": "float32", "As": "float16"}[v.Type().Field(i).Name]
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
