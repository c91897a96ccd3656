package oracle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/npy"
	"precision/internal/must"
)

// Complex numbers that are moved are judged by both parts; what computes with them, or makes them of others, is not known.
func TestComplexMoves(t *testing.T) {
	dir := t.TempDir()
	folder := dir
	must.Do(os.MkdirAll(filepath.Join(folder, "dump_tensor_data"), 0o700))
	var calls []string
	tensor := func(name string, typ dtype.Type, shape []int64, v ...float64) string {
		var raw []byte
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
		var b bytes.Buffer
		must.Do(npy.Write(&b, typ, shape, raw))
		must.Do(os.WriteFile(filepath.Join(folder, "dump_tensor_data", name+".npy"), b.Bytes(), 0o600))
		dims := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ",")
		return fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.%s","shape":[%s],"Max":null,"Min":null,"Mean":null,"Norm":null,"data_name":"%s.npy"}`, typ, dims, name)
	}
	add := func(api, args, out string) {
		calls = append(calls, fmt.Sprintf(`"%s.%d.forward":{"input_args":[%s],"input_kwargs":{},"output":[%s]}`, api, len(calls), args, out))
	}
	number := func(n int) string { return fmt.Sprintf(`{"type":"int","value":%d}`, n) }
	x := tensor("x", dtype.Complex64, []int64{2, 2}, 1, 2, 3, 4, 5, 6, 7, 8)
	turned := tensor("t", dtype.Complex64, []int64{2, 2}, 1, 2, 5, 6, 3, 4, 7, 8)
	add("Tensor.transpose", x+","+number(0)+","+number(1), turned)
	add("Tensor.transpose", x+","+number(0)+","+number(1), tensor("r", dtype.Complex64, []int64{2, 2}, 1, 2, 5, 6, 3.5, 4, 7, 8))
	add("Tensor.transpose", x+","+number(0)+","+number(1), tensor("i", dtype.Complex64, []int64{2, 2}, 1, 2, 5, 6, 3, 4, 7, 9))
	add("Tensor.conj", x, x)
	add("Tensor.add", x+","+x, x)
	add("Tensor.to", tensor("f", dtype.Float32, []int64{2}, 1, 2), tensor("c", dtype.Complex64, []int64{2}, 1, 0, 2, 0))
	add("Tensor.adjoint", x, tensor("h", dtype.Complex64, []int64{2, 2}, 1, -2, 5, -6, 3, -4, 7, -8))
	must.Do(os.WriteFile(filepath.Join(folder, "dump.json"), []byte(`{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{`+strings.Join(calls, ",")+`}}`), 0o600))
	found, _, err := RecordingJob{Recordings: must.Get(msprobe.Find(dir)), Workers: 1}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Verdict{OK, Wrong, Wrong, Unknown, Unknown, Unknown, Unknown} {
		if len(found) != 7 || found[i].Verdict != want {
			t.Fatalf("call %d: %+v, expected %v", i, found, want)
		}
	}
	if found[2].Expected != 8 || found[2].Found != 9 {
		t.Errorf("%+v", found[2])
	}
}
