package dtype

import "testing"

// A name that means a type leads to one that has it among its own.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"float16", "DT_FLOAT", "torch.bfloat16", "<f4", "HIFLOAT8", "", "dt_"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if typ, ok := Parse(name); ok {
			if again, ok := Parse(typ.String()); !ok || again != typ {
				t.Fatalf("%q is %v, whose name is %v", name, typ, again)
			}
		}
	})
}
