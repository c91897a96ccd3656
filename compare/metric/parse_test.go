package metric

import (
	"math"
	"testing"
)

// What a table shows of a value can be read back, and shows the same again.
func TestParseValue(t *testing.T) {
	for _, text := range []string{"NaN", "1.000000", "-0.250000", "nan", "inf", "-inf", "(0.100;1.200),(-0.300;2.000)", "(nan;nan),(inf;0.000)"} {
		v, ok := ParseValue(text)
		if !ok || v.Text(CosineSimilarity) != text {
			t.Errorf("%q: %q, %v", text, v.Text(CosineSimilarity), ok)
		}
		if v.OK() != (text != "NaN") {
			t.Errorf("%q: computed %v", text, v.OK())
		}
	}
	if v, ok := ParseValue(""); !ok || v.OK() {
		t.Errorf("an empty cell: %v, %v", v, ok)
	}
	if v, ok := ParseValue("1e999"); !ok || !math.IsInf(v.Float(), 1) {
		t.Errorf("1e999: %v, %v", v, ok)
	}
	for _, text := range []string{"x", "(1;2)", "(1;2),(3)", "(1;2),(3;x)", "1,5"} {
		if _, ok := ParseValue(text); ok {
			t.Errorf("%q is a value", text)
		}
	}
}
