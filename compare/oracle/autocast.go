package oracle

import (
	"precision/dump/dtype"
	"precision/dump/layout"
)

// Under autocast PyTorch rounds the factors of products to float16 or bfloat16 within the
// call: they are recorded as they were given, and only the type of the result tells.

// working is the type that a product is computed in: the narrowest of the forward
// call's result, of the gradients and of the output.
func (k *invocation) working() dtype.Type {
	t := k.outType()
	for _, o := range append(k.results, k.gradients...) {
		if o != nil && !discrete(o.typ) && precisionFor(o.numeric()).v > precisionFor(t).v {
			t = o.numeric()
		}
	}
	return t
}

// cast is a factor of a product, rounded to the type that this is computed in if that
// is narrower than its own.
func (k *invocation) cast(o *operand) *operand {
	if o == nil || discrete(o.typ) || discrete(k.outType()) {
		return o
	}
	p := precisionFor(k.working())
	if p.v <= precisionFor(o.numeric()).v {
		return o
	}
	n := count(o.shape)
	if n > maxHeld {
		panic(refuse(TooLarge, n, maxHeld))
	}
	view := must(layout.Contiguous(o.shape))
	w := &operand{name: o.name, typ: k.working(), shape: o.shape, view: view, f32: make([]float32, n), packed: true}
	buf := make([]float64, min(n, batch))
	for lo := int64(0); lo < n; lo += batch {
		part := buf[:min(batch, n-lo)]
		check(o.Range(lo, part, nil))
		for i, x := range part {
			w.f32[lo+int64(i)] = float32(p.round(x))
		}
	}
	return w
}

// factors are the two tensors of a product, as it takes them.
func (k *invocation) factors(first, second string) (a, b *operand) {
	a, b = k.pair(first, second)
	return k.cast(a), k.cast(b)
}

// factored is one tensor of a product, nil if it is None.
func (k *invocation) factored(name string) *operand {
	o := k.optional(name)
	return k.cast(o)
}
