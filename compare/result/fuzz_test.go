package result

import "testing"

// The name of a tensor is that of what it was split into.
func FuzzParseTensor(f *testing.F) {
	for _, name := range []string{"conv1:output:0", "a:b:input:12", "x", "a:output:-1", ":output:0", "a:output:007"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		op, role, slot, err := ParseTensor(name)
		if err != nil {
			return
		}
		again := TensorName(op, role, slot)
		if a, b, c, err := ParseTensor(again); err != nil || a != op || b != role || c != slot || slot < 0 {
			t.Fatalf("%q is %q, which is %q %v %d, %v", name, again, a, b, c, err)
		}
	})
}
