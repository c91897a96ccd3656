package oracle

import (
	"iter"
	"strings"

	"precision/compare/pattern"
)

const (
	// mostExplained bounds the elements of an output that hypotheses are tried
	// on whole; of a larger one they see a sample.
	mostExplained = 1 << 18
	// mostEarlier is how many earlier outputs stale data is looked for in.
	mostEarlier = 16
)

// explain tries what kind of wrong an output is, and names the kind that its
// numbers bear out best.
func (c *checker) explain(f *Finding, best Reading, j *judge) {
	v := best.out(c.index)
	n := c.rec.view.Len()
	kase := pattern.Case{Shape: c.rec.shape, Axes: c.rec.axes, Block: c.rec.block, DType: c.rec.typ}
	if n > mostExplained || cost(v)*float64(n) > mostCounted {
		if c.scan() != nil {
			return
		}
		kase.At = samples(c.rec.shape, c.ext.places())
		for _, m := range j.misses {
			kase.At = append(kase.At, m.i)
		}
		kase.At = sortedUnique(kase.At)
		if most := int(max(min(mostCounted/cost(v), 4096), 64)); len(kase.At) > most {
			kase.At = thinned(kase.At, most)
		}
		n = int64(len(kase.At))
	}
	want := func(v Values, half []float64) (y, b []float64, err error) {
		y, b = make([]float64, n), make([]float64, n)
		if kase.At == nil {
			err = v.Range(0, y, b)
		} else {
			err = v.At(kase.At, y, b)
		}
		for i := range b {
			if half != nil {
				half[i] = halfOver(c.rec.typ) * b[i] / 4
			}
			b[i] = j.bound(y[i], b[i])
			if half != nil {
				half[i] += b[i]
			}
		}
		return y, b, err
	}
	var err error
	kase.Half = make([]float64, n)
	if kase.Want, kase.Bound, err = want(v, kase.Half); err != nil {
		return
	}
	kase.Got = make([]float64, n)
	if kase.At == nil {
		err = c.rec.Range(0, kase.Got, nil)
	} else {
		err = c.rec.At(kase.At, kase.Got, nil)
	}
	if err != nil {
		return
	}
	try := func(list []alternative) {
		for _, a := range list {
			if y, b, err := want(a.v, nil); err == nil {
				kase.Alternatives = append(kase.Alternatives, pattern.Alternative{Kind: a.kind, Args: a.args, Want: y, Bound: b})
			}
		}
	}
	try(alternatives(v))
	if kase.At == nil {
		kase.Operands = c.tensors(int(n))
	}
	kase.Other = c.others()
	found, err := pattern.Find(kase)
	if err == nil && (len(found) == 0 || isGeneral(&found[0])) {
		try(c.otherwise(v, &kase))
		found, err = pattern.Find(kase)
	}
	if err != nil {
		return
	}
	f.Patterns = found
	if len(found) > 0 {
		f.Pattern = string(found[0].Kind)
	}
	// Sums in float16 look like noise to what does not know the terms.
	if vague := len(found) == 0 || found[0].Kind.Vague() && found[0].Kind != pattern.Border; vague && isProduct(v) && lowAccumulation(j) {
		f.Pattern = "acc16"
	}
}

// general are kinds that another reading of the operator may explain better: a factor is what another epsilon
// makes, too.
var general = map[pattern.Kind]bool{pattern.Scale: true, pattern.Offset: true, pattern.Affine: true, pattern.SliceOffset: true, pattern.SliceScale: true,
	pattern.RowScale: true, pattern.Slope: true, pattern.Clipped: true, pattern.Shifted: true, pattern.Reversed: true, pattern.SlicesPermuted: true,
	pattern.StrideIgnored: true, pattern.StrideDoubled: true, pattern.InvertedMask: true}

// isGeneral reports whether another reading may say more than a finding: also where an own input's numbers stand, which
// a choice between inputs gives.
func isGeneral(f *pattern.Finding) bool {
	copied, ok := f.Args.(pattern.Copy)
	return general[f.Kind] || f.Kind.Vague() || ok && f.Kind == pattern.Stale && copied.Own
}

// tensors are the inputs that have one number for every element, or one for all.
func (c *checker) tensors(n int) []pattern.Tensor {
	var out []pattern.Tensor
	for _, o := range c.call.operands() {
		if k := o.view.Len(); k == int64(n) || k == 1 {
			t := pattern.Tensor{Name: o.name, Values: make([]float64, k)}
			if o.Range(0, t.Values, nil) == nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// others are the tensors that stale data may come from: the operator's inputs
// and what was computed before it.
func (c *checker) others() iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		for _, o := range c.call.operands() {
			if o.view.Len() > mostExplained {
				continue
			}
			t := pattern.Tensor{Name: strings.TrimPrefix(o.name, "input "), Values: make([]float64, o.view.Len()), Input: true}
			if o.Range(0, t.Values, nil) == nil && !yield(t) {
				return
			}
		}
		if c.earlier != nil {
			c.earlier(yield)
		}
	}
}

// earlier yields the outputs of the operators before a task, the nearest first.
func (j Job) earlier(t task) iter.Seq[pattern.Tensor] {
	return func(yield func(pattern.Tensor) bool) {
		left := mostEarlier
		device := j.Devices[t.device]
		var before []task
		for _, g := range j.Graph.Graphs {
			for _, op := range g.Ops {
				if op.ID >= t.op.ID || op.Graph != t.op.Graph {
					continue
				}
				if rec := device.Folder.Op(op.Name); rec != nil && !skipped[op.Type] {
					before = append(before, task{op, t.device, rec.Newest()})
				}
			}
		}
		for i := len(before) - 1; i >= 0 && left > 0; i-- {
			r, err := before[i].entry.Open()
			if err != nil {
				continue
			}
			for k := range r.Outputs {
				o, err := openOperand(r, &r.Outputs[k], descAt(before[i].op.OutputDesc, k))
				if err != nil || o.view.Len() > mostExplained {
					continue
				}
				tensor := pattern.Tensor{Name: before[i].op.Name + ":output:" + itoa(k), Values: make([]float64, o.view.Len())}
				if o.Range(0, tensor.Values, nil) == nil && !yield(tensor) {
					r.Close()
					return
				}
				left--
			}
			r.Close()
		}
	}
}

// alternative is what an output would be if part of its operator were left out
// or done otherwise.
type alternative struct {
	kind pattern.Kind
	args any
	v    Values
}

// alternatives lists what can be left out of v.
func alternatives(v Values) []alternative {
	var out []alternative
	try := func(kind pattern.Kind, change func(v Values) Values) {
		if w := rewritten(v, change); w != nil {
			out = append(out, alternative{kind: kind, v: w})
		}
	}
	try(pattern.MissingBias, func(v Values) Values {
		switch v := v.(type) {
		case *conv:
			if v.product.bias != nil {
				w := *v
				w.product.bias = nil
				return &w
			}
		case *matmul:
			if v.product.bias != nil {
				w := *v
				w.product.bias = nil
				return &w
			}
		}
		return nil
	})
	try(pattern.MissingOperand, func(v Values) Values {
		if p, ok := v.(*pointwise); ok && len(p.in) == 2 && isProduct(p.in[0]) {
			return p.in[0]
		}
		return nil
	})
	try(pattern.WrongWeight, func(v Values) Values {
		switch v := v.(type) {
		case *conv:
			if v.held && v.groups == 1 {
				w := *v
				w.w32 = swappedBlocks(v.w32, int(v.o), int(v.cg), int(v.places))
				w.at, w.wideAt = [2]int64{-1, -1}, [2]int64{-1, -1}
				return &w
			}
		case *matmul:
			if v.held {
				w := *v
				rows := len(v.b32) / max(int(v.n), 1)
				w.b32, w.bw, w.ba = swappedBlocks(v.b32, rows, int(v.n), 1), nil, nil
				return &w
			}
		}
		return nil
	})
	return out
}

// rewritten returns v with the first part that change applies to changed; nil if
// there is none.
func rewritten(v Values, change func(v Values) Values) Values {
	if w := change(v); w != nil {
		return w
	}
	switch v := v.(type) {
	case *strided:
		if in := rewritten(v.in, change); in != nil {
			w := *v
			w.in, w.idx = in, nil
			return &w
		}
	case *rounded:
		if in := rewritten(v.Values, change); in != nil {
			return &rounded{in, v.p}
		}
	case *pointwise:
		for i := range v.in {
			if in := rewritten(v.in[i], change); in != nil {
				w := *v
				w.in = append([]Values{}, v.in...)
				w.in[i] = in
				w.x, w.e, w.x32 = make([][]float64, len(w.in)), make([][]float64, len(w.in)), make([][]float32, len(w.in))
				return &w
			}
		}
	}
	return nil
}

// swappedBlocks is a matrix of rows × cols, each of depth numbers, with every
// block of 16 × 16 transposed, as reading a blocked layout in the wrong order does.
// What lies beyond the edge of a block is 0.
func swappedBlocks(w []float32, rows, cols, depth int) []float32 {
	out := make([]float32, len(w))
	for r := range rows {
		for c := range cols {
			from, to := r/16*16+c%16, c/16*16+r%16
			if from < rows && to < cols {
				copy(out[(r*cols+c)*depth:][:depth], w[(from*cols+to)*depth:])
			}
		}
	}
	return out
}
