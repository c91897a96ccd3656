package oracle

import (
	"fmt"
	"hash/crc32"
	"sync"

	"precision/dump"
	"precision/graph"
)

// castagnoli is made when it is first needed: it takes as long as a hundredth of a small comparison.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// InputSums hashes the elements of recorded inputs of an operator, by their places among those
// that were recorded, in the axis order of the framework: what fills up a layout is left out. A tensor that
// cannot be read has an empty sum.
func InputSums(op *graph.Op, r *dump.Reader, recorded []int) []string {
	sums := make([]string, len(recorded))
	slots := connectedSlots(op)
	for i, k := range recorded {
		if k < 0 || k >= len(r.Inputs) || k >= len(slots) {
			continue
		}
		if o, err := openOperand(r, &r.Inputs[k], descAt(op.InputDesc, slots[k])); err == nil {
			sums[i], _ = o.sum()
		}
	}
	return sums
}

// connectedSlots are the data inputs of an operator that have a tensor.
func connectedSlots(op *graph.Op) (slots []int) {
	slot := 0
	for _, e := range op.Inputs {
		if e.IsControl() {
			continue
		}
		if !e.IsEmpty() {
			slots = append(slots, slot)
		}
		slot++
	}
	return slots
}

// sum hashes all elements, their bits as they are stored.
func (o *operand) sum() (string, error) {
	if o.packed {
		return "", refuse(BadLayout, o.name, "grouped")
	}
	// Two sums of 32 bits, both of which processors compute as fast as they read.
	var a, b uint32
	n := o.view.Len()
	err := o.read(0, n, func(_ int64, raw []byte, _ int64) {
		a, b = crc32.Update(a, castagnoli(), raw), crc32.Update(b, crc32.IEEETable, raw)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%08x%08x", n, a, b), nil
}
