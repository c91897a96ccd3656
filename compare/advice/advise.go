package advice

import (
	"slices"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/internal/clean"
)

// Options of [For].
type Options struct {
	// Graph is the graph of the left side, nil if it is not known. It says which
	// passes fused an operator, and how large tensors are that were not recorded.
	Graph *graph.Index
	// Budget is how many bytes a capture may have; 0 for no limit.
	Budget int64
	// Step is the iteration to record; empty for the one that was recorded, of graphs 0.
	Step string
	// Recordings are the steps and ranks that were compared, as step0/rank1/, where names do not tell; Golden
	// those of the golden side.
	Recordings, Golden []string
}

const (
	// mostSteps is how many steps a root has at most.
	mostSteps = 5
	// mostPlanned is how many roots are recorded next, the foremost: with what they show
	// the others are fewer.
	mostPlanned = 10
)

// Advice is what to do next.
type Advice struct {
	// Roots are the foremost of each kind: those with the same finding and the same steps are
	// one, which names the others.
	Roots []Root
	// Files are those that the lines of the steps refer to.
	Files []File
	// Plan is what to record next, nil without roots.
	Plan *Plan
}

// File is a file to write.
type File struct{ Name, Text string }

// Root is a root with what to try.
type Root struct {
	// Name and Type are the operator's.
	Name, Type string
	// Framework are the names the framework has for it, Passes those that fused
	// it, by the maps of a fusion switch file.
	Framework []string
	Passes    Passes
	Kinds     []string
	Steps     []Taken
	// Region are the operators it may be instead.
	Region []string
	// Others are further roots of the same kind.
	Others []string
	region bool // of its certainty
}

// Passes are fusion passes, of graphs and of the unified buffer.
type Passes struct{ Graph, UB []string }

// Empty tells whether there are none.
func (p Passes) Empty() bool { return len(p.Graph)+len(p.UB) == 0 }

// Taken is a step with its lines filled in.
type Taken struct {
	Step  Step
	Lines []Line
}

// For says what to do about the roots of a verdict.
func For(j *verdict.Judged, o Options) *Advice {
	r := &Advice{}
	var all []Root
	for _, i := range j.Prominent() {
		all = append(all, root(j, &j.Roots[i], o))
	}
	r.Files = files(all)
	r.Plan = plan(j, all[:min(len(all), mostPlanned)], o)
	if r.Plan != nil {
		r.Files = append(r.Files, r.Plan.Files...)
	}
	r.Roots = alike(all)
	return r
}

// alike keeps the first root of each kind. The others' operators are in the files, which serve all.
func alike(all []Root) (list []Root) {
	at := map[string]int{}
	known := map[[2]string]bool{} // candidates, by kind
	for _, r := range all {
		kind := ""
		if len(r.Kinds) > 0 {
			kind = r.Kinds[0]
		}
		for _, s := range r.Steps {
			kind += " " + string(s.Step)
		}
		i, ok := at[kind]
		if !ok {
			at[kind] = len(list)
			list = append(list, r)
			for _, name := range r.Region {
				known[[2]string{kind, name}] = true
			}
			continue
		}
		first := &list[i]
		first.Others = append(first.Others, r.Name)
		first.Passes = Passes{unique(slices.Concat(first.Passes.Graph, r.Passes.Graph)), unique(slices.Concat(first.Passes.UB, r.Passes.UB))}
		for _, name := range r.Region {
			if key := [2]string{kind, name}; !known[key] {
				known[key] = true
				first.Region = append(slices.Clip(first.Region), name)
			}
		}
	}
	return list
}

func root(j *verdict.Judged, v *verdict.Root, o Options) Root {
	op := j.Operators[v.Operator].Op
	r := Root{Name: op.Name, Type: op.Type, Framework: op.Framework, Kinds: Kinds(j, v), Region: v.Region, region: v.Certainty == verdict.Region}
	if len(r.Framework) == 0 && !op.Inserted {
		r.Framework = []string{op.Name}
	}
	if o.Graph != nil && !v.Followed {
		r.Passes = passes(o.Graph, op.Name)
	}
	var steps []Step
	add := func(s Step) {
		if !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
	}
	if v.Certainty == verdict.Region {
		add(Record)
	}
	if op.Inserted {
		add(Formats)
	}
	if !r.Passes.Empty() {
		add(Fusion) // what is fused is told from what is not first
	}
	kinds := r.Kinds
	if v.Followed {
		kinds, steps = nil, Elsewhere[v.Kind]
	}
	for _, k := range kinds {
		for _, s := range Remedies[k] {
			// An operator that nothing fused is not put right by switching fusion off.
			if s != Fusion || o.Graph == nil || !r.Passes.Empty() || len(op.Framework) > 1 {
				add(s)
			}
		}
	}
	name := op.Name
	if len(r.Framework) > 0 {
		name = r.Framework[0]
	}
	for _, s := range steps[:min(len(steps), mostSteps)] {
		t := Taken{Step: s}
		for _, l := range Lines[s] {
			if !l.InFile() {
				t.Lines = append(t.Lines, l.Fill(op.Type, name))
			}
		}
		r.Steps = append(r.Steps, t)
	}
	return r
}

// passes are those that fused an operator of the graph.
func passes(x *graph.Index, name string) (p Passes) {
	ops, exact := x.Search(name, "")
	if !exact {
		return p
	}
	for _, op := range ops {
		p.Graph = append(p.Graph, op.Passes()...)
		p.UB = append(p.UB, op.UBPasses()...)
	}
	p.Graph, p.UB = unique(p.Graph), unique(p.UB)
	return p
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// takes tells whether a root has a step.
func (r *Root) takes(s Step) bool {
	return slices.ContainsFunc(r.Steps, func(t Taken) bool { return t.Step == s })
}

// files are those that the steps of all roots need.
func files(roots []Root) (list []File) {
	var types, names, precise []string
	var off Passes
	fusion := false
	for i := range roots {
		r := &roots[i]
		if r.takes(Float32) && r.Type != "" {
			types, names = append(types, r.Type), append(names, r.Framework...)
		}
		if r.takes(PrecisionMode) && r.Type != "" {
			precise = append(precise, r.Type)
		}
		if r.takes(Fusion) {
			fusion = true
			off.Graph, off.UB = append(off.Graph, r.Passes.Graph...), append(off.UB, r.Passes.UB...)
		}
	}
	// A changed name would be that of no operator; a line end within one would begin a line of its own.
	for _, names := range []*[]string{&types, &names, &precise, &off.Graph, &off.UB} {
		*names = slices.DeleteFunc(*names, func(name string) bool { return clean.Line(name) != name })
	}
	if types = unique(types); len(types) > 0 {
		list = append(list, File{MixlistFile, encode(map[string]any{"black-list": map[string]any{"to-add": types}})})
		if names = unique(names); len(names) > 0 {
			list = append(list, File{KeepDTypeFile, strings.Join(names, "\n") + "\n"})
		}
	}
	if precise = unique(precise); len(precise) > 0 {
		list = append(list, File{PrecisionFile, "[ByOpType]\n" + strings.Join(precise, "=high_precision\n") + "=high_precision\n"})
	}
	if fusion {
		list = append(list, File{FusionFile, switches(off)})
	}
	return list
}

// switches is a fusion switch file with just these passes off, or all of them
// where none is known.
func switches(off Passes) string {
	if off.Empty() {
		off = Passes{Graph: []string{"ALL"}, UB: []string{"ALL"}}
	}
	state := func(names []string) map[string]string {
		m := map[string]string{}
		for _, n := range names {
			m[n] = "off"
		}
		return m
	}
	return encode(map[string]any{"Switch": map[string]any{"GraphFusion": state(off.Graph), "UBFusion": state(off.UB)}})
}

// neighbours are an operator and what feeds it, in that order. Modules are not among what feeds it: one is recorded with
// all that is in it, and what it hands on is in the record of who takes it.
func neighbours(ops map[string]*result.Operator, name string) []string {
	list := []string{name}
	if op := ops[name]; op != nil {
		for _, in := range op.Inputs {
			if _, n, ok := call(in.Op); in.Op != "" && !slices.Contains(list, in.Op) && !(ok && n.Form == msprobe.Module) {
				list = append(list, in.Op)
			}
		}
	}
	return list
}
