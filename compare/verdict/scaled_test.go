package verdict_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"precision/compare/engine"
	"precision/compare/look"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/nd"
	"precision/testdata/workshop/computed"
	"precision/testdata/workshop/dumptest"
)

// TestScaledDumps: numbers and scales that a kernel of GE gives are one value, against golden arrays and against dumps of another
// device: the same value with scales that are powers of two is no fault, and a fault is its own whatever the scales.
func TestScaledDumps(t *testing.T) {
	for _, devices := range []bool{false, true} {
		for fault, root := range map[string]string{
			"":                                      "",
			"shift:model/layer_1/gate/DynamicQuant": "model/layer_1/gate/DynamicQuant",
			"tail:model/layer_0/down/DynamicQuant":  "model/layer_0/down/DynamicQuant",
			"scale:model/layer_2/gate/DynamicMxQuant": "model/layer_2/gate/DynamicMxQuant",
		} {
			o := computed.Options{Arch: "w8a8", Seed: 1, Powers: true, Devices: devices, Fault: fault}
			_, j := compared(t, o)
			var names []string
			for _, r := range j.Roots {
				names = append(names, j.Operators[r.Operator].Op.Name)
			}
			if root == "" && (j.Verdict != verdict.Good || len(names) > 0) || root != "" && (j.Verdict == verdict.Good || !slices.Equal(names, []string{root})) {
				t.Errorf("devices %t, %q: %v, roots %v", devices, fault, j.Verdict, names)
			}
		}
	}
}

// Without a graph the dumps of two devices are paired by name, and what goes into a product is told by shapes.
func TestScaledDumpsByName(t *testing.T) {
	n, err := computed.New(computed.Options{Arch: "w8a8", Seed: 1, Powers: true, Devices: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := n.Write(dir); err != nil {
		t.Fatal(err)
	}
	s, err := engine.Job{Left: filepath.Join(dir, filepath.FromSlash(computed.DumpDir)), Right: filepath.Join(dir, computed.GoldenDir)}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j, err := look.Judge(t.Context(), s, out.Table, verdict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range j.Operators {
		for _, x := range slices.Concat(j.Operators[i].Inputs, j.Operators[i].Outputs) {
			if x.Verdict == verdict.Bad || x.Verdict == verdict.Suspect {
				t.Errorf("%s %s: %v", j.Row(&x).Tensor(), j.Operators[i].Op.Type, x.Verdict)
			}
		}
	}
}

// codes finds the code of each number in a type of up to eight bits, packed as the type is.
func codes(t *testing.T, typ dtype.Type, values []float64) (raw []byte) {
	t.Helper()
	bits := typ.Bits()
	all, code := make([]float64, 1<<bits), make([]byte, typ.Bytes(1<<bits))
	for i := range all {
		if bits == 4 {
			code[i/2] |= byte(i) << (4 * (i % 2))
		} else {
			code[i] = byte(i)
		}
	}
	dtype.Widen64(typ, all, code)
	for i, v := range values {
		c := slices.Index(all, v)
		if c < 0 {
			t.Fatalf("%v is no number of %v", v, typ)
		}
		if bits == 8 {
			raw = append(raw, byte(c))
		} else if i%2 == 0 {
			raw = append(raw, byte(c))
		} else {
			raw[len(raw)-1] |= byte(c) << 4
		}
	}
	return raw
}

// TestScaledTypes: of every type that quantisers give, kept as dumps of GE have it, two dumps that are the same are good, as are the same
// values with scales twice as large; a number with the other sign, a scale that alone is twice as large, and a file that is cut
// short are not.
func TestScaledTypes(t *testing.T) {
	const rows, n = 4, 64
	for _, c := range []struct {
		name            string
		numbers, scales dtype.Type // the type of the numbers, of scales
		kept            dtype.Type // the type of the elements that hold the numbers
		blocks          []int64    // the shape of the scales
	}{
		{"int8 by token", dtype.Int8, dtype.Float32, dtype.Int8, []int64{rows}},
		{"float8 by 32", dtype.Float8E4M3FN, dtype.Float8E8M0, dtype.Float8E4M3FN, []int64{rows, 1, 2}},
		{"hifloat8", dtype.HiFloat8, dtype.Float32, dtype.HiFloat8, []int64{1}},
		{"float4 by 32", dtype.Float4E2M1, dtype.Float8E8M0, dtype.Float4E2M1, []int64{rows, 1, 2}},
		{"float4 in bytes by 32", dtype.Float4E2M1, dtype.Float8E8M0, dtype.Uint8, []int64{rows, 1, 2}},
		{"float4 and exponents in bytes", dtype.Float4E2M1, dtype.Uint8, dtype.Uint8, []int64{rows, 1, 2}},
		{"NVFP4", dtype.Float4E2M1, dtype.Float8E4M3FN, dtype.Float4E2M1, []int64{rows, n / 16}},
		{"NVFP4 in bytes", dtype.Float4E2M1, dtype.Float8E4M3FN, dtype.Uint8, []int64{rows, n / 16}},
		{"int4", dtype.Int4, dtype.Float32, dtype.Int4, []int64{rows}},
		{"int4 in words", dtype.Int4, dtype.Float32, dtype.Int32, []int64{rows}},
	} {
		t.Run(c.name, func(t *testing.T) {
			even := []float64{2, -4, 6, -2, 4, 2, -6, 4} // their halves are numbers of all types
			if c.numbers == dtype.HiFloat8 || c.numbers == dtype.Int4 {
				even = []float64{2, -4, 4, -2, 4, 2, -4, 4}
			}
			shape := []int64{rows, n}
			if c.kept != c.numbers {
				shape[1] = n * int64(c.numbers.Bits()) / int64(c.kept.Bits())
			}
			dump := func(kind string) string {
				x, q := make([]float32, rows*n), make([]float64, rows*n)
				scales := make([]float64, nd.Size(c.blocks))
				for i := range scales {
					scales[i] = 0.25
				}
				for i := range q {
					q[i] = even[(i+i/n)%len(even)]
					x[i] = float32(q[i] * 0.25)
				}
				switch kind {
				case "other scales":
					for i := range q {
						q[i] /= 2
					}
					fallthrough
				case "scale":
					for i := range scales {
						scales[i] *= 2
					}
				case "sign":
					q[n+2] = -q[n+2]
				}
				var by []byte
				switch c.scales {
				case dtype.Float32:
					for _, s := range scales {
						by = binary.LittleEndian.AppendUint32(by, math.Float32bits(float32(s)))
					}
				case dtype.Uint8:
					for _, s := range scales {
						by = append(by, byte(math.Log2(s)+127))
					}
				default:
					by = codes(t, c.scales, scales)
				}
				y := codes(t, c.numbers, q)
				d := dumptest.Dump{OpName: "quant", Inputs: []dumptest.Tensor{{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{rows, n}, Data: dumptest.Floats(x)}},
					Outputs: []dumptest.Tensor{{Type: int(c.kept), Format: dumptest.ND, Shape: shape, Data: y}, {Type: int(c.scales), Format: dumptest.ND, Shape: c.blocks, Data: by}}}
				raw := d.Bytes()
				if kind == "damaged" {
					raw = raw[:len(raw)-len(by)-len(y)/2]
				}
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "DynamicQuant.quant.1.7.1614717261785536"), raw, 0o600); err != nil {
					t.Fatal(err)
				}
				return dir
			}
			for kind, good := range map[string]bool{"": true, "other scales": true, "sign": false, "scale": false, "damaged": false} {
				s, err := engine.Job{Left: dump(kind), Right: dump("")}.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				out, err := s.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				j, err := look.Judge(t.Context(), s, out.Table, verdict.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if (j.Verdict == verdict.Good) != good {
					t.Errorf("%s: %v", kind, j.Verdict)
					for i := range j.Operators {
						t.Logf("%s %s %+v", j.Operators[i].Op.Name, j.Operators[i].Op.Type, j.Operators[i].Outputs)
					}
					for i := range out.Table.Rows {
						r := &out.Table.Rows[i]
						t.Logf("%s %v %v compared %t distance %g %v", r.Tensor(), r.Left.DType, r.Shape, r.Compared, r.Result().Facts.Distance, r.Reasons)
					}
				}
			}
		})
	}
}

// TestImpossibleScales: a header that gives numbers a shape which no tensor has is told of in the row of its tensor, and what
// stands beside is compared.
func TestImpossibleScales(t *testing.T) {
	for _, shape := range [][]int64{{math.MaxInt64}, {1 << 62, 4}, {1<<61 + 1}} {
		dir := [2]string{t.TempDir(), t.TempDir()}
		for i, d := range dir {
			numbers, scales := slices.Repeat([]byte{byte(1 + i)}, 32), dumptest.Floats(slices.Repeat([]float32{0.25 + float32(i)}, 32))
			raw := dumptest.Dump{OpName: "quant", Outputs: []dumptest.Tensor{
				{Type: int(dtype.Int8), Format: dumptest.ND, Shape: []int64{4, 8}, Data: numbers},
				{Type: int(dtype.Float32), Format: dumptest.ND, Shape: []int64{4}, Data: scales[:16]},
				{Type: int(dtype.Uint8), Format: dumptest.ND, Shape: shape, Data: numbers},
				{Type: int(dtype.Float32), Format: dumptest.ND, Shape: []int64{32}, Data: scales},
			}}.Bytes()
			if err := os.WriteFile(filepath.Join(d, "DynamicQuant.quant.1.7.1614717261785536"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := engine.Job{Left: dir[0], Right: dir[1]}.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Table.Rows) != 4 {
			t.Errorf("%v: %d rows", shape, len(out.Table.Rows))
		}
		for i := range out.Table.Rows {
			r := &out.Table.Rows[i]
			if bad := i == 2; r.Compared == bad || bad != r.Has(result.BadTensor) {
				t.Errorf("%v: %s compared %t %v", shape, r.Tensor(), r.Compared, r.Reasons)
			}
		}
	}
}

// TestExponentsAlone: exponents in bytes that are off by one are scales twice as large, also where the numbers of a side are damaged.
func TestExponentsAlone(t *testing.T) {
	side := func(exponent byte, shape ...int64) string {
		dir := t.TempDir()
		raw := dumptest.Dump{OpName: "quant", Outputs: []dumptest.Tensor{
			{Type: int(dtype.Float8E4M3FN), Format: dumptest.ND, Shape: shape, Data: slices.Repeat([]byte{0x38}, 256)},
			{Type: int(dtype.Uint8), Format: dumptest.ND, Shape: []int64{4, 1, 2}, Data: slices.Repeat([]byte{exponent}, 8)},
		}}.Bytes()
		if err := os.WriteFile(filepath.Join(dir, "DynamicMxQuant.quant.1.7.1614717261785536"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, c := range map[string]struct {
		left, right string
		off         float64
	}{
		"the same":       {side(125, 4, 64), side(125, 4, 64), 0},
		"twice as large": {side(126, 4, 64), side(125, 4, 64), 1},
		"damaged right":  {side(126, 4, 64), side(125, 1<<40, 64), 1},
		"other shape":    {side(126, 4, 64), side(125, 4, 8), 1},
		"damaged, same":  {side(125, 4, 64), side(125, 1<<40, 64), 0},
	} {
		s, err := engine.Job{Left: c.left, Right: c.right}.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r := &out.Table.Rows[1]
		if !r.Compared || math.Abs(r.Result().Facts.Distance-c.off) > 1e-6 {
			t.Errorf("%s: compared %t, %g apart, expected %g; %v", name, r.Compared, r.Result().Facts.Distance, c.off, r.Reasons)
		}
	}
}

// TestScaledSmall: numbers of few bits are no small ones where their scales are small: of a third the sign is the other, or all are zero, and
// that is bad, whatever the least number of their type, though nothing is known of what goes in.
func TestScaledSmall(t *testing.T) {
	for typ, code := range map[dtype.Type]byte{dtype.Float8E4M3FN: 0x38, dtype.Float8E5M2: 0x3c, dtype.Uint8: 0x22, dtype.Int8: 64} {
		side := func(kind string) string {
			q := slices.Repeat([]byte{code, code, code + 1}, 86)[:256]
			for i := range q {
				switch {
				case kind == "sign" && i%3 == 0:
					q[i] ^= 0x80
				case kind == "zeros":
					q[i] = 0
				}
			}
			by := slices.Repeat([]byte{117}, 16) // 2^-10
			scales := dumptest.Tensor{Type: int(dtype.Float8E8M0), Format: dumptest.ND, Shape: []int64{4, 1, 2}, Data: by[:8]}
			if typ == dtype.Uint8 {
				scales.Shape, scales.Data = []int64{4, 2, 2}, by
			} else if typ == dtype.Int8 {
				scales = dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: []int64{4}, Data: dumptest.Floats([]float32{0x1p-10, 0x1p-10, 0x1p-10, 0x1p-10})}
			}
			dir := t.TempDir()
			raw := dumptest.Dump{OpName: "quant", Outputs: []dumptest.Tensor{{Type: int(typ), Format: dumptest.ND, Shape: []int64{4, 64}, Data: q}, scales}}.Bytes()
			if err := os.WriteFile(filepath.Join(dir, "DynamicMxQuant.quant.1.7.1614717261785536"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		for kind, want := range map[string]verdict.Verdict{"": verdict.Good, "sign": verdict.Bad, "zeros": verdict.Bad} {
			s, err := engine.Job{Left: side(kind), Right: side("")}.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			j, err := look.Judge(t.Context(), s, out.Table, verdict.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if j.Verdict != want {
				r := &out.Table.Rows[0]
				t.Errorf("%v, %q: %v, expected %v; %v %g apart", typ, kind, j.Verdict, want, r.Left.DType, r.Result().Facts.Distance)
			}
		}
	}
}

// TestPackedAlone: of numbers that stand several to a byte or word, each is compared as a number, with its sign, also where the scales of a
// side are damaged.
func TestPackedAlone(t *testing.T) {
	for typ, width := range map[dtype.Type]int64{dtype.Uint8: 32, dtype.Int32: 8} {
		side := func(wrong bool, scales ...int64) string {
			q := slices.Repeat([]byte{0x22}, 128)
			if wrong { // the first number of a third of the bytes has the other sign: -2 is 14, or as a float4 10
				for i := range q {
					if i%3 == 0 {
						q[i] = map[dtype.Type]byte{dtype.Uint8: 0x2a, dtype.Int32: 0x2e}[typ]
					}
				}
			}
			by := dumptest.Tensor{Type: int(dtype.Float8E8M0), Format: dumptest.ND, Shape: scales, Data: slices.Repeat([]byte{125}, 8)}
			if typ == dtype.Int32 {
				by = dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: scales, Data: dumptest.Floats([]float32{1, 1, 1, 1})}
			}
			dir := t.TempDir()
			raw := dumptest.Dump{OpName: "quant", Outputs: []dumptest.Tensor{{Type: int(typ), Format: dumptest.ND, Shape: []int64{4, width}, Data: q}, by}}.Bytes()
			if err := os.WriteFile(filepath.Join(dir, "DynamicMxQuant.quant.1.7.1614717261785536"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		whole := map[dtype.Type][]int64{dtype.Uint8: {4, 1, 2}, dtype.Int32: {4}}[typ]
		for _, wrong := range []bool{false, true} {
			s, err := engine.Job{Left: side(wrong, whole...), Right: side(false, append([]int64{1 << 40}, whole[1:]...)...)}.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			if wrong {
				want = math.Sqrt(43.0 / 256 * 4) // each is off by twice its size
			}
			if r := &out.Table.Rows[0]; !r.Compared || r.Result().Facts.N != 256 || math.Abs(r.Result().Facts.Distance-want) > 1e-6 {
				t.Errorf("%v, wrong %t: compared %t, %d numbers %g apart, expected %g", typ, wrong, r.Compared, r.Result().Facts.N, r.Result().Facts.Distance, want)
			}
		}
	}
}
