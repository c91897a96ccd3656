package torch

import (
	"sort"
	"strings"

	"precision/compare/result"
)

// pair is a row to be: two tensors, or the reason why there are not two.
type pair struct {
	index       int64
	op          string // empty: unknown to my file
	left, right *tensor
	reason      *result.Reason
}

// matching pairs the tensors of two files.
type matching struct {
	left, right *side
	// full: inputs are recorded and compared, and the calls of an operator
	// are paired in their order. Otherwise golden was run from recorded
	// inputs, so that only outputs are there and order numbers agree.
	full  bool
	pairs []pair
	taken map[*tensor]bool
	// partner is my call that a golden one was paired with.
	partner map[*call]*call
}

func newMatching(left, right *side) *matching {
	m := &matching{left: left, right: right, taken: map[*tensor]bool{}, partner: map[*call]*call{}}
	for _, c := range left.calls {
		for _, t := range c.tensors {
			m.full = m.full || t.input
		}
	}
	return m
}

// wants tells whether the direction of t is compared.
func (m *matching) wants(t *tensor) bool { return m.full || !t.input }

func (m *matching) run() {
	right := newCalls(m.right)
	left := newCalls(m.left)
	var last int64
	for _, c := range m.left.calls {
		last = max(last, c.order)
		m.call(c, right, left.place[c])
	}
	for _, c := range m.right.calls {
		p := pair{index: last + 1}
		if left := m.partner[c]; left != nil {
			p.index, p.op = left.order, left.op
		}
		for _, t := range c.tensors {
			if m.wants(t) && !m.taken[t] {
				p.right, p.reason = t, noMatch(t.path, "my")
				m.pairs = append(m.pairs, p)
			}
		}
	}
}

// call pairs the tensors of one of my calls.
func (m *matching) call(c *call, right *calls, place int) {
	other, names := right.find(c.op, place, m.right.device)
	if other != nil && !m.full {
		other = right.at[callKey{other.op, c.order}]
	}
	if other != nil && m.partner[other] == nil {
		m.partner[other] = c
	}
	from := len(m.pairs)
	found := false
	for _, t := range c.tensors {
		if !m.wants(t) {
			continue
		}
		p := pair{index: c.order, op: c.op, left: t}
		if p.right = other.tensor(t.rel, names, c); p.right == nil {
			p.reason = noMatch(t.path, "golden")
		} else {
			m.taken[p.right] = true
			found = true
		}
		m.pairs = append(m.pairs, p)
	}
	if !found && len(m.pairs) > from {
		m.pairs = append(m.pairs[:from], pair{index: c.order, op: c.op, reason: noMatch("op:"+c.op, "golden")})
	}
}

func noMatch(name, side string) *result.Reason {
	if side == "my" {
		return because(result.NoLeftMatch, name)
	}
	return because(result.NoMatch, name)
}

// tensor finds a tensor by its path below the call. If there is none it is
// looked for under the name that the other device has for it, unless that is
// the name of another tensor of mine.
func (c *call) tensor(rel string, names map[string]string, left *call) *tensor {
	if c == nil {
		return nil
	}
	if t := c.byRel[rel]; t != nil {
		return t
	}
	cut := strings.LastIndexByte(rel, '/') + 1
	if other, ok := names[rel[cut:]]; ok && left.byRel[rel[:cut]+other] == nil {
		return c.byRel[rel[:cut]+other]
	}
	return nil
}

// callKey identifies a call by operator and a number.
type callKey struct {
	op string
	n  int64
}

// calls finds the calls of a file.
type calls struct {
	nth   map[callKey]*call // by operator and place among its calls
	at    map[callKey]*call // by operator and order
	place map[*call]int
}

func newCalls(s *side) *calls {
	f := &calls{nth: map[callKey]*call{}, at: map[callKey]*call{}, place: map[*call]int{}}
	count := map[string]int{}
	for _, c := range mergeOrders(s.calls) {
		counter := c.op
		if c.op == depthwiseBackward {
			counter = convolutionBackward
		}
		k := count[counter]
		count[counter]++
		f.nth[callKey{c.op, int64(k)}] = c
		f.at[callKey{c.op, c.order}] = c
		f.place[c] = k
	}
	return f
}

// Operators that go by different names on different devices.
const (
	convolutionBackward    = "CudnnConvolutionBackward"
	depthwiseBackward      = "ThnnConvDepthwise2DBackward"
	npuConvolutionBackward = "NpuConvolutionBackward"
	batchNormBackward      = "CudnnBatchNormBackward"
	npuBatchNormBackward   = "NativeBatchNormBackward"
)

// otherNames are the names an operator has on the other device, and how the
// names of its tensors differ there.
var otherNames = map[string][]string{
	batchNormBackward:      {npuBatchNormBackward},
	npuBatchNormBackward:   {batchNormBackward},
	convolutionBackward:    {npuConvolutionBackward},
	depthwiseBackward:      {npuConvolutionBackward},
	npuConvolutionBackward: {convolutionBackward, depthwiseBackward},
}

var (
	convolutionNames = map[string]string{"self": "input", "input": "self"}
	batchNormNames   = map[string]string{"epsilon": "eps", "eps": "epsilon"}
)

// find returns the call that belongs to the one of mine that is number place
// among the calls of op, and how names of tensors differ in it.
func (f *calls) find(op string, place int, device deviceType) (*call, map[string]string) {
	k := int64(place)
	if c := f.nth[callKey{op, k}]; c != nil {
		return c, nil
	}
	for _, other := range otherNames[op] {
		if c := f.nth[callKey{other, k}]; c != nil {
			if other == batchNormBackward || other == npuBatchNormBackward {
				return c, batchNormNames
			}
			return c, convolutionNames
		}
	}
	if rest, ok := strings.CutPrefix(op, "Npu"); ok {
		switch device {
		case deviceCPU:
			return f.nth[callKey{"Thnn" + rest, k}], nil
		case deviceGPU:
			return f.nth[callKey{"Cudnn" + rest, k}], nil
		}
	}
	return nil, nil
}

// mergeOrders returns the calls such that those of the two operators that
// share a counter follow each other in their order, whichever of the two it is.
func mergeOrders(list []*call) []*call {
	var out, shared []*call
	for _, c := range list {
		if c.op == convolutionBackward || c.op == depthwiseBackward {
			shared = append(shared, c)
		} else {
			out = append(out, c)
		}
	}
	sort.SliceStable(shared, func(i, j int) bool { return shared[i].order < shared[j].order })
	return append(out, shared...)
}
