package result

import "testing"

// A tensor's name can be read back, whatever colons the operator's name has.
func TestTensorName(t *testing.T) {
	for _, op := range []string{"conv1", "a:b", "scope/x:output:1", ":"} {
		for _, role := range []Role{Output, Input} {
			name := TensorName(op, role, 12)
			gotOp, gotRole, slot, err := ParseTensor(name)
			if err != nil || gotOp != op || gotRole != role || slot != 12 {
				t.Errorf("%q: %q, %s, %d, %v", name, gotOp, gotRole, slot, err)
			}
		}
	}
	for _, name := range []string{"", "conv1", "conv1:0", "conv1:output", "conv1:output:-1", "conv1:outputs:0", "conv1:output:x"} {
		if _, _, _, err := ParseTensor(name); err == nil {
			t.Errorf("%q is a tensor's name", name)
		}
	}
	if r := (&Row{Op: "a", Role: Whole, Slot: -1}); r.Tensor() != "" {
		t.Errorf("a whole operator is the tensor %q", r.Tensor())
	}
}

// What a row has no values for is told by the first reason that is no remark.
func TestClass(t *testing.T) {
	r := &Row{}
	if r.Class() != Skipped {
		t.Errorf("no reason: %s", r.Class())
	}
	r.Add(Because(StorageOrder, "(1)", "(1, 1)"), Because(BadTensor, "a", "x"), Because(NoRightOp, "a"))
	if r.Class() != Unreadable || !r.Has(NoRightOp) || r.Has(NoLeftOp) {
		t.Errorf("%s", r.Class())
	}
	for _, k := range Kinds() {
		if name := k.Class().String(); name == "unknown" || name == "" {
			t.Errorf("%s has no class", k)
		}
	}
}
