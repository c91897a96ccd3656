package torch

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// pickle is the call that makes a contiguous tensor of n elements out of
// storage 0.
func pickle(class string, shape []int64, n int64) []byte {
	p := pickler{opProto, 2}
	p.global("torch._utils", "_rebuild_tensor_v2")
	p.op(opMark)
	p.op(opMark)
	p.text("storage")
	p.global("torch", class)
	p.text("0")
	p.text("cpu")
	p.number(n)
	p.op(opTuple)
	p.op(opPersID)
	p.number(0) // offset in the storage
	p.tuple(shape)
	p.tuple(strides(shape))
	p.op(opFalse) // no gradient
	p.global("collections", "OrderedDict")
	p.op(opEmptyTuple)
	p.op(opReduce) // no hooks
	p.op(opTuple)
	p.op(opReduce)
	p.op(opStop)
	return p
}

// strides are those of a contiguous tensor, in elements. Axes of no elements
// count as one, as in PyTorch.
func strides(shape []int64) []int64 {
	s := make([]int64, len(shape))
	step := uint64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = int64(step)
		// Strides of a tensor without elements can be beyond all bounds; they
		// are never used.
		hi, lo := bits.Mul64(step, uint64(max(shape[i], 1)))
		if step = lo; hi != 0 || lo > math.MaxInt64 {
			step = math.MaxInt64
		}
	}
	return s
}

type pickler []byte

func (p *pickler) op(code byte) { *p = append(*p, code) }

func (p *pickler) global(module, name string) {
	p.op(opGlobal)
	*p = append(*p, module+"\n"+name+"\n"...)
}

func (p *pickler) text(s string) {
	p.op(opUnicode)
	*p = binary.LittleEndian.AppendUint32(*p, uint32(len(s)))
	*p = append(*p, s...)
}

// number writes a number that is not negative.
func (p *pickler) number(v int64) {
	switch {
	case v <= math.MaxUint8:
		*p = append(*p, opInt1, byte(v))
	case v <= math.MaxUint16:
		*p = binary.LittleEndian.AppendUint16(append(*p, opInt2), uint16(v))
	case v <= math.MaxInt32:
		*p = binary.LittleEndian.AppendUint32(append(*p, opInt4), uint32(v))
	default:
		*p = binary.LittleEndian.AppendUint64(append(*p, opLong1, 8), uint64(v))
	}
}

func (p *pickler) tuple(all []int64) {
	p.op(opMark)
	for _, v := range all {
		p.number(v)
	}
	p.op(opTuple)
}
