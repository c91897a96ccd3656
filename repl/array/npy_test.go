package array

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"testing"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// Every type that can be read is written as an array of the type that holds it,
// with the same numbers.
func TestWriteNpyOfEveryType(t *testing.T) {
	const n = 32
	for _, typ := range dtype.All() {
		if !typ.Readable() {
			continue
		}
		data := make([]byte, typ.Bytes(n))
		for i := range data {
			data[i] = byte(i*59 + 7)
		}
		d := dumptest.Dump{OpName: "x", Outputs: []dumptest.Tensor{{Type: int(typ), Format: dumptest.ND, Shape: []int64{4, n / 4}, Data: data}}}
		path := filepath.Join(t.TempDir(), "Add.x.1.1.100")
		if err := d.Write(path); err != nil {
			t.Fatal(err)
		}
		a, err := Tensor(path, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var b bytes.Buffer
		if err := a.WriteNpy(context.Background(), &b); err != nil {
			t.Errorf("%s: %v", typ.Wire(), err)
			continue
		}
		back := file(t, b.Bytes())
		if want, _ := typ.Array(); back.Type != want || back.Len() != a.Len() {
			t.Errorf("%s became %d elements of %s, want %s", typ.Wire(), back.Len(), back.Type, want)
			continue
		}
		x, y := numbersOf(t, a), numbersOf(t, back)
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(y[i]) && !(x[i] != x[i] && y[i] != y[i]) {
				t.Errorf("%s: number %d is %v, was %v", typ.Wire(), i, y[i], x[i])
				break
			}
		}
	}
}

func numbersOf(t *testing.T, a *Array) []float64 {
	t.Helper()
	v := a.cursor().elements(0, a.Len())
	return v
}
