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

var data = map[string]Mem{}

// lanes are 64 read-only bytes of equal lanes of so many bytes.
func lanes(name string, size int, bits Constant) Mem {
	if m, ok := data[name]; ok {
		return m
	}
	m := GLOBL(name, 8|16) // RODATA|NOPTR
	for at := 0; at < 64; at += size {
		DATA(at, bits)
	}
	data[name] = m
	return m
}

// f64 is a read-only vector of eight equal float64 lanes.
func f64(v float64) Mem { return q64(math.Float64bits(v)) }

// q64 is a read-only vector of eight equal 64-bit lanes.
func q64(bits uint64) Mem { return lanes(fmt.Sprintf("q_%016x", bits), 8, U64(bits)) }

// f32 is a read-only vector of sixteen equal float32 lanes.
func f32(v float32) Mem { return d32(math.Float32bits(v)) }

func d32(bits uint32) Mem { return lanes(fmt.Sprintf("d_%08x", bits), 4, U32(bits)) }

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

// fold leaves op over the float64 lanes of v in the low lane of an XMM register.
func (l level) fold(v reg.VecVirtual, op func(...Op)) reg.VecVirtual {
	if l.wide {
		return fold512(v, op)
	}
	return fold256(v, op)
}

// vec is a register of the level, of so many lanes of float64.
func (l level) vec() reg.VecVirtual {
	if l.wide {
		return ZMM()
	}
	return YMM()
}

// and masks lanes of 32 bits.
func (l level) and(mask, v, to Op) {
	if l.wide {
		VPANDD(mask, v, to)
	} else {
		VPAND(mask, v, to)
	}
}

func (l level) lanes() int {
	if l.wide {
		return 8
	}
	return 4
}

// function begins a function, whose arguments do not escape.
func function(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc...)
	Pragma("noescape")
}

// end ends a function that used vectors.
func end() {
	VZEROUPPER()
	RET()
}

// loaded are the elements at two places, in registers of a width.
func loaded(vec func() reg.VecVirtual, move func(...Op), x, y reg.Register) (a, b reg.VecVirtual) {
	a, b = vec(), vec()
	move(Mem{Base: x}, a)
	move(Mem{Base: y}, b)
	return a, b
}

// argument is the place of an argument.
func argument(name string) Op {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// load loads elements as float64.
func (e element) load(from Mem, to reg.VecVirtual) {
	if e.bits == 32 {
		VCVTPS2PD(from, to)
	} else {
		VMOVUPD(from, to)
	}
}

// prefetch fetches the cache lines ahead.
func prefetch(at ...reg.Register) {
	for _, p := range at {
		PREFETCHT0(Mem{Base: p, Disp: prefetchAhead})
	}
}

// advance adds so many bytes to pointers.
func advance(by int, at ...reg.Register) {
	for _, p := range at {
		ADDQ(Imm(uint64(by)), p)
	}
}

// loop runs body count times; count is not 0. It is used up.
func loop(label string, count reg.Register, body func()) {
	Label(label)
	body()
	DECQ(count)
	JNZ(LabelRef(label))
}
