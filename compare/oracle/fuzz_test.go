package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// script is a sequence of changes, drawn from the bytes of a fuzz target. After its
// end it gives zeros, and no changes.
type script struct{ rest []byte }

func (s *script) next() int {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return int(b)
}

// steps calls change as often as there are bytes for it, eight times at most.
func (s *script) steps(change func(what int)) {
	for range 8 {
		if len(s.rest) == 0 {
			return
		}
		change(s.next())
	}
}

// pick is an element of a list that is not empty.
func pick[T any](s *script, list []T) T { return list[s.next()%len(list)] }

// number is mostly a small one.
func (s *script) number() int64 {
	switch b := s.next(); b {
	case 255:
		return 1<<63 - 1
	case 254:
		return -1 << 63
	case 253:
		return 1<<31 + int64(s.next())
	case 252:
		return 1<<62 | 1
	default:
		return int64(b%32) - 6
	}
}

// dims changes a shape.
func (s *script) dims(shape []int64) []int64 {
	shape = slices.Clone(shape)
	switch at := s.next(); {
	case at%5 == 3 || len(shape) == 0:
		return append(shape, s.number())
	case at%5 == 4:
		return slices.Delete(shape, at%len(shape), at%len(shape)+1)
	default:
		shape[at%len(shape)] = s.number()
		return shape
	}
}

// few counts the elements of a shape, if there are not more than limit and no dim is
// negative.
func few(shape []int64, limit int64) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || d > limit {
			return 0, false
		}
		if n *= d; n > limit {
			return 0, false
		}
	}
	return n, true
}

// refilled repeats data until it has as many bytes as elements of a shape take, if
// those are few; otherwise it stays.
func refilled(data []byte, shape []int64, bits int) []byte {
	n, ok := few(shape, 1<<16)
	if !ok {
		return data
	}
	out := make([]byte, (n*int64(bits)+7)/8)
	for i := 0; i < len(out) && len(data) > 0; {
		i += copy(out[i:], data)
	}
	return out
}

// allocated is how many bytes were allocated since the start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// most is what judging an operator of a few numbers may allocate, whatever its attributes
// and shapes claim.
const most = 128 << 20

// attribute is a value that a graph might have for an attribute.
func (s *script) attribute(old any) any {
	list, ok := old.([]any)
	switch {
	case ok && len(list) > 0 && s.next()%4 > 0:
		list = slices.Clone(list)
		list[s.next()%len(list)] = s.scalar()
		return list
	case s.next()%8 == 0:
		list = make([]any, s.next()%6)
		for i := range list {
			list[i] = json.Number(fmt.Sprint(s.number()))
		}
		return list
	}
	return s.scalar()
}

func (s *script) scalar() any {
	switch s.next() % 8 {
	case 0:
		return pick(s, []any{"", "SAME", "VALID", "NHWC", "NCHW", "HWCN", "sum", "reflect", "ij,jk->ik", true, false})
	case 1:
		return json.Number(pick(s, []string{"0.5", "-0.25", "1e300", "-1e-300", "3.0"}))
	default:
		return json.Number(fmt.Sprint(s.number()))
	}
}

// FuzzOperator changes recorded operators in their attributes, shapes, types, layouts
// and numbers: nothing crashes, hangs or takes memory by the word of an attribute,
// what is unknown has a reason, and what some elements prove wrong all of them do.
func FuzzOperator(f *testing.F) {
	cases := recordedCases(f)
	for i := range cases {
		f.Add(uint16(i), []byte{})
	}
	types := make([]string, len(cases))
	for i, c := range cases {
		types[i] = c.Type
	}
	f.Fuzz(func(t *testing.T, which uint16, changes []byte) {
		c := cases[int(which)%len(cases)].clone()
		keys := slices.Sorted(maps.Keys(c.Attrs))
		untouched := len(changes) == 0
		s := &script{changes}
		var spoil []func(d *dumptest.Dump)
		s.steps(func(what int) {
			switch {
			case what < 100 && len(keys) > 0:
				key := pick(s, keys)
				c.Attrs[key] = s.attribute(c.Attrs[key])
			case what < 108 && len(keys) > 0:
				delete(c.Attrs, pick(s, keys))
			case what < 112:
				c.Type = pick(s, types)
			default:
				// Changes of the dump are decided now and made when it is written.
				own := &script{slices.Clone(s.rest[:min(12, len(s.rest))])}
				s.rest = s.rest[len(own.rest):]
				spoil = append(spoil, func(d *dumptest.Dump) { own.spoil(d, what) })
			}
		})
		op := c.op(t)
		r := c.dump(t, func(d *dumptest.Dump) {
			for _, change := range spoil {
				change(d)
			}
		})
		before := allocated()
		some, all := CheckOp(op, r, Settings{}), CheckOp(op, r, Settings{Full: true})
		if n := allocated() - before; n > most {
			t.Errorf("%v allocates %d MB", c, n>>20)
		}
		if len(some) != len(all) {
			t.Fatalf("%v: %d findings, %d of all elements", c, len(some), len(all))
		}
		for i := range all {
			for _, x := range []Finding{some[i], all[i]} {
				if x.Verdict == Unknown && len(x.Reasons) == 0 {
					t.Errorf("%v: output %d is unknown without a reason", c, x.Index)
				}
				if untouched && x.Verdict != OK {
					t.Errorf("%v: output %d is %v: %v", c, x.Index, x.Verdict, x.Reasons)
				}
			}
			if some[i].Verdict == Wrong && all[i].Verdict != Wrong {
				t.Errorf("%v: output %d is wrong by some elements and %v by all: %v, %v", c, some[i].Index, all[i].Verdict, some[i].Reasons, all[i].Reasons)
			}
		}
	})
}

// spoil makes one change of what was recorded.
func (s *script) spoil(d *dumptest.Dump, what int) {
	list := &d.Inputs
	if what%4 == 3 || len(d.Inputs) == 0 {
		list = &d.Outputs
	}
	if len(*list) == 0 {
		return
	}
	at := s.next() % len(*list)
	x := &(*list)[at]
	switch s.next() % 12 {
	case 0:
		*list = slices.Delete(slices.Clone(*list), at, at+1)
	case 1:
		*list = append(slices.Clone(*list), *x)
	case 2:
		other := &(*list)[s.next()%len(*list)]
		*x, *other = *other, *x
	case 3:
		x.Format = s.next() % 50
	case 4:
		x.Type = s.next() % 40
	case 5:
		x.Origin = s.dims(x.Origin)
	case 6:
		x.Data = x.Data[:s.next()%(len(x.Data)+1)]
	case 7, 8:
		bits := 8
		if n := count(x.Shape); n > 0 {
			bits = 8 * len(x.Data) / int(n)
		}
		x.Shape = s.dims(x.Shape)
		if s.next()%2 > 0 {
			x.Origin = x.Shape
		}
		x.Data = refilled(x.Data, x.Shape, bits)
	default:
		x.Data = slices.Clone(x.Data)
		for range 1 + s.next()%4 {
			if len(x.Data) > 0 {
				x.Data[(s.next()<<8|s.next())%len(x.Data)] = byte(s.next())
			}
		}
	}
}

// copyValues are values that can be changed without changing others.
func copyValues(list []caseValue) []caseValue {
	out := slices.Clone(list)
	for i := range out {
		out[i] = copyValue(out[i])
	}
	return out
}

func copyValue(v caseValue) caseValue {
	if v.Tensor != nil {
		x := *v.Tensor
		v.Tensor = &x
	}
	if v.List != nil {
		x := copyValues(*v.List)
		v.List = &x
	}
	return v
}

// valuesIn appends pointers to the values of a list, and of the lists in it.
func valuesIn(to []*caseValue, list []caseValue) []*caseValue {
	for i := range list {
		to = append(to, &list[i])
		if list[i].List != nil {
			to = valuesIn(to, *list[i].List)
		}
	}
	return to
}

// FuzzCall does to recorded calls of PyTorch what FuzzOperator does to operators.
func FuzzCall(f *testing.F) {
	cases := callCases(f)
	for i := range cases {
		f.Add(uint16(i), []byte{})
	}
	f.Fuzz(func(t *testing.T, which uint16, changes []byte) {
		c := cases[int(which)%len(cases)]
		untouched := len(changes) == 0
		c.Args, c.Outputs, c.Gradients, c.Back = copyValues(c.Args), copyValues(c.Outputs), copyValues(c.Gradients), copyValues(c.Back)
		c.Kwargs = maps.Clone(c.Kwargs)
		s := &script{changes}
		s.steps(func(what int) { s.call(&c, cases, what) })
		r := newRecorder(t)
		r.add(&c)
		list, text := r.write(), strings.Join(r.entries, ",")
		before := allocated()
		findings, _, err := RecordingJob{Recordings: list, Workers: 1}.Run(t.Context())
		if n := allocated() - before; n > most {
			t.Errorf("%s allocates %d MB:\n%s", c.Name, n>>20, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range findings {
			switch {
			case slices.ContainsFunc(x.Reasons, crash):
				t.Errorf("%s: %v\n%s", x.Op, x.Reasons, text)
			case x.Verdict == Unknown && len(x.Reasons) == 0:
				t.Errorf("%s: output %d is unknown without a reason\n%s", x.Op, x.Index, text)
			case untouched && x.Verdict != OK && !slices.ContainsFunc(x.Reasons, func(r result.Reason) bool { return r.Kind == NotRead }):
				t.Errorf("%s: output %d is %v: %v", x.Op, x.Index, x.Verdict, x.Reasons)
			}
		}
	})
}

// call makes one change of a recorded call.
func (s *script) call(c *callCase, cases []callCase, what int) {
	switch {
	case what < 8:
		c.Name = pick(s, cases).Name
		return
	case what < 20:
		c.Args = s.rearranged(c.Args)
		return
	case what < 28:
		c.Gradients = s.rearranged(c.Gradients)
		return
	case what < 60:
		keys := slices.Sorted(maps.Keys(c.Kwargs))
		for key := range cases[what*7%len(cases)].Kwargs {
			keys = append(keys, key)
		}
		keys = append(keys, "dim", "out", "dtype")
		slices.Sort(keys)
		if c.Kwargs == nil {
			c.Kwargs = map[string]caseValue{}
		}
		key := pick(s, keys)
		if s.next()%4 == 0 {
			delete(c.Kwargs, key)
		} else {
			c.Kwargs[key] = caseValue{Leaf: s.leaf()}
		}
		return
	}
	all := valuesIn(nil, c.Args)
	for _, list := range [][]caseValue{c.Outputs, c.Gradients, c.Back} {
		all = valuesIn(all, list)
	}
	keys := slices.Sorted(maps.Keys(c.Kwargs))
	named := make([]caseValue, len(keys))
	for i, key := range keys {
		named[i] = copyValue(c.Kwargs[key])
	}
	all = valuesIn(all, named)
	defer func() {
		for i, key := range keys {
			c.Kwargs[key] = named[i]
		}
	}()
	if len(all) == 0 {
		return
	}
	v := pick(s, all)
	switch {
	case v.Tensor == nil && v.List != nil:
		*v.List = s.rearranged(*v.List)
	case v.Tensor == nil:
		*v = caseValue{Leaf: s.leaf()}
	default:
		s.tensor(v)
	}
}

// rearranged leaves out a value, repeats one, or exchanges two.
func (s *script) rearranged(list []caseValue) []caseValue {
	if len(list) == 0 {
		return append(list, caseValue{Leaf: s.leaf()})
	}
	at := s.next() % len(list)
	switch s.next() % 4 {
	case 0:
		return slices.Delete(slices.Clone(list), at, at+1)
	case 1:
		return slices.Insert(slices.Clone(list), at, copyValue(list[at]))
	case 2:
		return slices.Insert(slices.Clone(list), at, caseValue{Leaf: s.leaf()})
	default:
		list = slices.Clone(list)
		other := s.next() % len(list)
		list[at], list[other] = list[other], list[at]
		return list
	}
}

// leaf is a value that is no tensor, as msprobe records it.
func (s *script) leaf() json.RawMessage {
	var text string
	switch s.next() % 8 {
	case 0:
		text = `{"type":"float","value":` + pick(s, []string{"0.5", "-1.5", "1e300", `"inf"`, `"nan"`, "0.0"}) + `}`
	case 1:
		text = fmt.Sprintf(`{"type":"bool","value":%v}`, s.next()%2 > 0)
	case 2:
		text = `{"type":"str","value":` + quote(pick(s, []string{"", "sum", "mean", "none", "bilinear", "bicubic", "reflect", "same", "valid", "tanh", "bij,bjk->bik", "ij", "BSND", "TND", "trunc"})) + `}`
	case 3:
		text = fmt.Sprintf(`{"type":"slice","value":[%d,%d,%d]}`, s.number(), s.number(), s.number())
	case 4:
		text = `{"type":"torch.dtype","value":` + quote(pick(s, []string{"torch.float32", "torch.int64", "torch.bool", "torch.float64", "torch.nothing"})) + `}`
	case 5:
		text = "null"
	default:
		text = fmt.Sprintf(`{"type":"int","value":%d}`, s.number())
	}
	return json.RawMessage(text)
}

// tensor changes the shape, the element type or some bytes of a tensor.
func (s *script) tensor(v *caseValue) {
	x := v.Tensor
	typ, _ := dtype.FromFramework(x.DType)
	data := []byte(x.Hex) // two digits a byte: what follows keeps pairs
	if len(data) == 0 {
		data = []byte("00")
	}
	switch s.next() % 5 {
	case 0:
		*v = caseValue{Leaf: s.leaf()}
	case 1:
		shape := s.dims(x.Shape)
		if _, ok := few(shape, 1<<14); ok { // the test writes it
			x.Shape, x.Hex = shape, string(refilled(data, shape, 2*typ.Bits()))
		}
	case 2:
		x.DType = pick(s, []string{"float32", "float16", "bfloat16", "float64", "int64", "int32", "int8", "uint8", "bool"})
		other, _ := dtype.FromFramework(x.DType)
		x.Hex = string(refilled(data, x.Shape, 2*other.Bits()))
	default:
		for range 1 + s.next()%4 {
			at := (s.next()<<8 | s.next()) % (len(data) / 2)
			copy(data[2*at:], fmt.Sprintf("%02x", s.next()))
		}
		x.Hex = string(refilled(data, x.Shape, 2*typ.Bits()))
	}
}
