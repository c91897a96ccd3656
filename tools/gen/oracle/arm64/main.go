// Command arm64 writes the arm64 kernels of package compare/oracle as Go assembly.
package main

import (
	"strings"

	"precision/tools/gen/neon"
)

func main() {
	neon.Main("oracle", func(a *neon.Asm) {
		tile(a, "float32Tile16", 4, "S4")
		tile(a, "float64Tile8", 8, "D2")
	})
}

// tile writes the kernel that adds to 6 rows of 64 bytes: 24 registers hold them, four a row of b, and one a number of a.
func tile(a *neon.Asm, name string, size int, lanes string) {
	// func(k int, a, b, c *T, ld int)
	a.Func(name, 40)
	k, x, y, c, ld := a.Arg("k", 0), a.Arg("a", 8), a.Arg("b", 16), a.Arg("c", 24), a.Arg("ld", 32)
	at := a.R()
	a.Go("LSL $%d, %s", map[int]int{4: 2, 8: 3}[size], ld)
	rows := make([][]neon.V, 6)
	four := func() (v []neon.V) {
		for range 4 {
			v = append(v, a.V())
		}
		return v
	}
	list := func(v []neon.V) string {
		names := make([]string, len(v))
		for i, r := range v {
			names[i] = r.String() + "." + lanes
		}
		return "[" + strings.Join(names, ", ") + "]"
	}
	a.Go("MOVD %s, %s", c, at)
	for r := range rows {
		rows[r] = four()
		a.Go("VLD1 (%s), %s", at, list(rows[r]))
		a.Go("ADD %s, %s", ld, at)
	}
	row, number := four(), a.V()
	done := name + "done"
	a.Go("CBZ %s, %s", k, done)
	a.Loop(name+"loop", k, func() {
		a.Go("VLD1.P 64(%s), %s", y, list(row))
		for r := range rows {
			a.Go("VLD1R.P %d(%s), [%s.%s]", size, x, number, lanes)
			for i, v := range row {
				a.Go("VFMLA %s.%s, %s.%s, %s.%s", number, lanes, v, lanes, rows[r][i], lanes)
			}
		}
	})
	a.Label(done)
	for r := range rows {
		a.Go("VST1 %s, (%s)", list(rows[r]), c)
		a.Go("ADD %s, %s", ld, c)
	}
	a.Ret()
}
