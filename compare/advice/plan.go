package advice

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
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
	// Bytes is about what the recorded ones take for one step, Known how many of
	// them have a size that is known; AllBytes is the same of all in doubt.
	Bytes, AllBytes int64
	Known           int
	// Kit is the command that writes the kit for them.
	Kit string
	// Lines are the settings for those who do not use the kit.
	Lines []Line
	file  File
}

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
	if !p.Region {
		for i := range roots {
			for _, name := range neighbours(ops, roots[i].Name) {
				doubt[name] = true
			}
		}
	}
	for name := range doubt {
		if op := ops[name]; op == nil || !op.NoKernel && !op.Constant && !op.Feed {
			p.InDoubt = append(p.InDoubt, name)
		}
	}
	slices.SortFunc(p.InDoubt, func(a, b string) int { return cmp.Or(cmp.Compare(order[a], order[b]), cmp.Compare(a, b)) })
	if len(p.InDoubt) == 0 {
		return nil
	}
	size := sizes(j, o.Graph)
	for _, name := range p.InDoubt {
		p.AllBytes += size(name)
	}
	p.Record = p.InDoubt
	if o.Budget > 0 && p.AllBytes > o.Budget {
		p.Record, p.Halved = halve(p.InDoubt, size, o.Budget), true
	}
	for _, name := range p.Record {
		n := size(name)
		p.Bytes += n
		if n > 0 {
			p.Known++
		}
	}
	step := cmp.Or(o.Step, "0")
	layers := strings.Join(p.Record, " ")
	p.Kit = fmt.Sprintf("precision kit -f -s %s -l %s", quote(step), quote(layers))
	p.Lines = []Line{
		{TF2, fmt.Sprintf("npu.global_options().dump_config.dump_layer = %q", layers)},
		{TF1, fmt.Sprintf(`custom_op.parameter_map["dump_layer"].s = tf.compat.as_bytes(%q)`, layers)},
	}
	list := map[string]any{"layer": p.Record}
	if model := modelName(o.Graph); model != "" {
		list["model_name"] = model
	}
	p.file = File{ACLFile, encode(map[string]any{"dump": map[string]any{
		"dump_list": []any{list}, "dump_path": "precision_data/npu/debug_0/dump", "dump_mode": "all", "dump_op_switch": "off", "dump_data": "tensor"}})}
	return p
}

// halve chooses operators so that they divide those in doubt into parts of about
// equal number, as many as the budget allows; at least the one in the middle.
func halve(doubt []string, size func(string) int64, budget int64) []string {
	var best []string
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

// quote writes a word of a command line. Names may hold anything.
func quote(word string) string {
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
