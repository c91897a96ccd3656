package oracle

import (
	"slices"

	"precision/dump/msprobe"
)

// Some calls write to their arguments and do not return them: caches, and kernels with an argument for their result. A
// recorder writes what was there before the call. They are judged by the next call that reads the buffer.

const (
	// mostRead bounds the tensors that are looked at as what became of an argument.
	mostRead = 64
	// sampled is how many elements tell a buffer from others.
	sampled = 1 << 16
)

// mended judges the arguments that a call writes to and does not return, by what later calls read.
func (c *recordedCall) mended(full bool) (out []Finding) {
	n := c.Parsed
	if n.Form != msprobe.API || n.Direction != msprobe.Forward {
		return nil
	}
	f, _, _, _ := called(n.Prefix, n.API, c.of.header.Framework)
	if f == nil || f.mends == nil {
		if n.Prefix == "NPU" && f == nil && slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Kind == msprobe.Tensor && v.Section != msprobe.Output }) &&
			!slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Kind == msprobe.Tensor && v.Section == msprobe.Output }) {
			return refused([]Finding{c.blank(nil, 0)}, because(NoAPI, c.kind()))
		}
		return nil
	}
	r := recordedOf(c.Call)
	files := &files{path: c.of.path}
	defer files.close()
	b := &bound{recordedCall: c, r: r, files: files}
	first := 0
	for _, a := range r.flat {
		if a.tensor() {
			first++
		}
	}
	defer func() {
		if p := recover(); p != nil {
			out = refused(out, because(Crashed, p))
		}
	}()
	err := b.prepare()
	if b.call != nil {
		defer b.call.release()
	}
	for i, name := range f.mends {
		finding := c.blank(nil, first+i)
		switch {
		case err != nil:
			finding.fail(err, "")
		case b.k.args[name].tensor():
			a := b.k.args[name]
			finding = c.blank(a.v, first+i)
			b.judgeMended(&finding, a, full)
		case b.leaves(first+i) && b.k.args[name].none():
			continue // a part that the call was not asked for
		default:
			finding.fail(refuse(NoInput, b.k.shown(name)), "")
		}
		out = append(out, finding)
	}
	return out
}

// leaves tells whether a call has nothing to write to an argument, with the others as they are.
func (b *bound) leaves(index int) bool {
	readings, err := attempt(func() []Reading { return b.readings(b.call, index) })
	return err == nil && readings[0].out(index) == nil
}

// judgeMended judges an argument that a call wrote to.
func (b *bound) judgeMended(f *Finding, was *argument, full bool) {
	if was.err != nil {
		f.fail(was.err, "")
		return
	}
	for len(b.r.flat) <= f.Index {
		b.r.flat, b.bad, b.call.outs = append(b.r.flat, nil), append(b.bad, nil), append(b.call.outs, nil)
	}
	var best *Finding
	looked := 0
	// A call may read the buffer twice, and others of the same size: what explains it is what it is.
	try := func(v *msprobe.Value, from *recordedCall) (done bool) {
		o, err := b.files.tensor(v, from.Name+" "+v.Section.String()+"."+v.Path)
		if looked++; err != nil || count(o.shape) != count(was.op.shape) {
			return false
		}
		if x := o.shaped(was.op.shape); x != nil {
			o = x
		}
		again := b.blank(was.v, f.Index)
		b.r.flat[f.Index], b.call.outs[f.Index] = &argument{v: v, place: o.name, op: o}, o
		defer func() { b.call.outs[f.Index] = nil }()
		b.judge(&again, full)
		again.Reasons = append(again.Reasons, because(ReadBy, from.Name, v.Section.String()+"."+v.Path))
		switch {
		case again.Verdict == Suspect && again.Reasons[0].Kind == OutsideCache:
		case again.Verdict != OK && again.Verdict != Unknown && !b.follows(was.op, o, f.Index):
			return false
		}
		if best == nil || best.Verdict == Unknown || again.Verdict != Unknown && again.Verdict < best.Verdict {
			best = &again
		}
		return again.Verdict == OK
	}
	for _, later := range b.of.calls[b.order+1:] {
		for at := range later.Values {
			v := &later.Values[at]
			if n, ok := v.Elements(); v.Section == msprobe.Output || v.Kind != msprobe.Tensor || v.DataName == "" || v.Elem != was.v.Elem || !ok || n != count(was.op.shape) {
				continue
			}
			if try(v, later) || looked > mostRead {
				break
			}
		}
		// What looks wrong may be another buffer of the same size: one that is right may come.
		if best != nil && (best.Verdict == OK || best.Reasons[0].Kind == OutsideCache) || looked > mostRead {
			break
		}
	}
	if best == nil {
		unknown(f, because(NotRead, was.place))
		return
	}
	*f = *best
}

// follows tells whether a tensor is what became of a buffer, though not what it should be: most of what was in it is as it
// was, the number apart that most of an empty buffer has, or most of what was to be written stands somewhere in it.
func (b *bound) follows(was, now *operand, index int) bool {
	n := min(count(was.shape), sampled)
	old, new := make([]float64, n), make([]float64, n)
	if n == 0 || was.Range(0, old, nil) != nil || now.Range(0, new, nil) != nil {
		return false
	}
	seen, there := map[float64]int{}, map[float64]bool{}
	empty := old[0]
	for i, x := range old {
		if seen[x]++; seen[x] > seen[empty] {
			empty = x
		}
		there[new[i]] = true
	}
	same, held := 0, 0
	for i, x := range old {
		if x == empty {
			continue
		}
		if held++; x == new[i] {
			same++
		}
	}
	if len(seen) > 2 && 2*same > held {
		return true
	}
	readings, err := attempt(func() []Reading { return b.readings(b.call, index) })
	if err != nil || readings[0].out(index) == nil {
		return false
	}
	want := make([]float64, n)
	if readings[0].out(index).Range(0, want, nil) != nil {
		return false
	}
	p := precisionFor(now.numeric())
	written, found := 0, 0
	for i, x := range want {
		if x = p.Round(x); p.Round(x) != old[i] && seen[x] == 0 {
			if written++; there[x] {
				found++
			}
		}
	}
	return written > 0 && 2*found > written
}
