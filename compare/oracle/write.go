package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/pattern"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/clean"
	"precision/internal/each"
)

// Findings as tables: csv, and JSON, which can be read back. What a column means is docs/check.md;
// texts of reasons come from whoever writes, in a language of theirs ([Say]).

// Say puts a reason into words.
type Say func(result.Reason) string

// Columns are the columns of the table.
var Columns = []string{"Rank", "OpType", "OpName", "Output", "DType", "Shape", "Verdict", "Ratio", "Bound", "LargestError", "Place",
	"Expected", "Found", "Elements", "LookedAt", "Beyond", "Local", "Inherited", "LocalShare", "InheritedShare", "Amplification", "Pattern", "Reason"}

// WriteCSV writes a row for every output.
func WriteCSV(w io.Writer, findings []Finding, say Say) error {
	out := clean.NewCSV(w)
	if err := out.Write(Columns); err != nil {
		return err
	}
	for i := range findings {
		f := &findings[i]
		rank := ""
		if f.Rank >= 0 {
			rank = itoa(f.Rank)
		}
		row := []string{rank, clean.Cell(f.Type), clean.Cell(f.Op), itoa(f.Index), f.DType.String(), dims(f.Shape), f.Verdict.String(), number(f.Ratio), number(f.Bound),
			number(f.Largest), dims(f.Worst), number(f.Expected), number(f.Found), strconv.FormatInt(f.Elements, 10),
			strconv.FormatInt(f.Looked, 10), strconv.FormatInt(f.Beyond, 10)}
		if s := f.Split; s != nil {
			row = append(row, number(s.Local), number(s.Inherited), number(s.LocalShare), number(s.InheritedShare), number(s.Amplification))
		} else {
			row = append(row, "", "", "", "", "")
		}
		row = append(row, f.Pattern, clean.Cell(sentences(f.Reasons, say)))
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

func sentences(reasons []result.Reason, say Say) string {
	text := each.Of(reasons, say)
	return strings.Join(text, "; ")
}

// number renders a number with what digits a reader can use; nothing for NaN,
// which stands for none.
func number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 9, 64)
}

func dims(shape []int64) string {
	if shape == nil {
		return ""
	}
	text := each.Of(shape, func(d int64) string { return strconv.FormatInt(d, 10) })
	return strings.Join(text, "x")
}

// real is a [result.Number] that is null where there is none, which is NaN here.
type real float64

func (x real) MarshalJSON() ([]byte, error) {
	switch f := float64(x); {
	case math.IsNaN(f):
		return []byte("null"), nil
	case math.IsInf(f, 0):
		return result.Number(f).MarshalJSON()
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (x *real) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*x = real(nan)
		return nil
	}
	return (*result.Number)(x).UnmarshalJSON(text)
}

type jsonReport struct {
	Schema string         `json:"schema"`
	Full   bool           `json:"full"`
	Counts map[string]int `json:"counts"` // outputs by verdict
	// Verdict is the worst of them, or that too little could be checked.
	Verdict  string        `json:"verdict"`
	Coverage jsonCoverage  `json:"coverage"`
	Damaged  []jsonDamage  `json:"damaged"`
	Premises []jsonPremise `json:"premises"`
	// Looks are pictures of wrong outputs, in the form of those of tables.
	Looks     json.RawMessage `json:"looks,omitempty"`
	Operators []jsonOp        `json:"operators"`
}

type jsonCoverage struct {
	Expected int      `json:"expected"`
	Judged   int      `json:"judged"`
	Missing  []string `json:"missing"`
	Gaps     []string `json:"ranks_missing,omitempty"`
}

type jsonDamage struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Offset int64  `json:"offset"` // -1 where no place can be told
	Reason string `json:"reason"`
}

// jsonPremise has the form of those of verdicts.
type jsonPremise struct {
	Kind    string `json:"kind"`
	Broken  bool   `json:"broken,omitempty"`
	Tensors int    `json:"tensors"`
	Share   real   `json:"share"`
	Text    string `json:"text"`
}

type jsonOp struct {
	Op      string       `json:"op"`
	Type    string       `json:"type"`
	Index   int64        `json:"index"`
	Rank    *int         `json:"rank,omitempty"`
	Outputs []jsonOutput `json:"outputs"`
}

type jsonOutput struct {
	Index    int               `json:"index"`
	Verdict  string            `json:"verdict"`
	DType    string            `json:"dtype,omitempty"` // not of what could not be read
	Shape    []int64           `json:"shape,omitempty"`
	Ratio    real              `json:"ratio"`
	Worst    []int64           `json:"worst,omitempty"`
	Expected real              `json:"expected"`
	Found    real              `json:"found"`
	Bound    real              `json:"bound"`
	Largest  real              `json:"largest"`
	Elements int64             `json:"elements"`
	Looked   int64             `json:"looked_at"`
	Beyond   int64             `json:"beyond"`
	Reason   string            `json:"reason"`
	Reasons  []result.Reason   `json:"reasons,omitempty"`
	Pattern  string            `json:"pattern,omitempty"`
	Patterns []pattern.Finding `json:"patterns,omitempty"`
	Split    *jsonSplit        `json:"split,omitempty"`
}

type jsonSplit struct {
	Error          real `json:"error"`
	Local          real `json:"local"`
	Inherited      real `json:"inherited"`
	LocalShare     real `json:"local_share"`
	InheritedShare real `json:"inherited_share"`
	Amplification  real `json:"amplification"`
	Sensitive      bool `json:"sensitive"`
}

// Schema names the form of what WriteJSON writes.
const Schema = "precision/check/1"

// Whole is what is said of a check as a whole.
type Whole struct {
	// Verdict is the worst of the findings, or that too little could be checked.
	Verdict  string
	Coverage Coverage
	// Premises are what the check takes for granted and does not hold.
	Premises []Premise
	// Full: all elements of large outputs were looked at.
	Full bool
	// Looks are pictures of wrong outputs as JSON; the writer knows their form.
	Looks []byte
}

// Premise is one of them, as a judge found it.
type Premise struct {
	Kind    string
	Broken  bool
	Tensors int
	Share   float64
	Reason  result.Reason
}

// WriteJSON writes the findings by operators.
func WriteJSON(w io.Writer, findings []Finding, whole Whole, say Say) error {
	c := whole.Coverage
	report := jsonReport{Schema: Schema, Full: whole.Full, Counts: map[string]int{}, Verdict: whole.Verdict, Operators: []jsonOp{}, Premises: []jsonPremise{},
		Coverage: jsonCoverage{Expected: c.Expected, Judged: c.Judged, Missing: append([]string{}, c.Missing...), Gaps: c.Gaps}, Damaged: []jsonDamage{}, Looks: whole.Looks}
	for i := range c.Damaged {
		d := &c.Damaged[i]
		report.Damaged = append(report.Damaged, jsonDamage{d.Name, d.File, d.Offset, say(d.Reason)})
	}
	for _, p := range whole.Premises {
		report.Premises = append(report.Premises, jsonPremise{p.Kind, p.Broken, p.Tensors, real(p.Share), say(p.Reason)})
	}
	for i := range findings {
		f := &findings[i]
		report.Counts[f.Verdict.String()]++
		n := len(report.Operators)
		if i == 0 || f.Index == 0 || findings[i-1].Op != f.Op || findings[i-1].Rank != f.Rank {
			op := jsonOp{Op: f.Op, Type: f.Type, Index: f.ID}
			if f.Rank >= 0 {
				op.Rank = &f.Rank
			}
			report.Operators = append(report.Operators, op)
			n++
		}
		o := jsonOutput{Index: f.Index, Verdict: f.Verdict.String(), Shape: f.Shape, Ratio: real(f.Ratio), Worst: f.Worst, Expected: real(f.Expected),
			Found: real(f.Found), Bound: real(f.Bound), Largest: real(f.Largest), Elements: f.Elements, Looked: f.Looked, Beyond: f.Beyond,
			Reason: sentences(f.Reasons, say), Reasons: f.Reasons, Pattern: f.Pattern, Patterns: f.Patterns}
		if f.Shape != nil {
			o.DType = f.DType.String()
		}
		if s := f.Split; s != nil {
			o.Split = &jsonSplit{real(s.Error), real(s.Local), real(s.Inherited), real(s.LocalShare), real(s.InheritedShare),
				real(s.Amplification), s.Sensitive}
		}
		report.Operators[n-1].Outputs = append(report.Operators[n-1].Outputs, o)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// ReadJSON reads what [WriteJSON] wrote: all of it but reasons of damage and those of premises,
// which are texts there.
func ReadJSON(r io.Reader) (findings []Finding, whole Whole, err error) {
	var report jsonReport
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, whole, err
	}
	if report.Schema != Schema {
		return nil, whole, fmt.Errorf("schema: found %q, expected %q", report.Schema, Schema)
	}
	whole = Whole{Verdict: report.Verdict, Full: report.Full, Coverage: Coverage{Expected: report.Coverage.Expected, Judged: report.Coverage.Judged,
		Missing: report.Coverage.Missing, Gaps: report.Coverage.Gaps}, Looks: report.Looks}
	for _, d := range report.Damaged {
		whole.Coverage.Damaged = append(whole.Coverage.Damaged, result.Damage{Name: d.Name, File: d.File, Offset: d.Offset, Reason: result.Because(result.Text, d.Reason)})
	}
	for _, op := range report.Operators {
		for i := range op.Outputs {
			o := &op.Outputs[i]
			f := Finding{Op: op.Op, Type: op.Type, ID: op.Index, Rank: -1, Index: o.Index, Verdict: Verdict(max(0, slices.Index(verdictNames[:], o.Verdict))), Ratio: float64(o.Ratio),
				Worst: o.Worst, Expected: float64(o.Expected), Found: float64(o.Found), Bound: float64(o.Bound), Largest: float64(o.Largest),
				Elements: o.Elements, Looked: o.Looked, Beyond: o.Beyond, Reasons: o.Reasons, Pattern: o.Pattern, Patterns: o.Patterns}
			f.DType, _ = dtype.Parse(o.DType)
			f.Shape = o.Shape
			if op.Rank != nil {
				f.Rank = *op.Rank
			}
			if s := o.Split; s != nil {
				f.Split = &Split{Error: float64(s.Error), Local: float64(s.Local), Inherited: float64(s.Inherited), LocalShare: float64(s.LocalShare),
					InheritedShare: float64(s.InheritedShare), Amplification: float64(s.Amplification), Sensitive: s.Sensitive}
			}
			findings = append(findings, f)
		}
	}
	return findings, whole, nil
}
