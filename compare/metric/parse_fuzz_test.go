package metric

import "testing"

// What a cell says is said again by the value that was read from it.
func FuzzParseValue(f *testing.F) {
	for _, text := range []string{"", "NaN", "0.999997", "1.0", "inf", "-inf", "1e999", "(0.1;0.2),(0.3;nan)", "(1;2)", "0x1p-2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := ParseValue(text)
		if !ok {
			return
		}
		_ = v.Float()
		again := v.Text(CosineSimilarity)
		w, ok := ParseValue(again)
		if !ok || w.Text(CosineSimilarity) != again {
			t.Fatalf("%q is %q, which is %q, %v", text, again, w.Text(CosineSimilarity), ok)
		}
	})
}
