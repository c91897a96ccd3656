package oracle

import (
	"math"

	"precision/dump"
	"precision/graph"
)

var nan = math.NaN()

// Golden finds the framework's tensor that an output of an operator, or an
// input of it, stands for.
type Golden interface {
	// Open returns the tensor, with the dims and letters of its axes; the caller
	// closes the reader. It returns nil, nil, nil where there is none.
	Open(op *graph.Op, input bool, index int) (*dump.Reader, *dump.Tensor, error)
}

func (j Job) split(t task, r *dump.Reader, s Settings, found []Finding) {}
