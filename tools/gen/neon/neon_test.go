package neon

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// every writes each instruction that there is, with registers that have no bits
// in common.
func every(a *Asm) {
	const d, n, m = V(17), V(10), V(4)
	for _, l := range []Lanes{S4, D2} {
		for _, op := range slices.Sorted(maps.Keys(three)) {
			a.Op3(op, l, d, n, m)
		}
		for _, op := range slices.Sorted(maps.Keys(two)) {
			a.Op2(op, l, d, n)
		}
		for _, op := range slices.Sorted(maps.Keys(across)) {
			if across[op][l] != 0 {
				a.Across(op, l, d, n)
			}
		}
		a.IsZero(l, d, n)
	}
	for _, op := range slices.Sorted(maps.Keys(bitwise)) {
		a.Bit(op, d, n, m)
	}
	a.Move(d, n)
	for _, upper := range []bool{false, true} {
		a.Widen(S4, upper, d, n)
		a.Widen(D2, upper, d, n)
		a.Raise(upper, d, n)
		for _, bytes := range []bool{false, true} {
			a.Signed(bytes, upper, d, n)
			a.Unsigned(bytes, upper, d, n)
		}
	}
	for _, by := range []uint32{1, 23, 32} {
		a.ShiftRight(d, n, by)
	}
}

// TestWords compares every encoding with that of LLVM's assembler for the
// mnemonic: testdata/words.txt holds what llvm-mc -triple=aarch64 made of each.
func TestWords(t *testing.T) {
	f, err := os.Open("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, mnemonic, _ := strings.Cut(lines.Text(), " ")
		want[mnemonic] = word
	}
	a := &Asm{}
	every(a)
	written := regexp.MustCompile(`WORD \$0x([0-9a-f]{8}) // (.*)`).FindAllStringSubmatch(a.file.String(), -1)
	if len(written) != len(want) {
		t.Errorf("%d instructions, expected %d", len(written), len(want))
	}
	for _, w := range written {
		if word, ok := want[w[2]]; word != w[1] {
			t.Errorf("%s: %s, expected %s (known: %v)", w[2], w[1], word, ok)
		}
	}
}

func TestRegisters(t *testing.T) {
	panics := func(f func()) (msg string) {
		defer func() { msg = fmt.Sprint(recover()) }()
		f()
		return ""
	}
	a := &Asm{}
	a.Func("f", 0)
	seen := map[V]bool{}
	for range 32 {
		seen[a.V()] = true
	}
	if len(seen) != 32 {
		t.Errorf("%d registers in turn, expected 32", len(seen))
	}
	if msg := panics(func() { a.V() }); !strings.Contains(msg, "out of vector registers") {
		t.Errorf("a register too many: %s", msg)
	}
	a.Free(7)
	if v := a.V(); v != 7 {
		t.Errorf("the freed register is %s, expected V7", v)
	}
	a.Free(7)
	if msg := panics(func() { a.Free(7) }); !strings.Contains(msg, "V7 is free") {
		t.Errorf("freed twice: %s", msg)
	}
	for range 16 {
		a.R()
	}
	if msg := panics(func() { a.R() }); !strings.Contains(msg, "out of general registers") {
		t.Errorf("a general register too many: %s", msg)
	}
}
