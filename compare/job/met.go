package job

import "precision/compare/result"

// What a meeting comes to.
const (
	MetOK      = "ok"
	MetWrong   = "wrong"
	MetUnknown = "unknown"
)

// Met is what was found of a meeting.
type Met struct {
	Verdict string `json:"verdict"`
	// Ops are the names of its operators in the graph.
	Ops []string `json:"ops"`
	// Groups are the ranks that met, a list each, and How they were found: "attribute" of the
	// graph, "values" of what was recorded, "shapes", or "all" ranks that have the operator.
	Groups []string `json:"groups,omitempty"`
	How    string   `json:"how,omitempty"`
	// Reduction is what a reducing collective makes of its inputs: sum, max, min, prod or mean.
	Reduction string  `json:"reduction,omitempty"`
	Faults    []Fault `json:"faults,omitempty"`
	// Why there is no verdict, one of the whys of package oracle, with its arguments.
	Why  string   `json:"why,omitempty"`
	Args []string `json:"args,omitempty"`
}

// Fault is what is wrong with the outputs of some ranks.
type Fault struct {
	// Kind is one of those of package oracle.
	Kind  string `json:"kind"`
	Ranks string `json:"ranks"`
	// Rank is whose input it is about, -1 where no one's.
	Rank   int `json:"rank"`
	Output int `json:"output"`
	// Elements of Of of the first of Ranks are wrong. At the worst of them Expected should be
	// and Found is, where Bound is allowed.
	Elements int64         `json:"elements"`
	Of       int64         `json:"of"`
	Expected result.Number `json:"expected"`
	Found    result.Number `json:"found"`
	Bound    result.Number `json:"bound"`
}
