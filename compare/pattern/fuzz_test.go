package pattern

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"precision/dump/dtype"
)

// Whatever the numbers, shapes and sizes: an error or findings that JSON can hold, never a panic.
func FuzzFind(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(2), uint8(3), uint8(0), uint8(1))
	f.Add([]byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff, 1, 0, 0, 0}, uint8(1), uint8(2), uint8(2), uint8(2))
	for _, fault := range faults {
		s := newSample([]int64{8, 48}, dtype.Float16, "normal", "none", 1)
		if fault.skip == nil || !fault.skip(s) {
			fault.do(s)
			var data []byte
			for i := range s.Got {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(s.Got[i])))
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(s.Want[i])))
			}
			f.Add(data, uint8(8), uint8(48), uint8(0), uint8(dtype.Float16))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, d0, d1, mode, typ uint8) {
		var v []float64
		for len(data) >= 4 {
			v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
			data = data[4:]
		}
		for _, b := range data {
			v = append(v, float64(int8(b)))
		}
		c := Case{DType: dtype.Type(typ % 48), Axes: "NC"}
		for i, x := range v {
			if i%2 == 0 {
				c.Got = append(c.Got, x)
			} else {
				c.Want = append(c.Want, x)
			}
		}
		if mode&1 != 0 && len(c.Got) > len(c.Want) {
			c.Got = c.Got[:len(c.Want)]
		}
		if d0 > 0 {
			c.Shape = []int64{int64(d0), int64(d1)}
		}
		if mode&2 != 0 {
			c.Bound = v[:min(len(v), len(c.Want))]
		}
		if mode&4 != 0 {
			for i := range c.Want {
				c.At = append(c.At, int64(i)*int64(mode>>4))
			}
		}
		c.Operands = []Tensor{{Name: "x", Values: c.Want}, {Name: "y", Values: v[:min(1, len(v))]}, {Name: "z", Values: nil}}
		c.Other = func(yield func(Tensor) bool) {
			_ = yield(Tensor{Name: "v", Values: v}) && yield(Tensor{Name: "none", Values: nil})
		}
		c.Alternatives = []Alternative{{Kind: MissingBias, Want: c.Got}, {Kind: WrongEpsilon, Want: c.Want, Bound: c.Bound}}
		c.Block = []int64{-3, int64(d1)}
		found, err := Find(c)
		if err != nil {
			return
		}
		for _, f := range found {
			if f.Kind == "" || !(f.Explained >= 0 && f.Explained <= 1) || f.Elements < 0 {
				t.Errorf("%+v", f)
			}
		}
		if _, err := json.Marshal(found); err != nil {
			t.Error(err)
		}
	})
}
