package checked

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/oracle"
	"precision/compare/report"
	"precision/compare/report/html"
	"precision/compare/report/patterns"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/graph"
	"precision/internal/each"
	"precision/internal/msg"
)

// Options of [Write].
type Options struct {
	Lang msg.Lang
	// Left and Graph are what was checked, for people.
	Left, Graph string
	// Looks are pictures of wrong outputs, as [report.Looks] writes them.
	Looks json.RawMessage
}

// data is what the script reads: one column for each thing that is known of outputs, and what is
// said of them.
type data struct {
	Outputs outputs         `json:"outputs"`
	Looks   json.RawMessage `json:"looks,omitempty"`
	Heat    *heat           `json:"heat,omitempty"`
	Page    own             `json:"page"`
}

// heat is what monitors recorded: of each output its size at each step, over its median; null where
// there is no number.
type heat struct {
	Steps []int64           `json:"steps"`
	Sizes [][]result.Number `json:"sizes"` // in the order of outputs
}

// heatOf arranges the history of outputs by steps; nil where there is none.
func heatOf(findings []oracle.Finding) *heat {
	at := map[int64]int{}
	for i := range findings {
		for _, p := range findings[i].History {
			at[p.Step] = 0
		}
	}
	if len(at) == 0 {
		return nil
	}
	h := &heat{Steps: slices.Sorted(maps.Keys(at))}
	for i, step := range h.Steps {
		at[step] = i
	}
	for i := range findings {
		row := make([]result.Number, len(h.Steps))
		var sizes []float64
		for k := range row {
			row[k] = result.Number(math.NaN())
		}
		for _, p := range findings[i].History {
			if row[at[p.Step]] = result.Number(p.Size); p.Size-p.Size == 0 {
				sizes = append(sizes, p.Size)
			}
		}
		slices.Sort(sizes)
		if n := len(sizes); n > 0 && sizes[n/2] > 0 {
			for k := range row {
				row[k] /= result.Number(sizes[n/2])
			}
		}
		h.Sizes = append(h.Sizes, row)
	}
	return h
}

// outputs are in execution order. Ratio is the largest error as a share of what rounding may do;
// Worst the place of that element, in the axes of the framework; Expected, Found and Bound its
// numbers.
type outputs struct {
	Op       []string        `json:"op"`
	Type     []string        `json:"type"`
	Rank     []int           `json:"rank"`
	Index    []int           `json:"index"`
	State    string          `json:"states"` // a letter each, see letters
	Ratio    []result.Number `json:"ratio"`
	Worst    [][]int64       `json:"worst"`
	Expected []result.Number `json:"expected"`
	Found    []result.Number `json:"found"`
	Bound    []result.Number `json:"bound"`
	Largest  []result.Number `json:"largest"`
	DType    []string        `json:"dtype"`
	Shape    [][]int64       `json:"shape"`
	Elements []int64         `json:"elements"`
	Looked   []int64         `json:"looked"`
	Beyond   []int64         `json:"beyond"`
	Reason   []int           `json:"reason"` // places in the reasons of a language
	Kind     []int           `json:"kind"`   // places in the kinds of wrong of a language, -1 for none
}

// letters are the states of outputs as the scripts know them: good, suspect, bad, and uncompared
// for what is unknown.
var letters = map[oracle.Verdict]byte{oracle.OK: 'g', oracle.Suspect: 's', oracle.Wrong: 'b', oracle.Unknown: 'u'}

type own struct {
	Lang    string            `json:"lang"`
	Verdict string            `json:"verdict"`
	Left    string            `json:"left"`
	Graph   string            `json:"graph,omitempty"`
	Say     map[string]spoken `json:"say"`
}

// spoken is what is said in one language.
type spoken struct {
	html.Spoken
	Reasons []string `json:"reasons"`
	Kinds   []string `json:"kinds"`
}

// Write writes the page.
func Write(to io.Writer, findings []oracle.Finding, c oracle.Coverage, o Options) error {
	standing := Standing(findings, c)
	d := data{Looks: o.Looks, Heat: heatOf(findings), Page: own{Lang: o.Lang.String(), Verdict: standing.Verdict.String(), Left: report.Clean(o.Left), Graph: report.Clean(o.Graph)}}
	var states strings.Builder
	places := map[string]int{}
	var reasons [][]result.Reason
	var kinds []*oracle.Finding // the first of each kind
	out := &d.Outputs
	for i := range findings {
		f := &findings[i]
		states.WriteByte(letters[f.Verdict])
		out.Op, out.Type, out.Rank, out.Index = append(out.Op, report.Clean(f.Op)), append(out.Type, report.Clean(f.Type)), append(out.Rank, f.Rank), append(out.Index, f.Index)
		out.Ratio, out.Worst = append(out.Ratio, result.Number(f.Ratio)), append(out.Worst, f.Worst)
		out.Expected, out.Found, out.Bound = append(out.Expected, result.Number(f.Expected)), append(out.Found, result.Number(f.Found)), append(out.Bound, result.Number(f.Bound))
		dtype := ""
		if f.Shape != nil {
			dtype = f.DType.String()
		}
		out.Largest, out.DType, out.Shape = append(out.Largest, result.Number(f.Largest)), append(out.DType, dtype), append(out.Shape, f.Shape)
		out.Elements, out.Looked, out.Beyond = append(out.Elements, f.Elements), append(out.Looked, f.Looked), append(out.Beyond, f.Beyond)
		key := say(msg.English, f.Reasons) // the same in one language is the same in all
		place, known := places[key]
		if !known {
			place = len(reasons)
			places[key], reasons = place, append(reasons, f.Reasons)
		}
		out.Reason = append(out.Reason, place)
		place = -1
		if key := kind(msg.English, f); key != "" {
			if place, known = places["kind "+key]; !known {
				place = len(kinds)
				places["kind "+key], kinds = place, append(kinds, f)
			}
		}
		out.Kind = append(out.Kind, place)
	}
	out.State = states.String()
	counts := Counts(findings)
	d.Page.Say = html.Say(func(lang msg.Lang) spoken {
		texts := lang.Under("html.", "report.word.")
		for _, own := range [][2]string{{"chart", "check.chart"}, {"density", "check.density"}, {"element-npu", "column.check.found"}, {"element-golden", "column.check.expected"}} {
			texts["html."+own[0]] = lang.T("html." + own[1])
		}
		if d.Heat != nil { // there is no bound, but what was before
			for key, text := range lang.Under("html.monitor.") {
				texts["html."+strings.TrimPrefix(key, "html.monitor.")] = text
			}
		}
		for v, as := range map[oracle.Verdict]string{oracle.OK: "good", oracle.Wrong: "bad", oracle.Unknown: "uncompared"} {
			texts["report.word."+as] = Verdict(lang, v) // what a check calls these states
		}
		headline := html.Segments([]report.Segment{report.Word(lang, standing.Verdict),
			{Text: lang.T("report.colon") + lang.T("check.counts", counts[oracle.OK], counts[oracle.Suspect], counts[oracle.Wrong], counts[oracle.Unknown])}})
		s := spoken{Spoken: html.Spoken{Texts: texts, Headline: headline, Lines: html.Lines(Summary(lang, findings, c))}}
		for _, list := range reasons {
			s.Reasons = append(s.Reasons, say(lang, list))
		}
		for _, f := range kinds {
			s.Kinds = append(s.Kinds, kind(lang, f))
		}
		return s
	})
	return html.Check.Write(to, o.Lang, o.Left, func(w io.Writer) error { return json.NewEncoder(w).Encode(&d) })
}

// Name is an operator as the page names it: with its rank, where there are several.
func Name(f *oracle.Finding) string {
	if name := report.Clean(f.Op); f.Rank >= 0 {
		return name + " @" + strconv.Itoa(f.Rank)
	} else {
		return name
	}
}

// WriteNodes writes how far outputs are from what explains them, as shares of the bound, as node
// data for model-explorer.
func WriteNodes(to io.Writer, findings []oracle.Finding) error {
	states := map[oracle.Verdict]verdict.State{oracle.OK: verdict.StateGood, oracle.Suspect: verdict.StateSuspect, oracle.Wrong: verdict.StateBad}
	return report.WriteNodes(to, func(yield func(report.Node) bool) {
		for i := range findings {
			f := &findings[i]
			if state, judged := states[f.Verdict]; judged && !yield(report.Node{Op: f.Op, Error: f.Ratio, State: state}) {
				return
			}
		}
	})
}

// WriteGraph writes the operators that were checked as a graph for model-explorer, each once
// whatever ranks have it, with the verdicts of its outputs. Edges are those of the graph of the
// network; nil stands for none, as recordings of calls have it.
func WriteGraph(to io.Writer, label string, findings []oracle.Finding, network *graph.Model) error {
	inputs := map[string][]graph.Edge{}
	if network != nil {
		for op := range network.Ops() {
			inputs[op.Name] = op.Inputs
		}
	}
	nodes, places := []report.ExplorerNode{}, map[string]int{}
	for i := range findings {
		f := &findings[i]
		at, known := places[f.Op]
		if !known {
			at = len(nodes)
			places[f.Op] = at
			n := report.ExplorerNode{ID: f.Op, Label: f.Type, Namespace: report.Namespace(f.Op), Attrs: []report.ExplorerPair{{Key: "name", Value: f.Op}}}
			for slot, e := range inputs[f.Op] {
				if e.IsData() {
					n.Incoming = append(n.Incoming, report.ExplorerEdge{From: e.Producer(), Output: strconv.Itoa(int(e.Index)), Input: strconv.Itoa(slot)})
				}
			}
			nodes = append(nodes, n)
		}
		facts := []report.ExplorerPair{{Key: "tensor", Value: f.Name()}, {Key: "verdict", Value: f.Verdict.String()}}
		if f.Rank >= 0 {
			facts = append(facts, report.ExplorerPair{Key: "rank", Value: strconv.Itoa(f.Rank)})
		}
		if f.Shape != nil {
			facts = append(facts, report.ExplorerPair{Key: "shape", Value: result.ShapeText(f.Shape)})
		}
		if !math.IsNaN(f.Ratio) {
			facts = append(facts, report.ExplorerPair{Key: "share of the bound", Value: report.Figure(f.Ratio)})
		}
		nodes[at].Outputs = append(nodes[at].Outputs, report.ExplorerItem{ID: strconv.Itoa(f.Index), Attrs: facts})
	}
	return report.WriteExplorer(to, label, slices.Values(nodes))
}

// kind says how an output is wrong and what tells so, empty where nothing was found.
func kind(lang msg.Lang, f *oracle.Finding) string {
	c := f.Check()
	if c.Pattern == "" {
		return ""
	}
	return report.Clean(patterns.Line(lang, result.Pattern{Kind: c.Pattern, Explained: c.Explained, Evidence: c.Evidence}, f.Type))
}

// say says reasons in a language.
func say(lang msg.Lang, list []result.Reason) string {
	texts := each.Of(list, func(r result.Reason) string { return report.Clean(Reason(lang, r)) })
	return strings.Join(texts, lang.T("report.also"))
}
