package neon

import "strings"

// codes are those of instructions, for 32-bit lanes.
type codes map[string]uint32

func (c codes) of(op string) uint32 {
	code, ok := c[op]
	if !ok {
		panic("neon: no " + op)
	}
	return code
}

// three are instructions on two sources: lanes of floats, but for the last two.
var three = codes{
	"fadd":   0x4e20d400,
	"fsub":   0x4ea0d400,
	"fmul":   0x6e20dc00,
	"fdiv":   0x6e20fc00,
	"fmla":   0x4e20cc00, // d += n·m, rounded once
	"fabd":   0x6ea0d400, // |n-m|
	"fmax":   0x4e20f400,
	"fmin":   0x4ea0f400,
	"fmaxnm": 0x4e20c400, // the number if the other one is a quiet NaN
	"fminnm": 0x4ea0c400,
	"fcmgt":  0x6ea0e400,
	"fcmge":  0x6e20e400,
	"fcmeq":  0x4e20e400,
	"faddp":  0x6e20d400, // sums of neighbours of n, then of m
	"add":    0x4ea08400,
	"sub":    0x6ea08400,
}

// Op3 writes an instruction on two sources.
func (a *Asm) Op3(op string, l Lanes, d, n, m V) {
	a.word(three.of(op)|l.size()|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%[3]s, v%[5]d.%[3]s", op, d, l, n, m)
}

// bitwise are instructions on whole registers.
var bitwise = codes{
	"and": 0x4e201c00,
	"bic": 0x4e601c00, // n and not m
	"orr": 0x4ea01c00,
	"eor": 0x6e201c00,
}

// Bit writes an instruction on whole registers.
func (a *Asm) Bit(op string, d, n, m V) {
	a.word(bitwise.of(op)|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.16b, v%d.16b, v%d.16b", op, d, n, m)
}

// Move copies a register.
func (a *Asm) Move(d, n V) {
	a.word(bitwise["orr"]|uint32(n)<<16|uint32(n)<<5|uint32(d), "mov v%d.16b, v%d.16b", d, n)
}

// two are instructions on one source.
var two = codes{
	"fabs":  0x4ea0f800,
	"scvtf": 0x4e21d800, // from signed integers
	"ucvtf": 0x6e21d800, // from unsigned integers
}

// Op2 writes an instruction on one source.
func (a *Asm) Op2(op string, l Lanes, d, n V) {
	a.word(two.of(op)|l.size()|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%[3]s", op, d, l, n)
}

// IsZero sets the lanes of d to ones where n is ±0, and to zeros elsewhere.
func (a *Asm) IsZero(l Lanes, d, n V) {
	a.word(0x4ea0d800|l.size()|uint32(n)<<5|uint32(d), "fcmeq v%d.%s, v%d.%[2]s, #0.0", d, l, n)
}

// Widen writes fcvtl, or fcvtl2 for the upper half: half of the float lanes of n
// as lanes of twice the width, which to is.
func (a *Asm) Widen(to Lanes, upper bool, d, n V) {
	a.half(0x0e217800|uint32(to)<<22, "fcvtl", to, upper, d, n, [...]string{"4h", "2s"}[to], "")
}

// Signed writes sshll, or sshll2 for the upper half: integers of half the width of
// 32-bit lanes, or bytes of 16-bit lanes, with their sign.
func (a *Asm) Signed(bytes, upper bool, d, n V) { a.long(0x0f00a400, "sshll", bytes, upper, d, n) }

// Unsigned writes ushll, or ushll2: as Signed, without a sign.
func (a *Asm) Unsigned(bytes, upper bool, d, n V) { a.long(0x2f00a400, "ushll", bytes, upper, d, n) }

func (a *Asm) long(code uint32, op string, bytes, upper bool, d, n V) {
	to, from, shift := "4s", "4h", uint32(16)
	if bytes {
		to, from, shift = "8h", "8b", 8
	}
	if upper {
		code, op, from = code|1<<30, op+"2", double(from)
	}
	a.word(code|shift<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, #0", op, d, to, n, from)
}

// Raise writes shll, or shll2: 16-bit lanes as the upper halves of 32-bit ones.
func (a *Asm) Raise(upper bool, d, n V) {
	a.half(0x2e613800, "shll", S4, upper, d, n, "4h", ", #16")
}

func (a *Asm) half(code uint32, op string, to Lanes, upper bool, d, n V, from, rest string) {
	if upper {
		code, op, from = code|1<<30, op+"2", double(from)
	}
	a.word(code|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s%s", op, d, to, n, from, rest)
}

func double(lanes string) string {
	return strings.NewReplacer("2s", "4s", "4h", "8h", "8b", "16b").Replace(lanes)
}

// ShiftRight writes sshr of 32-bit lanes: integers divided by 2^by, rounded down.
func (a *Asm) ShiftRight(d, n V, by uint32) {
	a.word(0x4f000400|(64-by)<<16|uint32(n)<<5|uint32(d), "sshr v%d.4s, v%d.4s, #%d", d, n, by)
}

// across are the instructions that reduce a register to a scalar: the codes for
// 32-bit and for 64-bit lanes.
var across = map[string][2]uint32{
	"max": {0x6e30f800, 0x7e70f800},
	"min": {0x6eb0f800, 0x7ef0f800},
	"sum": {0, 0x7e70d800},
	"add": {0x4eb1b800, 0x5ef1b800}, // of integers
}

var acrossName = map[string][2]string{
	"max": {"fmaxv s%d, v%d.4s", "fmaxp d%d, v%d.2d"},
	"min": {"fminv s%d, v%d.4s", "fminp d%d, v%d.2d"},
	"sum": {"", "faddp d%d, v%d.2d"},
	"add": {"addv s%d, v%d.4s", "addp d%d, v%d.2d"},
}

// Across reduces the lanes of n to the lowest one of d.
func (a *Asm) Across(op string, l Lanes, d, n V) {
	code := across[op][l]
	if code == 0 {
		panic("neon: no " + op + " across " + l.String())
	}
	a.word(code|uint32(n)<<5|uint32(d), acrossName[op][l], d, n)
}
