package pattern

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"testing"

	"precision/dump/dtype"
)

// fault puts a known fault on right data.
type fault struct {
	name  string
	kinds []Kind // the first finding has to be of one of them
	also  []Kind // may be told as well
	data  []string
	skip  func(s *sample) bool
	do    func(s *sample)
	check func(s *sample, f Finding) error
}

func near(what string, got, want, within float64) error {
	if math.Abs(got-want) > within {
		return fmt.Errorf("%s is %g, want %g", what, got, want)
	}
	return nil
}

func not4(s *sample) bool   { return len(s.Shape) != 4 }
func coarse(s *sample) bool { return s.noise == "1e-2" }

var faults = []fault{
	{name: "scale 2", kinds: []Kind{Scale}, also: []Kind{Affine},
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return 2 * x }) },
		check: func(_ *sample, f Finding) error { return near("factor", f.Args.(Linear).Factor, 2, 0.01) }},
	{name: "scale 1.03", kinds: []Kind{Scale}, also: []Kind{Affine, RowScale, SliceScale}, skip: coarse,
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return 1.03 * x }) },
		check: func(_ *sample, f Finding) error { return near("factor", f.Args.(Linear).Factor, 1.03, 0.002) }},
	{name: "sign", kinds: []Kind{Scale}, also: []Kind{Affine},
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return -x }) },
		check: func(_ *sample, f Finding) error { return near("factor", f.Args.(Linear).Factor, -1, 0.01) }},
	{name: "offset", kinds: []Kind{Offset}, also: []Kind{Affine}, data: []string{"normal", "exp"},
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return x + 0.75 }) },
		check: func(_ *sample, f Finding) error { return near("offset", f.Args.(Linear).Offset, 0.75, 0.02) }},
	{name: "affine", kinds: []Kind{Affine}, data: []string{"normal", "exp"},
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return 1.5*x - 2 }) },
		check: func(_ *sample, f Finding) error { return near("factor", f.Args.(Linear).Factor, 1.5, 0.02) }},
	{name: "last axes swapped", kinds: []Kind{AxesPermuted, Reversed}, skip: func(s *sample) bool { return len(s.Shape) < 2 },
		do: func(s *sample) {
			k := len(s.Shape)
			a, b := s.Shape[k-2], s.Shape[k-1]
			s.move(func(i int64) int64 { m := i % (a * b); return i - m + m%a*b + m/a })
		},
		check: func(s *sample, f Finding) error {
			k := len(s.Shape)
			if p := f.Args.(Permutation).Perm; p[k-1] != k-2 || p[k-2] != k-1 {
				return fmt.Errorf("perm %v", p)
			}
			return nil
		}},
	{name: "NHWC read as NCHW", kinds: []Kind{AxesPermuted}, skip: not4,
		do: func(s *sample) { l := newLook(s.Case, int64(len(s.Got))); s.move(l.transposed([]int{0, 2, 3, 1}).from) },
		check: func(_ *sample, f Finding) error {
			if o := f.Args.(Permutation).Order; o != "NHWC" {
				return fmt.Errorf("order %q", o)
			}
			return nil
		}},
	{name: "NC1HWC0 read as NCHW", kinds: []Kind{LayoutMisread}, also: []Kind{SlicesPermuted}, skip: func(s *sample) bool { return not4(s) || s.Shape[1] < 32 },
		do: func(s *sample) {
			l := newLook(s.Case, int64(len(s.Got)))
			d := l.deviceLayouts()["NC1HWC0"]
			s.move(func(i int64) int64 { return d.element(l, i) })
		},
		check: func(_ *sample, f Finding) error {
			if m := f.Args.(Misread); m.Layout != "NC1HWC0" || !m.Raw {
				return fmt.Errorf("%+v", m)
			}
			return nil
		}},
	{name: "ND read as FRACTAL_NZ", kinds: []Kind{LayoutMisread}, skip: func(s *sample) bool { return len(s.Shape) != 2 || s.Shape[1]%16 != 0 || s.Shape[0]%16 != 0 },
		do: func(s *sample) {
			l := newLook(s.Case, int64(len(s.Got)))
			d := l.deviceLayouts()["FRACTAL_NZ"]
			s.move(func(i int64) int64 { return d.place(l, i) })
		}},
	{name: "blocks transposed", kinds: []Kind{BlocksTransposed}, skip: func(s *sample) bool { return len(s.Shape) != 2 },
		do: func(s *sample) {
			rows, columns := s.Shape[0], s.Shape[1]
			s.move(func(i int64) int64 {
				r, c := i/columns, i%columns
				r, c = r/16*16+c%16, c/16*16+r%16
				if r >= rows || c >= columns {
					return -1
				}
				return r*columns + c
			})
		}},
	{name: "rolled rows", kinds: []Kind{Shifted}, also: []Kind{SlicesPermuted, BlocksTransposed}, skip: func(s *sample) bool { return len(s.Shape) < 2 },
		do: func(s *sample) {
			k := len(s.Shape)
			d, w := s.Shape[k-2], s.Shape[k-1]
			s.move(func(i int64) int64 { r := i / w % d; return i + ((r-3+d)%d-r)*w })
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Shift); a.By != 3 || a.Axis != len(s.Shape)-2 || !a.Cyclic {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "mirrored columns", kinds: []Kind{Reversed}, also: []Kind{SlicesPermuted}, skip: func(s *sample) bool { return len(s.Shape) < 2 },
		do: func(s *sample) {
			w := s.Shape[len(s.Shape)-1]
			s.move(func(i int64) int64 { return i - i%w + w - 1 - i%w })
		}},
	{name: "two channels swapped", kinds: []Kind{SlicesPermuted}, also: []Kind{SliceScale, Lanes}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 4 },
		do: func(s *sample) {
			v := slices.Clone(s.Got)
			for i := range v {
				c := s.at(i)[1]
				step := len(v) / int(s.Shape[0]*s.Shape[1])
				if c == 1 {
					s.Got[i] = v[i+2*step]
				} else if c == 3 {
					s.Got[i] = v[i-2*step]
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			a := f.Args.(Exchange)
			if a.Axis != 1 || a.Moved != 2 || !slices.Equal(a.Pairs, [][2]int64{{1, 3}, {3, 1}}) {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "lanes permuted", kinds: []Kind{SlicesPermuted}, also: []Kind{Shifted}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1]%16 != 0 || s.Shape[1] < 32 },
		do: func(s *sample) {
			v := slices.Clone(s.Got)
			step := int64(len(v)) / (s.Shape[0] * s.Shape[1])
			for i := range v {
				c := s.at(i)[1]
				t := c/16*16 + (c%16*5)%16
				s.Got[i] = v[int64(i)+(t-c)*step]
			}
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Exchange); a.Block != 16 || a.Axis != 1 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "channel tail zero", kinds: []Kind{Unwritten}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 32 },
		do: func(s *sample) {
			for i := range s.Got {
				if s.at(i)[1] >= s.Shape[1]-16 {
					s.Got[i] = 0
				}
			}
		},
		check: func(s *sample, f Finding) error {
			u := f.Args.(Unfilled)
			if u.Value != 0 || u.Region.Flat || u.Region.From[1] != s.Shape[1]-16 || !u.Region.Tail || u.Region.Aligned != (s.Shape[1]%16 == 0) {
				return fmt.Errorf("%+v", u)
			}
			return nil
		}},
	{name: "block holds a constant", kinds: []Kind{Unwritten}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 48 },
		do: func(s *sample) {
			for i := range s.Got {
				if c := s.at(i)[1]; c >= 16 && c < 32 {
					s.Got[i] = -5
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			u := f.Args.(Unfilled)
			if u.Value != -5 || u.Region.From[1] != 16 || u.Region.To[1] != 32 || !u.Region.Aligned || u.Region.Tail {
				return fmt.Errorf("%+v", u)
			}
			return nil
		}},
	{name: "middle third zero", kinds: []Kind{Unwritten},
		do: func(s *sample) { clear(s.Got[len(s.Got)/3 : 2*len(s.Got)/3]) },
		check: func(s *sample, f Finding) error {
			u := f.Args.(Unfilled)
			if n := len(s.Got); math.Abs(float64(u.Region.First)-float64(n)/3) > 20 || math.Abs(float64(u.Region.Last)-float64(n)*2/3) > 20 {
				return fmt.Errorf("%+v of %d", u, n)
			}
			return nil
		}},
	{name: "all zero", kinds: []Kind{Unwritten}, do: func(s *sample) { clear(s.Got) },
		check: func(_ *sample, f Finding) error {
			if !f.Args.(Unfilled).Region.Whole() {
				return fmt.Errorf("%+v", f.Args)
			}
			return nil
		}},
	{name: "stale third", kinds: []Kind{Stale}, also: []Kind{RegionOnly},
		do: func(s *sample) {
			n := len(s.Got)
			old := newSample([]int64{int64(n/3 + 77)}, s.DType, "normal", "none", 99).Got
			copy(s.Got[n/3:2*n/3], old)
			first := newSample([]int64{int64(n)}, s.DType, "normal", "none", 98).Got
			s.Other = func(yield func(Tensor) bool) {
				_ = yield(Tensor{Name: "first", Values: first}) && yield(Tensor{Name: "old", Values: old}) && yield(Tensor{Name: "first again", Values: first})
			}
		},
		check: func(s *sample, f Finding) error {
			if c := f.Args.(Copy); c.Name != "old" || c.By != -int64(len(s.Got)/3) {
				return fmt.Errorf("%+v", c)
			}
			return nil
		}},
	{name: "another tensor as a whole", kinds: []Kind{Stale}, also: []Kind{RegionOnly},
		do: func(s *sample) {
			old := newSample(s.Shape, s.DType, "normal", "none", 97).Got
			copy(s.Got, old)
			s.Other = func(yield func(Tensor) bool) { yield(Tensor{Name: "old", Values: old}) }
		},
		check: func(_ *sample, f Finding) error {
			if c := f.Args.(Copy); c.Name != "old" || c.By != 0 {
				return fmt.Errorf("%+v", c)
			}
			return nil
		}},
	{name: "a tile twice", kinds: []Kind{Repeated}, also: []Kind{RegionOnly}, data: []string{"normal", "exp"}, skip: func(s *sample) bool { return len(s.Got) < 2000 },
		do: func(s *sample) { copy(s.Got[1000:1400], s.Got[300:700]) },
		check: func(_ *sample, f Finding) error {
			if c := f.Args.(Copy); c.By != -700 {
				return fmt.Errorf("%+v", c)
			}
			return nil
		}},
	{name: "relu missing", kinds: []Kind{ActivationMissing}, also: []Kind{Slope},
		data: []string{"normal"},
		do: func(s *sample) {
			for i, w := range s.Want {
				s.Want[i] = max(0, w)
			}
		},
		check: func(_ *sample, f Finding) error {
			if n := f.Args.(Activation).Name; n != "relu" {
				return fmt.Errorf("%q", n)
			}
			return nil
		}},
	{name: "relu added", kinds: []Kind{ActivationAdded, Clipped}, also: []Kind{Clipped, Slope}, data: []string{"normal"},
		do: func(s *sample) { s.change(func(_ int, x float64) float64 { return max(0, x) }) }},
	{name: "tanh missing", kinds: []Kind{ActivationMissing}, data: []string{"normal"},
		do: func(s *sample) {
			for i, w := range s.Want {
				s.Want[i] = math.Tanh(w)
				if s.Bound != nil {
					s.Bound[i] *= 1.2
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			if n := f.Args.(Activation).Name; n != "tanh" {
				return fmt.Errorf("%q", n)
			}
			return nil
		}},
	{name: "slope 0.2 for 0.1", kinds: []Kind{Slope}, data: []string{"normal"}, skip: coarse,
		do: func(s *sample) {
			for i, w := range s.Want {
				if w < 0 {
					s.Want[i] *= 0.1
				}
			}
			s.change(func(_ int, x float64) float64 {
				if x < 0 {
					x *= 0.2
				}
				return x
			})
		},
		check: func(_ *sample, f Finding) error { return near("factor", f.Args.(Slopes).Negative, 2, 0.05) }},
	{name: "clipped", kinds: []Kind{Clipped}, data: []string{"normal", "exp"}, skip: func(s *sample) bool { return len(s.Got) < 300 },
		do:    func(s *sample) { s.change(func(_ int, x float64) float64 { return min(max(x, -1), 1) }) },
		check: func(_ *sample, f Finding) error { return near("high", f.Args.(Clip).High, 1, 0) }},
	{name: "sign bit", kinds: []Kind{BitFlip}, skip: coarse,
		do: func(s *sample) { flip(s, len(s.Got)/2, s.num.bits-1) },
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Flip); a.Bit != s.num.bits-1 || a.Part != "sign" || f.Elements != 1 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "exponent bits", kinds: []Kind{BitFlip}, skip: func(s *sample) bool { return coarse(s) || len(s.Got) < 1000 },
		do: func(s *sample) {
			flip(s, len(s.Got)/3, s.num.digits+1)
			flip(s, len(s.Got)/2, s.num.digits+1)
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Flip); a.Bit != s.num.digits+1 || a.Part != "exponent" || f.Elements != 2 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "a bit above the tail of noise", kinds: []Kind{BitFlip}, data: []string{"normal"}, skip: func(s *sample) bool { return s.noise != "1e-3" || len(s.Got) < 3000 },
		do: func(s *sample) {
			v := slices.Clone(s.exact)
			for i := 7; i < len(v); i += len(v) / 40 { // as sums of unlike terms have
				v[i] += 0.03
			}
			s.write(v)
			flip(s, len(s.Got)/2, s.num.digits+1)
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Flip); a.Bit != s.num.digits+1 || a.Elements != 1 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "one NaN", kinds: []Kind{NaN}, also: []Kind{Noise}, do: func(s *sample) { s.Got[len(s.Got)/2] = math.NaN() },
		check: func(s *sample, f Finding) error {
			if a := f.Args.(NonFinite); a.NaN != 1 || !slices.Equal(a.First, s.at(len(s.Got)/2)) {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "some Inf", kinds: []Kind{Inf}, also: []Kind{Noise}, do: func(s *sample) { s.Got[3], s.Got[9] = math.Inf(1), math.Inf(-1) }},
	{name: "saturated", kinds: []Kind{Saturated}, also: []Kind{Noise},
		do: func(s *sample) {
			for i := 0; i < len(s.Got); i += 50 {
				s.Want[i], s.Got[i] = s.num.largest()*2, s.num.largest()
			}
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Saturation); a.AtMax != int64(len(s.Got)+49)/50 || a.Limit != s.num.largest() {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "truncated", kinds: []Kind{RoundingMode}, also: []Kind{Scale, Affine}, data: []string{"normal", "exp"}, skip: func(s *sample) bool { return s.noise != "oracle" || len(s.Got) < 100 },
		do: func(s *sample) {
			s.change(func(_ int, x float64) float64 { u := s.num.ulp(x); return math.Trunc(x/u) * u })
		},
		check: func(_ *sample, f Finding) error { return near("mean", f.Args.(Rounding).Mean, 0.5, 0.1) }},
	{name: "through bfloat16", kinds: []Kind{CoarseType}, skip: func(s *sample) bool { return s.num.digits < 11 || s.noise[0] == '1' || len(s.Got) < 1000 },
		do: func(s *sample) { s.change(func(_ int, x float64) float64 { return numbers[dtype.BFloat16].round(x) }) },
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Coarse); a.Digits != 8 || a.Type != "bfloat16" {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "bias dropped", kinds: []Kind{SliceOffset}, also: []Kind{SliceScale}, data: []string{"normal"}, skip: func(s *sample) bool { return not4(s) || coarse(s) },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 { return x - bias(s.at(i)[1]) })
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Slices); a.Axis != 1 || int64(a.Off) < s.Shape[1]-2 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "bias dropped before relu", kinds: []Kind{SliceOffset}, data: []string{"normal"}, skip: func(s *sample) bool { return not4(s) || coarse(s) },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 { return max(0, x-bias(s.at(i)[1])) })
			for i, w := range s.Want {
				s.Want[i] = max(0, w)
			}
		},
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Slices); a.Axis != 1 || int64(a.Off) < s.Shape[1]/2 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "channel factors", kinds: []Kind{SliceScale}, skip: func(s *sample) bool { return not4(s) || coarse(s) },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 { return x * (1 + bias(s.at(i)[1])) })
		}},
	{name: "rows too small", kinds: []Kind{RowScale, SliceScale}, also: []Kind{SliceScale, RowScale}, data: []string{"exp"}, skip: func(s *sample) bool { return len(s.Shape) != 2 || coarse(s) },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 { return x * (0.8 + 0.1*math.Sin(float64(s.at(i)[0]))) })
		}},
	{name: "border", kinds: []Kind{Border}, also: []Kind{RegionOnly}, skip: func(s *sample) bool { return not4(s) || s.Shape[2] < 12 || coarse(s) },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 {
				c := s.at(i)
				if c[2] == 0 || c[3] == 0 || c[2] == s.Shape[2]-1 || c[3] == s.Shape[3]-1 {
					x += s.rng.NormFloat64()
				}
				return x
			})
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Margin); a.Width != 1 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "lanes wrong", kinds: []Kind{Lanes}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 64 },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 {
				if l := s.at(i)[1] % 16; l == 3 || l == 12 {
					x = 2 * s.rng.NormFloat64()
				}
				return x
			})
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(LaneSet); !slices.Equal(a.Lanes, []int64{3, 12}) {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "one channel wrong", kinds: []Kind{RegionOnly}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 8 },
		do: func(s *sample) {
			s.change(func(i int, x float64) float64 {
				if s.at(i)[1] == 5 {
					x = 2 * s.rng.NormFloat64()
				}
				return x
			})
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Region); a.From[1] != 5 || a.To[1] != 6 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "one in 300 random", kinds: []Kind{RandomElements}, skip: func(s *sample) bool { return len(s.Got) < 3000 },
		do: func(s *sample) {
			for range len(s.Got) / 300 {
				s.Got[s.rng.IntN(len(s.Got))] = s.num.round(3 * s.rng.NormFloat64())
			}
		}},
	{name: "sums in a narrower type", kinds: []Kind{LowPrecision, CoarseType}, skip: func(s *sample) bool { return s.noise != "oracle" },
		do: func(s *sample) {
			s.change(func(_ int, x float64) float64 { return x + 8*s.num.unit()*s.rng.NormFloat64()*max(1, math.Abs(x)) })
		}},
	{name: "off by more than half precision", kinds: []Kind{Unexplained, CoarseType}, skip: func(s *sample) bool { return s.noise != "oracle" },
		do: func(s *sample) {
			for i := range s.Half {
				s.Half[i] = 2 * s.Bound[i]
			}
			s.change(func(_ int, x float64) float64 { return x + 8*s.num.unit()*s.rng.NormFloat64()*max(1, math.Abs(x)) })
		}},
	{name: "the input as it is", kinds: []Kind{PassedThrough}, also: []Kind{RegionOnly}, data: []string{"normal"},
		do: func(s *sample) {
			in := slices.Clone(s.Got)
			for i, w := range s.Want {
				s.Want[i] = math.Exp(w/2) - 1
			}
			s.Other = func(yield func(Tensor) bool) { yield(Tensor{Name: "0", Values: in, Input: true}) }
		},
		check: func(_ *sample, f Finding) error {
			if c := f.Args.(Copy); c.Name != "0" || !c.Own || c.By != 0 {
				return fmt.Errorf("%+v", c)
			}
			return nil
		}},
	{name: "read as the other half precision", kinds: []Kind{BitsMisread}, also: []Kind{NaN, Inf}, skip: func(s *sample) bool { return s.num.bits != 16 || s.noise == "1e-2" },
		do: func(s *sample) { reread(s, other16(s.DType), false) },
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Reading); a.Of != other16(s.DType).String() || a.As != s.DType.String() || a.Swapped {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "bytes in the other order", kinds: []Kind{BitsMisread}, also: []Kind{NaN, Inf}, skip: coarse,
		do: func(s *sample) { reread(s, s.DType, true) },
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Reading); a.Of != s.DType.String() || !a.Swapped {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "float32 read as halves", kinds: []Kind{BitsMisread}, also: []Kind{NaN, Inf}, skip: func(s *sample) bool { return s.num.bits != 16 },
		do: func(s *sample) {
			wide := numbers[dtype.Float32]
			for i := range s.Got {
				b, _ := wide.encode(wide.round(s.exact[i/2]))
				s.Got[i] = s.num.decode(b >> (16 * (i % 2)) & 0xffff)
			}
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Reading); a.Of != "float32" {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "halves read as float32", kinds: []Kind{BitsMisread}, also: []Kind{NaN, Inf}, skip: func(s *sample) bool { return s.DType != dtype.Float32 || coarse(s) },
		do: func(s *sample) {
			half := numbers[dtype.BFloat16]
			if s.Shape[0]%2 == 0 {
				half = numbers[dtype.Float16]
			}
			v := make([]float64, len(s.Got))
			for i := range v { // behind the numbers lies something else
				v[i] = s.rng.NormFloat64()
				if 2*i+1 < len(v) {
					low, _ := half.encode(half.round(s.exact[2*i]))
					high, _ := half.encode(half.round(s.exact[2*i+1]))
					v[i] = s.num.decode(low | high<<16)
				}
			}
			for i := range s.Bound {
				s.Bound[i] += half.unit() * math.Abs(s.Want[i])
			}
			s.Got = v
		},
		check: func(s *sample, f Finding) error {
			want := "bfloat16"
			if s.Shape[0]%2 == 0 {
				want = "float16"
			}
			if a := f.Args.(Reading); a.Of != want {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "stride ignored", kinds: []Kind{StrideIgnored}, skip: func(s *sample) bool { return len(s.Got)/len(s.Shape) < 1000 },
		do: func(s *sample) { stride(s, len(s.Shape)-1, 2) },
		check: func(s *sample, f Finding) error {
			if a := f.Args.(Stride); a.By != 2 || !slices.Equal(a.Axes, []int{len(s.Shape) - 1}) {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "stride of an image ignored", kinds: []Kind{StrideIgnored}, skip: func(s *sample) bool { return not4(s) || s.Shape[2] < 12 },
		do: func(s *sample) { stride(s, 2, 2); s.exact = s.Got; stride(s, 3, 2) },
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Stride); a.By != 2 || !slices.Equal(a.Axes, []int{2, 3}) {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "mask inverted", kinds: []Kind{InvertedMask}, data: []string{"normal", "exp"},
		do: func(s *sample) {
			for i, w := range s.Want {
				if mask := mix(uint64(i))%3 == 0; mask {
					s.Want[i] = 0
				} else {
					s.Got[i], s.Want[i] = 0, w
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Masked); a.Fill != 0 || a.Added || math.Abs(a.Share-1.0/3) > 0.1 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "added mask inverted", kinds: []Kind{InvertedMask}, data: []string{"normal"},
		do: func(s *sample) {
			for i := range s.Want {
				if mask := mix(uint64(i))%4 == 0; mask {
					s.Want[i] -= 10000
				} else {
					s.Got[i] = s.num.round(s.Got[i] - 10000)
				}
				if s.Bound != nil {
					s.Bound[i] += 2 * s.num.unit() * 10000
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Masked); !a.Added || math.Abs(a.Fill+10000) > 50 {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "index off by one", kinds: []Kind{Shifted}, also: []Kind{SlicesPermuted}, skip: func(s *sample) bool { return len(s.Shape) < 2 || s.Shape[1] < 8 },
		do: func(s *sample) {
			step := int64(len(s.Got)) / s.Shape[0] / s.Shape[1]
			fresh := newSample(s.Shape, s.DType, "normal", "none", 96).Got
			s.move(func(i int64) int64 { return (i + step) % int64(len(s.Got)) })
			for i := range s.Got {
				if s.at(i)[1] == s.Shape[1]-1 {
					s.Got[i] = fresh[i]
				}
			}
		},
		check: func(_ *sample, f Finding) error {
			if a := f.Args.(Shift); a.By != -1 || a.Axis != 1 || a.Cyclic {
				return fmt.Errorf("%+v", a)
			}
			return nil
		}},
	{name: "other numbers", kinds: []Kind{Unexplained},
		do: func(s *sample) { s.change(func(_ int, x float64) float64 { return s.rng.NormFloat64() }) }},
}

// other16 is the half precision that t is not.
func other16(t dtype.Type) dtype.Type {
	if t == dtype.Float16 {
		return dtype.BFloat16
	}
	return dtype.Float16
}

// reread records the bits of numbers of a type as those of the sample's own, or its own with their bytes reversed.
func reread(s *sample, of dtype.Type, swapped bool) {
	n := numbers[of]
	for i, x := range s.exact {
		b, _ := n.encode(n.round(x))
		if swapped {
			b = bits.ReverseBytes64(b) >> (64 - n.bits)
		}
		s.Got[i] = s.num.decode(b)
		if s.Bound != nil {
			s.Bound[i] += n.unit() * math.Abs(s.Want[i])
		}
	}
}

// stride makes what is expected every by-th of what was recorded along an axis; what lies between is new.
func stride(s *sample, axis int, by int64) {
	step := int64(1)
	for _, d := range s.Shape[axis+1:] {
		step *= d
	}
	v := values("normal", len(s.Got), s.rng)
	for i := range v {
		if c := s.at(i)[axis]; c%by == 0 {
			v[i] = s.exact[int64(i)-(c-c/by)*step]
		}
	}
	s.write(v)
}

// bias of a channel.
func bias(c int64) float64 { return 0.3 * math.Sin(float64(3*c+1)) }

// flip turns a bit of the first element from i on that is neither 0 nor small.
func flip(s *sample, i, bit int) {
	for ; ; i++ {
		if math.Abs(s.Got[i]) < 0.5 || math.Abs(s.Got[i]) > 3 {
			continue
		}
		b, ok := s.num.encode(s.Got[i])
		if v := s.num.decode(b ^ 1<<bit); ok && v-v == 0 {
			s.Got[i] = v
			return
		}
	}
}

var testShapes = [][]int64{{1, 32, 14, 14}, {2, 40, 13, 13}, {64, 96}, {37, 80}, {2, 4, 40, 40}, {3000}, {200}}

// Every fault is told by its kind and numbers, whatever the shape, the type and the noise; of all of them one in a thousand may be no larger
// than the noise that it is drawn beside.
func TestInjected(t *testing.T) {
	told, all := 0, 0
	whole := os.Getenv("SEEDS") != ""
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			turn := 0
			for number, shape := range testShapes {
				for _, typ := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32} {
					for _, noise := range []string{"oracle", "none", "1e-3", "1e-2"} {
						for _, data := range []string{"normal", "relu", "exp"} {
							if f.data != nil && !slices.Contains(f.data, data) || f.skip != nil && f.skip(outline(shape, typ, noise)) {
								continue
							}
							if turn++; mix(uint64(turn))%27 != 0 && !whole { // all of them take long and tell little more
								continue
							}
							s := newSample(shape, typ, data, noise, uint64(number))
							f.do(s)
							all++
							switch err := f.verify(s); {
							case err == nil:
								told++
							case whole:
								t.Logf("%v %s %s noise %s: %v", shape, typ, data, noise, err)
							default:
								t.Errorf("%v %s %s noise %s: %v", shape, typ, data, noise, err)
							}
						}
					}
				}
			}
		})
	}
	if t.Logf("%d of %d told", told, all); 1000*(all-told) > all {
		t.Errorf("%d of %d are not told", all-told, all)
	}
}

func (f fault) verify(s *sample) error {
	found, err := Find(s.Case)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("nothing found")
	}
	if !slices.Contains(f.kinds, found[0].Kind) {
		return fmt.Errorf("found %s", list(found))
	}
	for _, other := range found[1:] {
		if !slices.Contains(f.kinds, other.Kind) && !slices.Contains(f.also, other.Kind) {
			return fmt.Errorf("also found %s beside %s", list(found[1:]), list(found[:1]))
		}
	}
	if f.check != nil && found[0].Kind == f.kinds[0] {
		return f.check(s, found[0])
	}
	return nil
}

func list(found []Finding) string {
	text := ""
	for _, f := range found {
		text += fmt.Sprintf(" %s %.5f %d", f.Kind, f.Explained, f.Elements)
	}
	return text
}
