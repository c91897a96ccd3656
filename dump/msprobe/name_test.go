package msprobe

import (
	"maps"
	"strings"
	"testing"
)

// TestBackwardNumbers: all modules that are called several times have to be counted as they come; one that is not, or lacks a call, leaves the
// numbers as they are.
func TestBackwardNumbers(t *testing.T) {
	names := func(list string) (all []Name) {
		for _, n := range strings.Fields(list) {
			all = append(all, ParseName("Module."+n))
		}
		return all
	}
	const forward = "act.GELU.forward.0 norm.LayerNorm.forward.0 act.GELU.forward.1 norm.LayerNorm.forward.1 act.GELU.forward.2 "
	for list, want := range map[string]map[int]int{
		forward + "act.GELU.backward.0 norm.LayerNorm.backward.0 act.GELU.backward.1 norm.LayerNorm.backward.1 act.GELU.backward.2": {5: 2, 6: 1, 8: 0, 9: 0},
		forward + "act.GELU.backward.2 norm.LayerNorm.backward.1 act.GELU.backward.1 norm.LayerNorm.backward.0 act.GELU.backward.0": {},
		forward + "act.GELU.backward.0 norm.LayerNorm.backward.1 act.GELU.backward.1 norm.LayerNorm.backward.0 act.GELU.backward.2": {},
		forward + "act.GELU.backward.0 act.GELU.backward.1":                                                                         {},
		"fc.Linear.forward.0 fc.Linear.backward.0":                                                                                  {},
	} {
		if got := BackwardNumbers(names(list)); !maps.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", list, got, want)
		}
	}
}
