package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestCoincidence: behind a root, what says little says the same by chance and clears nothing: numbers of few bits, flags, integers,
// a checksum that is blind to order, extremes alone. A checksum of the bytes proves a tensor the same, and what follows is a root of its own.
func TestCoincidence(t *testing.T) {
	flags, ids := statistics("bool", "true", "false", "null", "null"), statistics("int64", "31", "0", "null", "null")
	extremes := func(v float64) string { return statistics("float32", fmt.Sprint(v), fmt.Sprint(-v/2), "null", "null") }
	hashed := func(sum string) string {
		return strings.TrimSuffix(sized(8, 0), "}") + `, "md5": "` + sum + `"}`
	}
	blind := func(sum string) string {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 8], "md5": "` + sum + `", "requires_grad": false}`
	}
	const first, second = "Functional.linear.0.forward", "Functional.linear.1.forward"
	for _, c := range []struct {
		name                 string
		wrong, right, common string // what the root gives on each side, and what is made of it on both
		off, golden          string // what comes of that
		roots                []string
	}{
		{"bfloat16", coarse(9, 0.5), coarse(6, 0.5), coarse(8, 0.3), coarse(12, 0.6), coarse(10, 0.6), []string{first}},
		{"flags", sized(9, 0), sized(6, 0), flags, sized(12, 0), sized(10, 0), []string{first}},
		{"integers", sized(9, 0), sized(6, 0), ids, sized(12, 0), sized(10, 0), []string{first}},
		{"extremes alone", extremes(9), extremes(6), extremes(8), extremes(12), extremes(10), []string{first}},
		{"a checksum without order", blind("0x0000000000000009"), blind("0x0000000000000006"), blind("0x0000000000000008"), blind("0x000000000000000c"), blind("0x000000000000000a"), []string{first}},
		{"a checksum of the bytes", sized(9, 0), sized(6, 0), hashed("0000000a"), sized(12, 0), sized(10, 0), []string{first, second}},
	} {
		for _, api := range []string{"Functional.gelu", "Tensor.add_", "Distributed.all_reduce"} { // also in place, and from other ranks
			side := func(made, out string) string {
				in, weight := sized(2, 0), sized(1.3, 0)
				if strings.Contains(made, "0x") {
					in, weight = blind("0x0000000000000001"), blind("0x0000000000000002")
				}
				return written(t, entry("Functional.linear", 0, []string{in, weight}, made), entry(api, 0, []string{made}, c.common), entry("Functional.linear", 1, []string{c.common, weight}, out))
			}
			if got := rootNames(judged(t, side(c.wrong, c.off), side(c.right, c.golden))); !slices.Equal(got, c.roots) {
				t.Errorf("%s, by %s: roots %v, expected %v", c.name, api, got, c.roots)
			}
		}
	}
}

// TestChoseAlike: a choice that may have turned out otherwise excuses what comes of it as long as that differs. Behind a lookup that gives the same on
// both sides, or but for rounding, calls are judged as any other.
func TestChoseAlike(t *testing.T) {
	places := func(most int) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.int64", "shape": [1024, 1024], "Max": %d, "Min": 0, "Mean": 3.5, "Norm": 20, "requires_grad": false}`, most)
	}
	sized := func(v, off float64) string { return strings.Replace(sized(v, off), "[8, 8]", "[1024, 1024]", 1) }
	side := func(noise, looked, off float64, most int) string {
		calls := []string{entry("Functional.linear", 0, []string{sized(1, 0), sized(0.3, 0)}, sized(2, noise)),
			entry("Torch.argmax", 0, []string{sized(2, noise)}, places(most)),
			entry("Functional.embedding", 0, []string{places(most), sized(0.7, 0)}, sized(3, looked))}
		for i := range 12 {
			calls = append(calls, entry("Functional.linear", i+1, []string{sized(3+float64(i), looked), sized(0.2+float64(i), 0)}, sized(4+float64(i), looked)))
		}
		return written(t, append(calls, entry("Functional.relu", 0, []string{sized(15, looked)}, sized(17, looked+off)))...)
	}
	const u = 1.0 / (1 << 24)
	for _, c := range []struct {
		name        string
		looked, off float64
		roots       []string
	}{
		{"but for rounding", 2 * u, 0.006, []string{"Functional.relu.0.forward"}},
		{"other rows", 0.1, 0.006, nil},
		{"nothing wrong", 2 * u, 0, nil},
	} {
		if j := judged(t, side(2*u, c.looked, c.off, 6), side(0, 0, 0, 7)); !slices.Equal(rootNames(j), c.roots) {
			t.Errorf("%s: %s, roots %v, expected %v", c.name, j.Verdict, rootNames(j), c.roots)
		}
	}
}
