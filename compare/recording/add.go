package recording

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/order"
)

// adder adds calls to a side in the order of recording. What values have in common
// is kept once.
type adder struct {
	side      *side
	seen      map[string]int32
	forms     map[identity]*form
	arguments map[string]*argument
	texts     map[string]string
	// Room for the leaves of further calls, and for what is said of tensors.
	leaves    []leaf
	summaries []result.Summary
}

// adder is a function that adds calls; it takes what it needs of what it is given. A
// name that comes twice is another call.
func (s *side) adder() func(*msprobe.Call) {
	a := &adder{side: s, seen: map[string]int32{}, forms: map[identity]*form{}, arguments: map[string]*argument{}, texts: map[string]string{}}
	return a.add
}

func (a *adder) add(rec *msprobe.Call) {
	s := a.side
	c := &call{Name: rec.Name, Parsed: rec.Parsed, at: len(s.calls)}
	if a.seen[c.Name]++; a.seen[c.Name] > 1 {
		c.Name += "#" + strconv.Itoa(int(a.seen[c.Name]))
	}
	c.again = rec.Recompute
	c.Parsed.Prefix, c.Parsed.API, c.Parsed.Class = a.text(c.Parsed.Prefix), a.text(c.Parsed.API), a.text(c.Parsed.Class)
	n := len(rec.Values)
	if len(a.leaves) < n {
		a.leaves = make([]leaf, max(n, slab))
	}
	c.leaves, a.leaves = a.leaves[:n:n], a.leaves[n:]
	for i := range rec.Values {
		a.leaf(&c.leaves[i], &rec.Values[i])
	}
	if rec.NaN != msprobe.NotRecorded {
		c.flagged = rec.NaN != msprobe.No
		v := msprobe.Value{Section: msprobe.Output, Path: "is_nan", Kind: msprobe.Scalar, Type: "bool", Value: msprobe.Number{Kind: msprobe.Bool, I: int64(rec.NaN - msprobe.No), F: float64(rec.NaN - msprobe.No)}}
		c.leaves = append(c.leaves, leaf{})
		a.leaf(&c.leaves[n], &v)
	}
	order.Stable(c.leaves, func(a, b leaf) int { return cmp.Compare(rank(a.Section), rank(b.Section)) })
	c.token, c.content = c.describe()
	c.nonfinite = c.givesNonfinite()
	s.calls = append(s.calls, c)
}

// slab is how many leaves are made at once.
const slab = 256

// leaf takes over a value.
func (a *adder) leaf(l *leaf, v *msprobe.Value) {
	l.form = a.form(v)
	l.DataName = v.DataName
	a.side.filed = a.side.filed || v.DataName != ""
	a.side.raw = a.side.raw || v.Raw
	if !l.tensor() {
		l.arg = a.argument(v)
		l.summary = &l.arg.summary
		return
	}
	if len(a.summaries) == 0 {
		a.summaries = make([]result.Summary, slab)
	}
	l.summary, a.summaries = &a.summaries[0], a.summaries[1:]
	l.summary.Class = a.text(classOf(v))
	exact := false
	for i, x := range []struct {
		n    msprobe.Number
		bit  int32
		into *float64
	}{{v.Max, result.KnownMax, &l.summary.Stats.Max}, {v.Min, result.KnownMin, &l.summary.Stats.Min}, {v.Mean, result.KnownMean, &l.summary.Stats.Mean}, {v.Norm, result.KnownNorm, &l.summary.Stats.Norm}} {
		l.kinds[i] = x.n.Kind
		if f, ok := x.n.Value(); ok {
			*x.into = f
			l.summary.Known |= x.bit
		}
		exact = exact || x.n.Kind == msprobe.Big || x.n.Kind == msprobe.Int && int64(float64(x.n.I)) != x.n.I || x.n.Kind == msprobe.Text
	}
	most := max(math.Abs(l.summary.Stats.Max), math.Abs(l.summary.Stats.Min))
	if most > 0 && most*most < dtype.Float32.MinNormal() && v.Elem != dtype.Float64 && l.summary.Has(result.KnownNorm) {
		l.summary.Stats.Norm = max(l.summary.Stats.Norm, most) // recorders sum squares in float32, in which these vanish
	}
	by32 := v.Type == mindsporeTensor && (v.Elem.IsInteger() || v.Elem == dtype.Float64) || v.Elem.IsInteger() && v.Max.Kind == msprobe.Float
	if by32 && most >= mostExact && most <= dtype.Float32.Max() {
		_, e := math.Frexp(most)
		l.summary.Grain = math.Ldexp(1, e-24)
	}
	if exact || v.Odd != nil {
		l.arg = &argument{odd: v.Odd}
		if exact {
			l.arg.Items = []msprobe.Number{v.Max, v.Min, v.Mean, v.Norm}
		}
	}
	if l.kinds[atSum] = v.MD5.Kind; v.MD5.Kind != msprobe.Absent && v.MD5.Kind != msprobe.Null {
		l.summary.Sum = v.MD5.String()
	}
}

// mindsporeTensor is what MindSpore's tensors are called in recordings of msprobe, which takes the statistics of all but floats of
// them by way of float32 and writes them with a point, as recorders of PyTorch before 26 do with integers; mostExact is up to where
// float32 has all integers. asyncTensor is a result that is not there yet.
const (
	mindsporeTensor = "mindspore.Tensor"
	mostExact       = 1 << 24
	asyncTensor     = "torch.distributed._functional_collectives.AsyncCollectiveTensor"
)

// rounded tells of integers that the statistics of a side do not tell apart from their neighbours, and nothing else does.
func (x leafPair) rounded() bool {
	return x.left != nil && x.right != nil && x.left.tensor() && x.right.tensor() && x.left.Elem.IsInteger() && max(x.left.summary.Grain, x.right.summary.Grain) > 0 &&
		max(x.left.summary.Digits, x.right.summary.Digits) == 0 && (x.left.DataName == "" || x.right.DataName == "") && (x.left.summary.Sum == "" || x.right.summary.Sum == "")
}

// digits notes how exact the statistics of the side are.
func (s *side) digits() {
	if s.summed == dtype.Undefined && s.grain == 0 && s.significant == 0 {
		return
	}
	for _, c := range s.calls {
		for i := range c.leaves {
			if l := &c.leaves[i]; l.tensor() {
				l.summary.Summed, l.summary.Grain, l.summary.Digits = s.summed, max(l.summary.Grain, s.grain), int32(s.significant)
			}
		}
	}
}

// classOf is what a value is, as the recording names it.
func classOf(v *msprobe.Value) string {
	return cmp.Or(v.Type, "None")
}

// form is what a value has in common with others.
func (a *adder) form(v *msprobe.Value) *form {
	var h hash
	h.number(uint64(v.Section)<<16 | uint64(v.Kind)<<8 | uint64(v.Elem))
	h.text(v.Path)
	h.text(v.Type)
	h.text(v.DType)
	h.shape(v.Shape)
	f := a.forms[h.identity()]
	if f != nil && f.Section == v.Section && f.Kind == v.Kind && f.path == v.Path && f.Type == v.Type && f.DType == v.DType && slices.Equal(f.Shape, v.Shape) {
		return f
	}
	f = &form{Kind: v.Kind, Section: v.Section, Type: a.text(v.Type), DType: a.text(v.DType), Elem: v.Elem, Known: v.Known, Shape: slices.Clone(v.Shape),
		path: a.text(v.Path), role: result.Output}
	if f.place = v.Section.String(); v.Path != "" {
		f.place += "." + v.Path
	}
	if v.Section == msprobe.Input || v.Section == msprobe.Kwargs || v.Section == msprobe.Parameters {
		f.role = result.Input
	}
	a.forms[h.identity()] = f
	return f
}

func (a *adder) argument(v *msprobe.Value) *argument {
	text := textOf(v)
	key := v.Type + "\x00" + text
	if x := a.arguments[key]; x != nil && x.Value.Same(v.Value) && slices.EqualFunc(x.Items, v.Items, msprobe.Number.Same) {
		return x
	}
	x := &argument{Value: v.Value, Items: slices.Clone(v.Items), summary: result.Summary{Class: a.text(classOf(v)), Value: text}}
	a.arguments[key] = x
	return x
}

// text keeps one of equal texts.
func (a *adder) text(s string) string {
	if t, ok := a.texts[s]; ok {
		return t
	}
	a.texts[s] = s
	return s
}
