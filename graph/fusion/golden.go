package fusion

import (
	"strconv"

	"precision/graph"
)

// GoldenRef names the framework tensor that an input or output of an operator stands for.
type GoldenRef struct {
	Op     string  // framework operator
	Index  int64   // its output
	Layout string  // layout of the framework tensor, "" when the graph does not say
	Shape  []int64 // its shape, nil when the graph does not say
}

// GoldenFailure says why no framework tensor was found.
type GoldenFailure uint8

const (
	GoldenNoInput    GoldenFailure = iota + 1 // the operator has no such input
	GoldenBadEntry                            // the input entry is not name:number
	GoldenNoProducer                          // no operator has the producer's name
	GoldenNoOrigin                            // the producer has no outputs, or its output stands for no framework tensor
	GoldenCycle                               // Cast and TransData operators feed each other
)

// GoldenError is a failed look-up of a framework tensor.
type GoldenError struct {
	Failure GoldenFailure
	Op      string // operator at which the look-up ended
	Index   int    // its input or output
	Entry   string // input entry, for GoldenBadEntry and GoldenNoProducer
	Part    string // the wrong part of the entry, or the producer's name
	Count   int    // number of inputs the operator has, for GoldenNoInput
	Type    string // type of the operator, for GoldenNoOrigin
}

func (e *GoldenError) Error() string {
	switch e.Failure {
	case GoldenNoInput:
		return "op " + e.Op + " has " + strconv.Itoa(e.Count) + " inputs, input " + strconv.Itoa(e.Index) + " does not exist"
	case GoldenBadEntry:
		return "input " + strconv.Quote(e.Entry) + " of op " + e.Op + " is invalid: " + strconv.Quote(e.Part) + " is wrong, expected name:number"
	case GoldenNoProducer:
		return "op " + strconv.Quote(e.Part) + ", which feeds op " + e.Op + ", is not in the fusion rules"
	case GoldenNoOrigin:
		return "output " + strconv.Itoa(e.Index) + " of op " + e.Op + " stands for no framework tensor"
	case GoldenCycle:
		return "Cast and TransData ops before op " + e.Op + " feed each other"
	}
	return "golden look-up failed"
}

// GoldenOutput returns the framework tensor that output i of op stands for. Behind a Cast or TransData it is
// the tensor these were fed with. The error is a *[GoldenError].
func (r *Rules) GoldenOutput(op *Op, i int) (GoldenRef, error) { return r.golden(op, i) }

// GoldenInput returns the framework tensor that arrives at input i of op, counted over connected data inputs.
// The error is a *[GoldenError].
func (r *Rules) GoldenInput(op *Op, i int) (GoldenRef, error) {
	p, k, err := r.Producer(op, i)
	if err != nil {
		return GoldenRef{}, err
	}
	return r.golden(p, k)
}

// Producer returns the operator and output that feed input i of op, counted over connected data inputs. The
// error is a *[GoldenError].
func (r *Rules) Producer(op *Op, i int) (*Op, int, error) {
	if i < 0 || i >= len(op.Inputs) {
		return nil, 0, &GoldenError{Failure: GoldenNoInput, Op: op.Name, Index: i, Count: len(op.Inputs)}
	}
	e := op.Inputs[i]
	if e.Index < 0 || e.Producer() == "" {
		part := e.Text
		if name := e.Producer(); name != "" && len(name) < len(e.Text) {
			part = e.Text[len(name)+1:]
		}
		return nil, 0, &GoldenError{Failure: GoldenBadEntry, Op: op.Name, Index: i, Entry: e.Text, Part: part}
	}
	var p *Op
	if op.place > 0 {
		p = r.fed[int(op.fedAt)+i]
	} else {
		p = r.producer(op.Graph, e.Producer())
	}
	if p == nil {
		return nil, 0, &GoldenError{Failure: GoldenNoProducer, Op: op.Name, Index: i, Entry: e.Text, Part: e.Producer()}
	}
	return p, int(e.Index), nil
}

func (r *Rules) golden(op *Op, k int) (GoldenRef, error) {
	for steps := 0; ; steps++ {
		if steps > len(r.Ops)+len(r.Groups) {
			return GoldenRef{}, &GoldenError{Failure: GoldenCycle, Op: op.Name, Index: k}
		}
		if op.Type == "Cast" || op.Type == "TransData" {
			var err error
			if op, k, err = r.Producer(op, k); err != nil {
				return GoldenRef{}, err
			}
			continue
		}
		next, i, ok := r.cross(op, k)
		if !ok {
			break
		}
		op, k = next, i
	}
	at := k
	if k >= len(op.Outputs) {
		at = 0
	}
	if k < 0 || at >= len(op.Outputs) || op.Outputs[at].OriginName == "" {
		return GoldenRef{}, &GoldenError{Failure: GoldenNoOrigin, Op: op.Name, Index: k, Type: op.Type}
	}
	out := &op.Outputs[at]
	ref := GoldenRef{Op: out.OriginName, Index: out.OriginIndex, Layout: out.Layout, Shape: out.Shape}
	if ref.Index < 0 {
		ref.Index = int64(k)
	}
	return ref, nil
}

// cross follows output k of op into another graph: a Data operator of a called graph passes on what its caller is
// fed with, a calling operator what the called graph returns. Outputs whose origin the graph states stay.
func (r *Rules) cross(op *Op, k int) (*Op, int, bool) {
	if k < len(op.Outputs) && op.Outputs[k].stated {
		return nil, 0, false
	}
	if op.Type == "Data" && !op.HasOrigin {
		slot, ok := graph.Parameter(op.Op)
		caller := r.caller(op.Graph)
		if caller == nil || !ok {
			return nil, 0, false
		}
		return r.slot(caller, slot)
	}
	for _, g := range r.calls.Callees(op.Op) {
		if g == op.Graph {
			continue
		}
		slot, ok := r.calls.Returned(g, k)
		if !ok {
			return nil, 0, false
		}
		return r.slot(r.calls.Result(g), slot)
	}
	return nil, 0, false
}

// caller returns the operator of another graph that calls g, the first by id of several. nil without one.
func (r *Rules) caller(g *graph.Graph) (first *graph.Op) {
	for _, o := range r.calls.Callers(g) {
		if o.Graph != g && (first == nil || o.ID < first.ID) {
			first = o
		}
	}
	return first
}

// slot returns what feeds a data input slot, unconnected slots counted.
func (r *Rules) slot(op *graph.Op, slot int) (*Op, int, bool) {
	for _, e := range op.Inputs {
		if e.IsControl() {
			continue
		}
		if slot == 0 {
			p := r.producer(op.Graph, cutSlices(e.Producer()))
			return p, int(e.Index), p != nil && e.Index >= 0
		}
		slot--
	}
	return nil, 0, false
}
