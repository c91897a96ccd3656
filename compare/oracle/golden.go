package oracle

import (
	"math"
	"sync"

	"precision/dump"
	"precision/dump/layout"
	"precision/graph/fusion"
)

// Golden is the framework's run that the dumps are held against, beside the
// check, to tell what an operator adds from what it inherits.
type Golden struct {
	// Folder holds the framework's tensors as arrays.
	Folder *dump.Folder
	// Rules say which of them a tensor of the device stands for.
	Rules *fusion.Rules
	// Follow, if set, chooses the operators whose golden output is recomputed from golden
	// inputs; nothing is told apart then. Dumps are those of the device, for operators around
	// them.
	Follow func(op string) bool
	// brief tells only whether it follows, and by another attribute or form if not.
	brief bool
	Dumps *dump.Folder

	once    sync.Once
	readers map[tensorOf][]reader
}

// follows tells whether the golden side of an operator is recomputed.
func (g *Golden) follows(op string) bool { return g.Follow != nil && g.Follow(op) }

// tensorOf is a tensor of the framework.
type tensorOf struct {
	op    string
	index int64
}

// reader is an input of an operator.
type reader struct {
	op    *fusion.Op
	input int
}

// readersOf are the inputs that stand for a tensor of the framework, in the order of the
// graph.
func (g *Golden) readersOf(ref fusion.GoldenRef) []reader {
	g.once.Do(func() {
		g.readers = map[tensorOf][]reader{}
		for _, op := range g.Rules.Ops {
			if op.Type == "Cast" || op.Type == "TransData" {
				continue // what reads these reads the same tensor
			}
			for i := range op.Inputs {
				if from, err := g.Rules.GoldenInput(op, i); err == nil {
					at := tensorOf{from.Op, from.Index}
					g.readers[at] = append(g.readers[at], reader{op, i})
				}
			}
		}
	})
	return g.readers[tensorOf{ref.Op, ref.Index}]
}

// ref is the framework's tensor that an output, or an input, stands for.
func (g *Golden) ref(op string, input bool, index int) (fusion.GoldenRef, bool) {
	rule := g.Rules.Op(op)
	if rule == nil || rule.Filtered {
		return fusion.GoldenRef{}, false
	}
	find := g.Rules.GoldenOutput
	if input {
		find = g.Rules.GoldenInput
	}
	ref, err := find(rule, index)
	return ref, err == nil
}

// array opens the framework's tensor that input or output index of an operator
// stands for, in the axis order of like; nil where there is none that fits.
func (g *Golden) array(op string, input bool, index int, like *operand) (Values, *dump.Reader) {
	ref, ok := g.ref(op, input, index)
	if !ok || like == nil {
		return nil, nil
	}
	files := g.Folder.Output(ref.Op, int(ref.Index))
	if files == nil {
		return nil, nil
	}
	return fittedFile(files, ref.Layout, like)
}

// fittedFile opens a golden array in the axis order of a recorded tensor; nil where it does
// not fit.
func fittedFile(files *dump.Op, named string, like *operand) (Values, *dump.Reader) {
	r, err := files.Newest().Open()
	if err != nil {
		return nil, nil
	}
	if len(r.Outputs) > 0 {
		if o, err := openOperand(r, &r.Outputs[0], nil); err == nil {
			if v := fitted(o, named, like); v != nil {
				return v, r
			}
		}
	}
	r.Close()
	return nil, nil
}

// fitted gives a golden array the axis order of a recorded tensor.
func fitted(o *operand, named string, like *operand) Values {
	if sameShape(o.shape, like.shape) {
		return reshape(o, like.shape)
	}
	if f, ok := layout.Parse(named); ok && like.axes != "" && len(f.Letters()) == len(o.shape) {
		if v, err := attempt(func() Values { v, _ := channelsFirst(o, f.Letters(), like.axes); return v }); err == nil && sameShape(v.Shape(), like.shape) {
			return reshape(v, like.shape)
		}
	}
	return nil
}

const (
	// sensitive is the factor from which an operator counts as one that makes
	// inherited errors larger.
	sensitive = 10
	// mostSplit bounds the elements that errors are told apart on.
	mostSplit = 1 << 14
)

// split tells the error of an output apart by the reading that explains it best.
func (c *checker) split(f *Finding, best Reading) {
	golden, r := c.golden.array(c.call.Op.Name, false, c.index, c.rec)
	if golden == nil {
		return
	}
	defer r.Close()
	v := best.out(c.index)
	idx := c.places(v)
	n := len(idx)
	y, b, found, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	if v.At(idx, y, b) != nil || c.rec.At(idx, found, nil) != nil || golden.At(idx, want, nil) != nil {
		return
	}
	var whole, local, inherited, size, used float64
	for i := range idx {
		if t := found[i] + y[i] + want[i]; math.IsNaN(t) || math.IsInf(t, 0) {
			continue
		}
		whole += square(found[i] - want[i])
		local += square(found[i] - y[i])
		inherited += square(y[i] - want[i])
		size += square(want[i])
		used++
	}
	if used == 0 {
		return
	}
	s := &Split{Error: math.Sqrt(whole / used), Local: math.Sqrt(local / used), Inherited: math.Sqrt(inherited / used),
		InputError: c.inputError(), OutputError: math.Sqrt(inherited / size), Amplification: math.NaN()}
	if sum := s.Local + s.Inherited; sum > 0 {
		s.LocalShare, s.InheritedShare = s.Local/sum, s.Inherited/sum
	}
	if s.InputError > 0 && size > 0 {
		s.Amplification = s.OutputError / s.InputError
		s.Sensitive = s.Amplification >= sensitive
	}
	f.Split = s
}

func square(x float64) float64 { return x * x }

// places are the elements that errors are told apart on: all, or a sample.
func (c *checker) places(v Values) []int64 {
	n := c.rec.view.Len()
	most := int(min(max(mostRechecked/4/cost(v), 64), mostSplit))
	if n <= int64(most) {
		idx := make([]int64, n)
		for i := range idx {
			idx[i] = int64(i)
		}
		return idx
	}
	idx := samples(c.rec.shape, nil)
	if len(idx) > most {
		idx = thinned(idx, most)
	}
	return idx
}

// inputError is the largest relative error of an input, as root mean squares
// over the places of a sample; 0 where no input has a golden tensor.
func (c *checker) inputError() float64 {
	worst := 0.0
	for i, o := range c.call.operands() {
		golden, r := c.golden.array(c.call.Op.Name, true, i, o)
		if golden == nil {
			continue
		}
		n := o.view.Len()
		idx := samples(o.shape, nil)
		if n <= mostSplit {
			idx = make([]int64, n)
			for k := range idx {
				idx[k] = int64(k)
			}
		}
		found, want := make([]float64, len(idx)), make([]float64, len(idx))
		if o.At(idx, found, nil) == nil && golden.At(idx, want, nil) == nil {
			off, size := 0.0, 0.0
			for k := range idx {
				if t := found[k] + want[k]; !math.IsNaN(t) && !math.IsInf(t, 0) {
					off += square(found[k] - want[k])
					size += square(want[k])
				}
			}
			if size > 0 {
				worst = max(worst, math.Sqrt(off/size))
			}
		}
		r.Close()
	}
	return worst
}
