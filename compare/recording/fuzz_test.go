package recording_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/verdict"
)

// Two recordings of which one is damaged are compared, or refused: a row without
// values has its reason.
func FuzzOpen(f *testing.F) {
	const small = `{"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{` +
		`"Functional.relu.0.forward":{"input_args":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1.0,"Min":-1.0,"Mean":0.0,"Norm":1.4,"requires_grad":false}],"input_kwargs":{},` +
		`"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1.0,"Min":0.0,"Mean":0.5,"Norm":1.0,"requires_grad":false}]},` +
		`"Torch.add.0.forward":{"input_args":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1.0,"Min":0.0,"Mean":0.5,"Norm":1.0},{"type":"int","value":1}],"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"md5":"00000000"}]}}}`
	dir := f.TempDir()
	for _, side := range []string{"good", "bad"} {
		if err := os.MkdirAll(filepath.Join(dir, side, "step0", "rank0"), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	file := func(side, name string) string { return filepath.Join(dir, side, "step0", "rank0", name) }
	if err := os.WriteFile(file("good", "dump.json"), []byte(small), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(small), []byte(`{"Functional.relu.0.forward":"Module.a.A.forward.0","Torch.add.0.forward":"Module.a.A.forward.0"}`), []byte(`{"Functional.relu.0.forward":["File x.py, line 3, in f, \n y = relu(x)"]}`))
	f.Add([]byte(`{"data":{"Functional.relu.0.forward":{"output":[{"type":"torch.Tensor","shape":[-1],"Max":NaN}]}}}`), []byte(`[]`), []byte(`{"a":{"b":1}}`))
	f.Fuzz(func(t *testing.T, calls, construct, stack []byte) {
		for name, text := range map[string][]byte{"dump.json": calls, "construct.json": construct, "stack.json": stack} {
			if err := os.WriteFile(file("bad", name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, pair := range [][2]string{{"good", "bad"}, {"bad", "good"}, {"bad", "bad"}} {
			s, err := recording.Open(filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1]), recording.Options{})
			if err != nil {
				continue
			}
			out, err := engine.Run(context.Background(), s, engine.Options{Workers: 1}, func(*result.Row) error { return nil })
			if err != nil {
				continue
			}
			for i := range out.Table.Rows {
				if r := &out.Table.Rows[i]; !r.Compared && len(r.Reasons) == 0 && r.Recorded == nil {
					t.Errorf("a row without values and without a reason: %+v", r)
				}
			}
			verdict.Judge(out.Table, verdict.Options{})
		}
	})
}
