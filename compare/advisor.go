package compare

import (
	"fmt"
	"math"
	"strconv"

	"precision/compare/metric"
	"precision/graph"
)

// adviceThreshold is the cosine similarity from which on a tensor is fine for
// the advisor.
const adviceThreshold = 0.99

// Advisor looks at the rows of a comparison and tells what to do about them.
// Of its rules the first that fits counts:
//
//   - a float16 tensor overflows;
//   - the first input of the network that was compared differs;
//   - how cosine similarities are spread over the network.
type Advisor struct {
	inputs   []string // input nodes in the order of the graph
	overflow string   // Index of the first row that overflows
	nodes    map[string]node
	any, bad bool // some value, some value below the threshold
	first    string
	lastBad  bool
}

// node is an input node's first row below the threshold.
type node struct {
	seen bool
	bad  string
}

// NewAdvisor prepares advice on a network. Without rules input nodes are not
// known and their rule never fits.
func NewAdvisor(rules *graph.Rules) *Advisor {
	a := &Advisor{nodes: map[string]node{}}
	if rules != nil {
		a.inputs = rules.InputNodes
		for _, name := range a.inputs {
			a.nodes[name] = node{}
		}
	}
	return a
}

// Add looks at a row. Rows come in the order of the table.
func (a *Advisor) Add(r *Row) {
	cosine := math.NaN()
	if r.Compared {
		cosine = r.Result.Values[metric.CosineSimilarity].Float()
	}
	a.add(strconv.Itoa(r.Index), r.Mine, r.Overflow, cosine)
}

func (a *Advisor) add(index, mine, overflow string, cosine float64) {
	if overflow == "YES" && a.overflow == "" {
		a.overflow = index
	}
	low := cosine < adviceThreshold
	if n, ok := a.nodes[mine]; ok {
		n.seen = true
		if low && n.bad == "" {
			n.bad = index
		}
		a.nodes[mine] = n
	}
	if math.IsNaN(cosine) {
		return
	}
	a.any, a.lastBad = true, low
	if low && !a.bad {
		a.bad, a.first = true, index
	}
}

// Advice is the verdict of an Advisor.
type Advice struct {
	// Detection names the rule that fits, NA if none does.
	Detection string
	// Operator is the Index of the row it is about, NA if there is none.
	Operator string
	// Text says what to do.
	Text string
}

// Advice gives the verdict on the rows so far.
func (a *Advisor) Advice() Advice {
	if a.overflow != "" {
		return Advice{"FP16 Overflow", a.overflow,
			"A float16 tensor reached the end of its range. Remove the overflow first, then compare again."}
	}
	for _, name := range a.inputs {
		n := a.nodes[name]
		if !n.seen {
			continue
		}
		if n.bad != "" {
			return Advice{"Input Inconsistent", n.bad,
				"The two sides were not fed with the same input. Use the same data, or check how each side prepares it."}
		}
		break // the first input that was compared decides
	}
	switch {
	case !a.any:
		return Advice{"NA", "NA", "NA"}
	case !a.bad:
		return Advice{"Global Consistency", "NA",
			"Every compared tensor is fine. If the results of the model are wrong all the same, look at what is done with its outputs."}
	case a.lastBad:
		return Advice{"Global Consistency", a.first,
			"Tensors differ up to the end of the network. Start at the first of them; if the network is quantised, calibrate it again."}
	}
	return Advice{"Global Consistency", a.first,
		"Some tensors differ, but the end of the network is fine again. Most likely the compiler computes these another way; it can mostly be let be."}
}

// String is the three lines of the advisor's summary file.
func (a Advice) String() string {
	return fmt.Sprintf("Detection Type: %s\nOperator Index: %s\nExpert Advice: %s\n", a.Detection, a.Operator, a.Text)
}
