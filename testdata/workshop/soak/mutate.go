package soak

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
)

// Mutate returns a damaged copy of a file's content, never the same bytes, with a
// word for what was done. The damage depends on rng alone.
func Mutate(rng *rand.Rand, content []byte) ([]byte, string) {
	for {
		m := mutations[rng.IntN(len(mutations))]
		out := m.do(rng, append([]byte(nil), content...))
		if rng.IntN(4) == 0 { // now and then a second one on top
			out = mutations[rng.IntN(len(mutations))].do(rng, out)
		}
		if string(out) != string(content) {
			return out, m.name
		}
		if len(content) == 0 {
			return []byte{byte(rng.Uint32())}, "grown"
		}
	}
}

type mutation struct {
	name string
	do   func(rng *rand.Rand, p []byte) []byte
}

var mutations = []mutation{
	{"bit", func(rng *rand.Rand, p []byte) []byte {
		if len(p) > 0 {
			p[place(rng, p)] ^= 1 << rng.IntN(8)
		}
		return p
	}},
	{"bytes", func(rng *rand.Rand, p []byte) []byte {
		for range 1 + rng.IntN(16) {
			if len(p) > 0 {
				p[place(rng, p)] = byte(rng.Uint32())
			}
		}
		return p
	}},
	{"cut", func(rng *rand.Rand, p []byte) []byte { return p[:rng.IntN(len(p)+1)] }},
	{"head", func(rng *rand.Rand, p []byte) []byte { return p[rng.IntN(len(p)+1):] }},
	{"hole", func(rng *rand.Rand, p []byte) []byte {
		a, b := span(rng, p)
		return append(p[:a], p[b:]...)
	}},
	{"zeros", func(rng *rand.Rand, p []byte) []byte {
		a, b := span(rng, p)
		clear(p[a:b])
		return p
	}},
	{"twice", func(rng *rand.Rand, p []byte) []byte {
		a, b := span(rng, p)
		return append(append(append([]byte(nil), p[:b]...), p[a:b]...), p[b:]...)
	}},
	{"noise", func(rng *rand.Rand, p []byte) []byte {
		a := rng.IntN(len(p) + 1)
		noise := make([]byte, 1+rng.IntN(64))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		return append(append(append([]byte(nil), p[:a]...), noise...), p[a:]...)
	}},
	{"number", func(rng *rand.Rand, p []byte) []byte { // a length or a size in the header
		if len(p) < 8 {
			return p
		}
		v := numbers[rng.IntN(len(numbers))]
		at := rng.IntN(min(len(p)-7, 256))
		if rng.IntN(2) == 0 {
			binary.LittleEndian.PutUint64(p[at:], v)
		} else {
			binary.LittleEndian.PutUint32(p[at:], uint32(v))
		}
		return p
	}},
	{"digits", func(rng *rand.Rand, p []byte) []byte { // a number of a text
		for range 64 {
			if len(p) == 0 {
				return p
			}
			a := rng.IntN(len(p))
			if p[a] < '0' || p[a] > '9' {
				continue
			}
			b := a
			for b < len(p) && p[b] >= '0' && p[b] <= '9' {
				b++
			}
			text := strconv.FormatInt(int64(numbers[rng.IntN(len(numbers))]), 10)
			return append(append(append([]byte(nil), p[:a]...), text...), p[b:]...)
		}
		return p
	}},
	{"token", func(rng *rand.Rand, p []byte) []byte {
		a := rng.IntN(len(p) + 1)
		return append(append(append([]byte(nil), p[:a]...), tokens[rng.IntN(len(tokens))]...), p[a:]...)
	}},
}

var numbers = []uint64{0, 1, 0x7f, 0x80, 0xff, 0xffff, 1 << 20, 1 << 30, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 40, math.MaxInt64, 1 << 63, math.MaxUint64}

var tokens = []string{"{", "}", "[", "]", "\"", "\\", "\n", ",", ":", "\x00", "\x1b[31m", "\xff\xfe", "\u202e", "NaN", "-1", "1e999", "node {", "op {", "shape {", "../../", "=cmd()"}

// place is somewhere in p, the beginning more often, where headers are.
func place(rng *rand.Rand, p []byte) int {
	if rng.IntN(2) == 0 {
		return rng.IntN(min(len(p), 512))
	}
	return rng.IntN(len(p))
}

// span is a stretch of p, mostly a short one.
func span(rng *rand.Rand, p []byte) (from, to int) {
	from = rng.IntN(len(p) + 1)
	most := len(p) - from
	if rng.IntN(4) > 0 {
		most = min(most, 64)
	}
	return from, from + rng.IntN(most+1)
}
