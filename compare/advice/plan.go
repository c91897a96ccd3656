package advice

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/msprobe"
	"precision/graph"
)

// Plan is what to record next: the operators in doubt, or as many of them as the
// budget allows; where every root is one operator, the neighbourhood of the roots.
type Plan struct {
	// Region tells that a root may be one of several operators.
	Region bool
	// InDoubt are the operators that the roots may be, or the roots and what feeds
	// them, in execution order.
	InDoubt []string
	// Record are those to record now. They are all of them, or those that halve
	// what is in doubt: with their outputs known the next verdict names a part.
	Record []string
	Halved bool
	// Feeding are the operators that feed the recorded ones of a region, recorded as well: of a tensor that differs
	// and that nothing recorded made, the next verdict would say that the runs were not fed the same data.
	Feeding []string
	// Bytes is about what the recorded ones and what feeds them take for one step, Known how many of
	// these have a size that is known; AllBytes is the same of all in doubt.
	Bytes, AllBytes int64
	Known           int
	// Recorder is what records them.
	Recorder Recorder
	// Kit is the command that writes the kit for them; of recordings of calls, the one that
	// compares what is recorded.
	Kit string
	// Lines are the settings for those who do not use the kit, or the lines that use the files.
	Lines []Line
	// Files are the configurations of the recorder.
	Files []File
	// Steps and Ranks are those that the files ask for; none of AllSteps, where nothing says which were recorded.
	Steps, Ranks []int
	AllSteps     bool
	// replayed are modules to run on the golden side's inputs.
	replayed []string
}

// mostFeeding is how many operators that feed a region are recorded with it: a region has few ways in, and
// one that many operators feed is itself of so many.
const mostFeeding = 64

// listed are all operators that the recorder is told.
func (p *Plan) listed() []string { return slices.Concat(p.Feeding, p.Record) }

// plan makes the plan of a verdict, nil without roots.
func plan(j *verdict.Judged, roots []Root, o Options) *Plan {
	doubt := map[string]bool{}
	for i := range roots {
		if roots[i].region || len(roots[i].Region) > 0 {
			doubt[roots[i].Name] = true
			for _, name := range roots[i].Region {
				doubt[name] = true
			}
		}
	}
	p := &Plan{Region: len(doubt) > 0}
	ops := map[string]*result.Operator{}
	order := map[string]int{}
	for i := range j.Operators {
		ops[j.Operators[i].Op.Name] = j.Operators[i].Op
		order[j.Operators[i].Op.Name] = i
	}
	computed := func(name string) bool {
		op := ops[name]
		return op == nil || !op.NoKernel && !op.Constant && !op.Feed
	}
	if !p.Region {
		for i := range roots {
			for _, name := range neighbours(ops, roots[i].Name) {
				doubt[name] = true
			}
		}
		for i := range j.Roots {
			// A call that one side alone makes shows in what takes its result; there is nothing of it on the other side.
			if taker := j.Taker(&j.Roots[i]); taker != "" && doubt[j.Operators[j.Roots[i].Operator].Op.Name] {
				doubt[taker] = true
			}
		}
	}
	for name := range doubt {
		if computed(name) {
			p.InDoubt = append(p.InDoubt, name)
		}
	}
	inOrder := func(a, b string) int { return cmp.Or(cmp.Compare(order[a], order[b]), cmp.Compare(a, b)) }
	slices.SortFunc(p.InDoubt, inOrder)
	if len(p.InDoubt) == 0 {
		return nil
	}
	size := sizes(j, o.Graph)
	whole := size
	if recorderOf(j) == Msprobe {
		whole = inside(ops, size)
		p.replayed = around(j, ops, roots)
	}
	for _, name := range p.InDoubt {
		p.AllBytes += whole(name)
	}
	p.Record = p.InDoubt
	if o.Budget > 0 && p.AllBytes > o.Budget {
		p.Record, p.Halved = halve(p.InDoubt, whole, o.Budget), true
	}
	for _, name := range p.Record {
		n := whole(name)
		p.Bytes += n
		if n > 0 {
			p.Known++
		}
	}
	if p.Region {
		for _, name := range p.Record {
			for _, from := range neighbours(ops, name)[1:] {
				if n := whole(from); len(p.Feeding) < mostFeeding && computed(from) && !doubt[from] && (o.Budget == 0 || p.Bytes+n <= o.Budget) {
					doubt[from] = true
					p.Feeding = append(p.Feeding, from)
					if p.Bytes += n; n > 0 {
						p.Known++
					}
				}
			}
		}
		slices.SortFunc(p.Feeding, inOrder)
	}
	p.settings(j, o, func(list []string) (sum int64) { // on all ranks: each records all that is in the list
		seen := map[string]bool{}
		for i := range j.Operators {
			if name := j.Operators[i].Op.Name; slices.Contains(list, unplaced(name)) {
				visit(ops, name, seen)
			}
		}
		for name := range seen {
			sum += size(name)
		}
		return sum
	})
	return p
}

// unplaced is the name of a call without the step and rank before it.
func unplaced(name string) string {
	_, name = result.Placed(name)
	return name
}

// inside is the size of a call with that of all calls in it: a module is recorded with them.
func inside(ops map[string]*result.Operator, size func(string) int64) func(string) int64 {
	return func(name string) (sum int64) {
		seen := map[string]bool{}
		visit(ops, name, seen)
		for part := range seen {
			sum += size(part)
		}
		return sum
	}
}

// visit adds a call and, of a module, all forward calls in it.
func visit(ops map[string]*result.Operator, name string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	if _, n, _ := call(name); n.Form != msprobe.Module || ops[name] == nil {
		return
	}
	for _, u := range ops[name].Uses {
		if _, n, ok := call(u); ok && n.Direction == msprobe.Forward {
			visit(ops, u, seen)
		}
	}
}

// around are the forward modules that roots are, or are in.
func around(j *verdict.Judged, ops map[string]*result.Operator, roots []Root) (list []string) {
	within := map[string]string{}
	for i := range j.Operators {
		name := j.Operators[i].Op.Name
		if _, n, _ := call(name); n.Form != msprobe.Module || n.Direction != msprobe.Forward {
			continue
		}
		for _, u := range j.Operators[i].Op.Uses {
			// Of nested modules the one with the fewest parts is the inner one.
			if w := within[u]; w == "" || len(ops[name].Uses) < len(ops[w].Uses) {
				within[u] = name
			}
		}
	}
	for i := range roots {
		_, n, ok := call(roots[i].Name)
		name := roots[i].Name
		if !ok || n.Direction != msprobe.Forward {
			continue
		}
		if n.Form != msprobe.Module {
			name = within[name]
		}
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// halve chooses operators so that they divide those in doubt into parts of about
// equal number, as many as the budget allows; at least the one in the middle.
func halve(doubt []string, size func(string) int64, budget int64) (best []string) {
	for parts := 2; parts <= len(doubt)+1; parts++ {
		var list []string
		total := int64(0)
		for i := 1; i < parts; i++ {
			at := min(i*len(doubt)/parts, len(doubt)-1)
			if n := len(list); n > 0 && list[n-1] == doubt[at] {
				continue
			}
			list = append(list, doubt[at])
			total += size(doubt[at])
		}
		if best != nil && total > budget {
			break
		}
		best = list
	}
	return best
}

// sizes tells about how many bytes the inputs and outputs of an operator take, 0
// where that is not known: by what was recorded of it, else by the graph.
func sizes(j *verdict.Judged, x *graph.Index) func(string) int64 {
	recorded := map[string]int64{}
	for i := range j.Table.Rows {
		r := &j.Table.Rows[i]
		if r.Slot >= 0 && r.Left.Shape != nil {
			recorded[r.Op] += bytesOf(r.Left.Shape, r.Left.DType.Bits())
		}
	}
	return func(name string) int64 {
		if n := recorded[name]; n > 0 || x == nil {
			return n
		}
		_, name = result.Placed(name)
		ops, exact := x.Search(name, "")
		if !exact || len(ops) == 0 {
			return 0
		}
		sum := int64(0)
		for _, list := range [][]graph.TensorDesc{ops[0].InputDesc, ops[0].OutputDesc} {
			for i := range list {
				if t, ok := list[i].Type(); ok {
					sum += bytesOf(list[i].Shape, t.Bits())
				}
			}
		}
		return sum
	}
}

// bytesOf is the size of a tensor, 0 if a dimension is not known or it is beyond
// what there is.
func bytesOf(shape []int64, bits int) int64 {
	n := int64(max(bits, 8) / 8)
	for _, d := range shape {
		if d < 0 || d > 0 && n > (1<<50)/d {
			return 0
		}
		n *= d
	}
	return n
}

// modelName is what acl.json calls the model: the name of its graph.
func modelName(x *graph.Index) string {
	if x == nil || x.Model == nil || len(x.Model.Graphs) == 0 {
		return ""
	}
	return x.Model.Graphs[0].Name
}

// Quote writes a word of a command line. Names may hold anything.
func Quote(word string) string {
	plain := word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:") == ""
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// encode is JSON as people read it.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // maps of texts have no error
	}
	return b.String()
}
