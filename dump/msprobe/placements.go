package msprobe

import (
	"encoding/json"
	"slices"
	"strings"
)

// Placement is how a DTensor lies on one dimension of its device mesh.
type Placement struct {
	// Kind is the class without what distinguishes its versions: Shard, Replicate, Partial.
	Kind string
	// Op is how the parts of a Partial are put together: sum, avg.
	Op string
}

// Placements are those of a tensor that is a DTensor, one for each dimension of the device mesh;
// nil of others. Shape, statistics and file of a DTensor are those of the rank's own part.
func (v *Value) Placements() (list []Placement) {
	for _, x := range v.Extra {
		if x.Key != "placements" {
			continue
		}
		var raw []json.RawMessage
		if json.Unmarshal([]byte(x.JSON), &raw) != nil {
			return nil
		}
		for _, r := range raw {
			var named map[string]struct {
				Op string `json:"reduce_op"`
			}
			var name string
			switch {
			case json.Unmarshal(r, &named) == nil:
				for kind, p := range named {
					list = append(list, Placement{placed(kind), p.Op})
				}
			case json.Unmarshal(r, &name) == nil:
				list = append(list, Placement{Kind: placed(name)})
			}
		}
	}
	return list
}

// Mesh is how many ranks there are along each dimension of the device mesh of a DTensor; nil of others.
func (v *Value) Mesh() (sizes []int) {
	for _, x := range v.Extra {
		if x.Key != "device_mesh" {
			continue
		}
		at := json.RawMessage(x.JSON)
		for {
			var list []json.RawMessage
			if json.Unmarshal(at, &list) != nil || len(list) == 0 {
				return sizes
			}
			sizes, at = append(sizes, len(list)), list[0]
		}
	}
	return nil
}

// placed is the plain name of a class of placements: NormPartial, _MaskPartial and the like are
// each a Partial, _StridedShard is a Shard.
func placed(class string) string {
	for _, kind := range []string{"Partial", "Shard", "Replicate"} {
		if strings.Contains(class, kind) {
			return kind
		}
	}
	return class
}

// Partial reports whether the rank has one summand of a tensor, not a part of its elements.
func (v *Value) Partial() bool {
	return slices.ContainsFunc(v.Placements(), func(p Placement) bool { return p.Kind == "Partial" })
}
