//go:build amd64 && !noasm

package metric

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkRoofline holds the kernels over two tiles in cache, 2 × 128 KB, against what the machine allows: the time that
// only reading the tiles takes, and the time that their vector instructions take at the rate of a mix of instructions
// that wait for nothing. The longer of the two is the limit; "of-limit" is that as a part of what the kernel takes.
// A division counts as one instruction and takes several, so that no kernel with divisions comes near 1.
func BenchmarkRoofline(b *testing.B) {
	const n = TileLen
	x, y := pair(n, 1, "plain")
	scale, ok := scaleOf(x, y)
	if !ok {
		b.Fatal("not for float32")
	}
	kx, ky := newKLScale(-1.75, 2.25), newKLScale(-1.75, 2.25)
	for _, stage := range []struct {
		name, kernel string
		run          func()
	}{
		{"sums", "sumTile32", func() { var t tileSums; vector32[active].sumTile(&t, x, y) }},
		{"divergence", "sumNarrow", func() { var s narrowSums; sumNarrow(&s, scale, x, y) }},
		{"divergence64", "sumKL32", func() { var s klSums; vector32[active].sumKL(&s, &kx, &ky, x, y) }},
		{"spread", "sumSpread32", func() { vector32[active].spreadAbout(x, 1) }},
	} {
		for _, l := range levels[1:] {
			b.Run(stage.name+"/"+l.String(), func(b *testing.B) {
				perElement := instructions(b, stage.kernel+l.String())
				spin := vectorPeakAVX2
				if l == levelAVX512 {
					spin = vectorPeakAVX512
				}
				const rounds = 4096
				took, read, peak := 1e9, 1e9, 1e9
				withLevel(l, func() {
					for b.Loop() {
						took = min(took, best(50, stage.run).Seconds())
						read = min(read, best(50, func() { sink += readStreams(&x[0], &y[0], n) }).Seconds())
						peak = min(peak, best(20, func() { spin(rounds) }).Seconds())
					}
				})
				instruction := peak / (14 * rounds)
				limit := max(read/n, perElement*instruction)
				b.ReportMetric(took/n*1e9, "ns/element")
				b.ReportMetric(read/n*1e9, "read-ns")
				b.ReportMetric(perElement, "instr/element")
				b.ReportMetric(perElement*instruction*1e9, "instr-ns")
				b.ReportMetric(limit/(took/n), "of-limit")
			})
		}
	}
}

var (
	labelLine  = regexp.MustCompile(`^([a-z0-9]+):$`)
	jumpLine   = regexp.MustCompile(`^\tJN[EZ] +([a-z0-9]+)$`)
	vectorLine = regexp.MustCompile(`^\tV`)
	stepLine   = regexp.MustCompile(`^\tADDQ +\$0x([0-9a-f]+), `)
)

// instructions counts the vector instructions of a kernel's innermost loops for each element.
func instructions(tb testing.TB, kernel string) float64 {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		tb.Fatal(err)
	}
	_, body, found := strings.Cut(string(text), "TEXT ·"+kernel+"(SB)")
	if !found {
		tb.Fatalf("no kernel %s", kernel)
	}
	body, _, _ = strings.Cut(body, "\nTEXT")
	perElement := 0.0
	label, vectors, bytes := "", 0, uint64(0)
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		switch m := labelLine.FindStringSubmatch(line); {
		case m != nil:
			label, vectors, bytes = m[1], 0, 0
		case vectorLine.MatchString(line):
			vectors++
		}
		if m := stepLine.FindStringSubmatch(line); m != nil && bytes == 0 {
			bytes, _ = strconv.ParseUint(m[1], 16, 64)
		}
		if m := jumpLine.FindStringSubmatch(line); m != nil && m[1] == label && bytes > 0 {
			perElement += float64(vectors) / float64(bytes/4)
			label = ""
		}
	}
	if perElement == 0 {
		tb.Fatalf("%s has no loop", kernel)
	}
	return perElement
}
