package msprobe

import (
	"reflect"
	"testing"
)

func TestPlacements(t *testing.T) {
	for _, c := range []struct {
		json    string
		want    []Placement
		partial bool
	}{
		{`[{"Shard": {"dim": 2}}]`, []Placement{{Kind: "Shard"}}, false},
		{`[{"Replicate": {}}, {"Partial": {"reduce_op": "sum"}}]`, []Placement{{Kind: "Replicate"}, {Kind: "Partial", Op: "sum"}}, true},
		{`[{"_NormPartial": {"norm_type": 2, "reduce_op": "sum"}}]`, []Placement{{Kind: "Partial", Op: "sum"}}, true},
		{`["Shard"]`, []Placement{{Kind: "Shard"}}, false},
		{`[{"Partial": {"reduce_op`, nil, false},
		{`null`, nil, false},
	} {
		v := Value{Extra: []Extra{{"device_mesh", "[0,1]"}, {"placements", c.json}}}
		if got := v.Placements(); !reflect.DeepEqual(got, c.want) || v.Partial() != c.partial {
			t.Errorf("%s: %v, partial %v", c.json, got, v.Partial())
		}
	}
}

func TestMesh(t *testing.T) {
	for text, want := range map[string][]int{"[0,1]": {2}, "[[0,1,2],[3,4,5]]": {2, 3}, "[": nil, "null": nil} {
		v := Value{Extra: []Extra{{"device_mesh", text}}}
		if got := v.Mesh(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, expected %v", text, got, want)
		}
	}
}
