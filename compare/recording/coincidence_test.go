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
