package pattern

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"

	"precision/internal/must"
	"precision/internal/order"
)

// Kind is what kind of wrong a tensor is.
type Kind string

// Kinds that [Alternative] is meant for: only who knows the operator can tell them.
const (
	MissingBias     Kind = "missing-bias"
	MissingOperand  Kind = "missing-operand"  // a fused sum without its residual, an all-reduce without a rank
	LowAccumulation Kind = "low-accumulation" // sums in a narrower type
	WrongEpsilon    Kind = "wrong-epsilon"
	WrongAttribute  Kind = "wrong-attribute"
	UnmaskedPadding Kind = "unmasked-padding" // what fills up a block took part
	WrongWeight     Kind = "wrong-weight"     // read in the wrong order
	SwappedOperands Kind = "swapped-operands"
	MissingMaximum  Kind = "missing-maximum" // a softmax that did not subtract it
	OtherFormula    Kind = "other-formula"   // as the erf form of Gelu in place of the tanh form
	MissingTerms    Kind = "missing-terms"   // of a sum of products, the last ones
)

// Attribute belongs to WrongAttribute and WrongEpsilon: what was recorded follows with another value.
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"` // under which it follows
	Graph string `json:"graph"` // that of the graph
}

// Terms belongs to MissingTerms: only so many terms, or channels, of a sum were taken.
type Terms struct {
	Taken int64 `json:"taken"`
	Of    int64 `json:"of"`
}

// known are the Args that alternatives of these kinds bring, if any.
var known = map[Kind]any{WrongAttribute: Attribute{}, WrongEpsilon: Attribute{}, MissingTerms: Terms{}}

// vague are the kinds that describe an error without saying what was done to the numbers.
var vague = map[Kind]bool{LowPrecision: true, Noise: true, Unexplained: true, RandomElements: true, RegionOnly: true, CoarseType: true, Lanes: true, Border: true}

// Vague reports whether a kind only describes an error, so that one which predicts it says more.
func (k Kind) Vague() bool { return vague[k] }

// Finding is a hypothesis that the numbers bear out.
type Finding struct {
	Kind Kind
	// Args is the evidence: a struct of this package whose type belongs to Kind,
	// or what the alternative brought.
	Args any
	// Explained is the share of the squared error that the hypothesis explains,
	// of the elements beyond their bound or beyond the noise; for NaN, Inf and
	// saturation the share of those elements. 0 for kinds that only describe.
	Explained float64
	// Left is the worst error that remains, over the bound or, without one,
	// over what rounding and noise explain.
	Left float64
	// Elements is how many elements are concerned.
	Elements int64

	rank     int
	where    bool
	fallback bool
	floor    float64 // of the share left unexplained
}

// nines puts findings that explain about the same into one class, so that the
// simpler one is told first: half decades of what is left unexplained.
func (f *Finding) nines() int {
	n := int(math.Round(-2 * math.Log10(max(1-f.Explained, f.floor, 1e-6))))
	if f.where {
		n = min(n, 2) // to know where the errors are is less than to predict them
	}
	return n
}

// whole reports whether nothing is left to explain.
func (f *Finding) whole() bool {
	return !exceptional[f.Kind] && !f.where && (1-f.Explained <= 1e-4 || 1-f.Explained <= 2*f.floor)
}

// best sorts findings, best first, and drops those that a better one makes idle.
func best(all []Finding) []Finding {
	order.Stable(all, func(a, b Finding) int {
		return cmp.Or(order.FalseFirst(a.fallback, b.fallback), cmp.Compare(b.nines(), a.nines()), cmp.Compare(a.rank, b.rank))
	})
	out := all[:0]
	for _, f := range all {
		if exceptional[f.Kind] {
			out = append(out, f)
			continue
		}
		if len(out) > 0 && (f.fallback || f.nines()+1 < out[0].nines()) && !exceptional[out[0].Kind] {
			continue
		}
		if f.fallback && slices.ContainsFunc(out, func(o Finding) bool { return !exceptional[o.Kind] }) {
			continue
		}
		out = append(out, f)
	}
	return slices.Clip(out)
}

// exceptional kinds concern elements that the others leave out.
var exceptional = map[Kind]bool{NaN: true, Inf: true, Saturated: true, Finite: true}

// evidenceMost bounds the evidence that is kept with a table, as JSON.
const evidenceMost = 2048

// Evidence is Args as JSON, empty where there are none or JSON has no form for them.
func (f *Finding) Evidence() string {
	b, err := json.Marshal(f.Args)
	if err != nil || len(b) > evidenceMost || string(b) == "null" || string(b) == "{}" {
		return ""
	}
	return string(b)
}

type findingJSON struct {
	Kind      Kind            `json:"kind"`
	Args      json.RawMessage `json:"args"`
	Explained float64         `json:"explained"`
	Left      *float64        `json:"left"`
	Elements  int64           `json:"elements"`
}

// MarshalJSON writes kind, args, explained, left (null where it is no number) and elements.
func (f Finding) MarshalJSON() ([]byte, error) {
	args, err := json.Marshal(f.Args)
	if err != nil {
		return nil, err
	}
	j := findingJSON{Kind: f.Kind, Args: args, Explained: f.Explained, Elements: f.Elements}
	if f.Left-f.Left == 0 {
		j.Left = &f.Left
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. Args gets the type that belongs to the
// kind; those of an alternative become what encoding/json makes of them.
func (f *Finding) UnmarshalJSON(data []byte) (err error) {
	defer must.Catch(&err)
	var j findingJSON
	must.Do(json.Unmarshal(data, &j))
	*f = Finding{Kind: j.Kind, Explained: j.Explained, Left: math.Inf(1), Elements: j.Elements}
	if j.Left != nil {
		f.Left = *j.Left
	}
	args := known[j.Kind]
	if string(j.Args) == "null" {
		args = nil
	}
	for _, h := range hypotheses {
		if slices.Contains(h.kinds, j.Kind) && h.args != nil {
			args = h.args
		}
	}
	if args == nil {
		return json.Unmarshal(j.Args, &f.Args)
	}
	v := reflect.New(reflect.TypeOf(args))
	must.Do(json.Unmarshal(j.Args, v.Interface()))
	f.Args = v.Elem().Interface()
	return nil
}
