package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparison predicates.
var (
	neqUQ = Imm(0x04)
	geOQ  = Imm(0x1d)
	gtOQ  = Imm(0x1e)
)

// lanes64 is a read-only vector of n equal 64-bit lanes.
func lanes64(name string, bits uint64, n int) Mem {
	m := GLOBL(name, 8|16) // RODATA|NOPTR
	for i := range n {
		DATA(8*i, U64(bits))
	}
	return m
}

func lanes32(name string, bits uint32, n int) Mem {
	m := GLOBL(name, 8|16)
	for i := range n {
		DATA(4*i, U32(bits))
	}
	return m
}

var data = map[string]Mem{}

// f64 is a read-only vector of eight equal float64 lanes.
func f64(v float64) Mem { return q64(math.Float64bits(v)) }

// q64 is a read-only vector of eight equal 64-bit lanes.
func q64(bits uint64) Mem {
	name := fmt.Sprintf("q_%016x", bits)
	if _, ok := data[name]; !ok {
		data[name] = lanes64(name, bits, 8)
	}
	return data[name]
}

// f32 is a read-only vector of sixteen equal float32 lanes.
func f32(v float32) Mem { return d32(math.Float32bits(v)) }

func d32(bits uint32) Mem {
	name := fmt.Sprintf("d_%08x", bits)
	if _, ok := data[name]; !ok {
		data[name] = lanes32(name, bits, 16)
	}
	return data[name]
}

const (
	abs64Mask = 1<<63 - 1
	abs32Mask = 1<<31 - 1
)

// fold512 leaves op over the eight float64 lanes of z in the low lane of an
// XMM register.
func fold512(z reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	y := YMM()
	VEXTRACTF64X4(Imm(1), z, y)
	op(y, z.AsY(), y)
	x := XMM()
	VEXTRACTF64X2(Imm(1), y, x)
	op(x, y.AsX(), x)
	return fold128(x, op)
}

func fold256(y reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	x := XMM()
	VEXTRACTF128(Imm(1), y, x)
	op(x, y.AsX(), x)
	return fold128(x, op)
}

func fold128(x reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	t := XMM()
	VUNPCKHPD(x, x, t)
	op(t, x, x)
	return x
}

// prefetch fetches the cache line ahead of p.
func prefetch(p reg.Register) {
	if prefetchAhead > 0 {
		PREFETCHT0(Mem{Base: p, Disp: prefetchAhead})
	}
}

// loop runs body count times; count is not 0. It is used up.
func loop(label string, count reg.Register, body func()) {
	Label(label)
	body()
	DECQ(count)
	JNZ(LabelRef(label))
}
