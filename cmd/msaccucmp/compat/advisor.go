package compat

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
)

// adviceThreshold is the cosine similarity from which on a tensor is fine for
// the advisor.
const adviceThreshold = 0.99

// Advisor looks at the rows of a comparison and tells what to do about them.
// Of its rules the first that fits counts:
//
//   - a float16 tensor overflows;
//   - an input of the network differs;
//   - how cosine similarities are spread over the network.
type Advisor struct {
	inputs   []string          // input nodes in the order of the graph
	overflow string            // Index of the first row that overflows
	nodes    map[string]string // Index of an input's first row below the threshold
	any, bad bool              // some value, some value below the threshold
	first    string
	lastBad  bool
}

// NewAdvisor prepares advice on a network with these input nodes; where they are not known, their rule never fits.
func NewAdvisor(inputs []string) *Advisor {
	a := &Advisor{inputs: inputs, nodes: map[string]string{}}
	for _, name := range inputs {
		a.nodes[name] = ""
	}
	return a
}

// Add looks at a row. Rows come in the order of the table. What counts is the
// cosine as the table shows it, so that 0.990000 is no worse than it looks.
func (a *Advisor) Add(r *result.Row) {
	cosine := math.NaN()
	if r.Compared {
		cosine = cellNumber(r.Result().Text(metric.CosineSimilarity))
	}
	a.add(strconv.Itoa(r.Index), r.Left.Names, r.Overflow, cosine)
}

// cellNumber reads a cell of a metric; what is no number is NaN.
func cellNumber(cell string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (a *Advisor) add(index, mine, overflow string, cosine float64) {
	if overflow == "YES" && a.overflow == "" {
		a.overflow = index
	}
	low := cosine < adviceThreshold
	if bad, ok := a.nodes[mine]; ok && low && bad == "" {
		a.nodes[mine] = index
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
		if bad := a.nodes[name]; bad != "" {
			return Advice{"Input Inconsistent", bad,
				"The two sides were not fed with the same input. Use the same data, or check how each side prepares it."}
		}
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
