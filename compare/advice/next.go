package advice

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/msprobe"
	"precision/internal/lazy"
)

// Recorder is what recorded the tables of a verdict, and records next.
type Recorder string

// The recorders that a plan has files for. Other recordings, and dumps without a word of their
// own, take acl.json.
const (
	// GE is the runtime of graphs: acl.json, which aclmdlSetDump and the adapters take, too.
	GE Recorder = "ge"
	// Msprobe records calls of PyTorch and MindSpore: config.json.
	Msprobe Recorder = "msprobe"
	// MindSpore records kernels itself: the file that MINDSPORE_DUMP_CONFIG names.
	MindSpore Recorder = "mindspore"
)

// Names of the files of recorders.
const (
	ConfigFile = "config.json"
	GoldenFile = "config_golden.json"
	LoadFile   = "config_load.json"
	DumpFile   = "mindspore_dump.json"
	DumpGolden = "mindspore_dump_golden.json"
)

// Where the next recordings go, below the folder in which the program runs.
const (
	nextLeft   = "precision_next/npu"
	nextGolden = "precision_next/golden"
	nextLoad   = "precision_next/load"
)

// recorderOf is what recorded the left side of a verdict.
func recorderOf(j *verdict.Judged) Recorder {
	switch {
	case !j.Table.Meta.Recorded:
		return GE
	case j.Table.Meta.Left.Kind == string(MindSpore):
		return MindSpore
	case slices.ContainsFunc(j.Operators, func(op verdict.Operator) bool { _, _, ok := call(op.Op.Name); return ok }):
		return Msprobe // a table that was read from csv knows no kind
	}
	return GE
}

// LinesFor are the lines of steps that go where the left side of a verdict came from: those of PyTorch for its calls,
// of no framework for MindSpore. Of graphs they are all, for a dump does not say who made its graph.
func LinesFor(j *verdict.Judged) map[Step][]Line {
	fit := []Where{Command}
	switch recorderOf(j) {
	case GE:
		return Lines
	case Msprobe:
		ofMindSpore := func(op verdict.Operator) bool {
			_, n, _ := call(op.Op.Name)
			return slices.Contains([]string{"Mint", "MintFunctional", "Primitive"}, n.Prefix)
		}
		if !slices.ContainsFunc(j.Operators, ofMindSpore) {
			fit = append(fit, PyTorch)
		}
	}
	list := map[Step][]Line{}
	for s, lines := range Lines {
		for _, l := range lines {
			if slices.Contains(fit, l.Where) {
				list[s] = append(list[s], l)
			}
		}
	}
	return list
}

// call takes the step and rank from before the name of a call; ok is whether it is one of msprobe.
func call(name string) (prefix string, n msprobe.Name, ok bool) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		prefix, name = name[:i], name[i+1:]
	}
	n = msprobe.ParseName(name)
	return prefix, n, n.Form == msprobe.API || n.Form == msprobe.Module
}

var numbered = lazy.Regexp(`(?:^|[/\\])(step|rank)(\d+)(?:$|[/\\])`)

// processes are the steps and ranks of calls: those before their names, or, where there was one
// recording, those of its folder or of what is in that.
func processes(names []string, dir string, inside []string) (steps, ranks []int) {
	seen := map[string]bool{}
	note := func(path string) {
		// One at a time from behind its number, as the / that ends one begins the next.
		for at := 0; at < len(path); {
			m := numbered().FindStringSubmatchIndex(path[at:])
			if m == nil {
				break
			}
			kind, text := path[at+m[2]:at+m[3]], path[at+m[4]:at+m[5]]
			at += m[5]
			n, err := strconv.Atoi(text)
			if err != nil || seen[kind+text] {
				continue
			}
			seen[kind+text] = true
			if kind == "step" {
				steps = append(steps, n)
			} else {
				ranks = append(ranks, n)
			}
		}
	}
	for _, name := range names {
		if prefix, _, _ := call(name); prefix != "" {
			note(prefix)
		}
	}
	if len(seen) == 0 {
		note(filepath.ToSlash(dir))
	}
	if len(seen) == 0 {
		for _, name := range inside {
			note(name)
		}
	}
	slices.Sort(steps)
	slices.Sort(ranks)
	return steps, ranks
}

// settings fills in what the recorder is to be told.
func (p *Plan) settings(j *verdict.Judged, o Options, cost func(list []string) int64) {
	p.Recorder = recorderOf(j)
	switch p.Recorder {
	case Msprobe:
		p.msprobe(j, o, cost)
	case MindSpore:
		p.mindspore(j, o)
	default:
		p.ge(o)
	}
}

// ge is the list of operators for graphs.
func (p *Plan) ge(o Options) {
	var names, places []string
	for _, name := range p.listed() {
		place, rest := result.Placed(name)
		if places = append(places, place); !slices.Contains(names, rest) {
			names = append(names, rest)
		}
	}
	p.Steps, p.Ranks = processes(nil, "", places)
	step := cmp.Or(o.Step, "0")
	if o.Step == "" && len(p.Steps) > 0 {
		step = strconv.Itoa(p.Steps[0])
	}
	layers := strings.Join(names, " ")
	p.Kit = fmt.Sprintf("precision kit -f -s %s -l %s", Quote(step), Quote(layers))
	p.Lines = []Line{
		{TF2, fmt.Sprintf("npu.global_options().dump_config.dump_layer = %q", layers)},
		{TF1, fmt.Sprintf(`custom_op.parameter_map["dump_layer"].s = tf.compat.as_bytes(%q)`, layers)},
	}
	list := map[string]any{"layer": names}
	if model := modelName(o.Graph); model != "" {
		list["model_name"] = model
	}
	p.Files = []File{{ACLFile, encode(map[string]any{"dump": map[string]any{
		"dump_list": []any{list}, "dump_path": "precision_data/npu/debug_0/dump", "dump_mode": "all", "dump_op_switch": "off", "dump_data": "tensor"}})}}
}

// config is config.json of msprobe, in the order in which people read it.
type config struct {
	Task     string       `json:"task"`
	DumpPath string       `json:"dump_path"`
	Rank     []int        `json:"rank"`
	Step     any          `json:"step"`
	Level    string       `json:"level"`
	Tensor   tensorConfig `json:"tensor"`
	Load     *loadConfig  `json:"load,omitempty"`
}

type tensorConfig struct {
	Scope []string `json:"scope"`
	List  []string `json:"list"`
	Mode  []string `json:"data_mode"`
}

type loadConfig struct {
	Path    string   `json:"path"`
	Modules []string `json:"modules"`
	Dump    bool     `json:"dump_after_load"`
}

// msprobe are the configurations of both sides: elements of the calls in doubt, and of everything
// inside the modules among them. Of a module that is suspected, the third one runs it on the golden
// side's inputs, which tells its own error from what it was given. cost is what a list takes.
func (p *Plan) msprobe(j *verdict.Judged, o Options, cost func(list []string) int64) {
	modules, calls, cells := false, false, false
	for i := range j.Operators {
		if _, n, ok := call(j.Operators[i].Op.Name); ok {
			modules, calls, cells = modules || n.Form == msprobe.Module, calls || n.Form == msprobe.API, cells || n.Prefix == "Cell"
		}
	}
	level := "mix"
	if calls && !modules {
		level = "L1"
	}
	steps, ranks := processes(p.listed(), j.Table.Meta.Left.Dir, o.Recordings)
	p.Steps, p.Ranks = steps, ranks
	c := config{Task: "tensor", DumpPath: nextLeft, Rank: append([]int{}, ranks...), Step: append([]int{}, steps...), Level: level,
		Tensor: tensorConfig{Scope: []string{}, List: []string{}, Mode: []string{"all"}}}
	if o.Step != "" {
		c.Step = stepList(o.Step)
	}
	p.AllSteps = o.Step == "" && len(steps) == 0
	add := func(list []string, names []string) []string {
		for _, name := range names {
			if _, n, ok := call(name); ok && !slices.Contains(list, n.String()) {
				list = append(list, n.String())
			}
		}
		return list
	}
	golden := partners(j)
	// A golden side of one process has no rank: the recorder leaves it out if one is asked for, and finds no
	// inputs of another rank.
	one := len(ranks) > 0 && len(o.Golden) > 0 && !slices.ContainsFunc(o.Golden, func(place string) bool { return strings.Contains(place, "rank") })
	c.Tensor.List = add(c.Tensor.List, p.listed())
	var load []string
	if !cells && !one {
		// What is loaded is what the golden side recorded of the module.
		load = add(nil, slices.DeleteFunc(p.replayed, func(name string) bool { return !slices.Equal(golden[unplaced(name)], []string{unplaced(name)}) }))
		if with := add(slices.Clone(c.Tensor.List), load); o.Budget == 0 || cost(with) <= o.Budget {
			c.Tensor.List = with
		} else {
			load = nil
		}
	}
	p.Bytes = cost(c.Tensor.List)
	p.Files = []File{{ConfigFile, encode(c)}}
	g := c
	g.DumpPath, g.Tensor.List = nextGolden, nil
	for _, name := range append(p.listed(), load...) {
		g.Tensor.List = add(g.Tensor.List, golden[unplaced(name)])
	}
	if len(g.Tensor.List) == 0 { // an empty list is of all calls
		g.Tensor.List = c.Tensor.List
	}
	if one {
		g.Rank = []int{}
	}
	p.Files = append(p.Files, File{GoldenFile, encode(g)})
	lines := []string{"PrecisionDebugger(config_path=\"" + ConfigFile + "\")", "PrecisionDebugger(config_path=\"" + GoldenFile + "\")"}
	if len(load) > 0 {
		c.DumpPath, c.Load = nextLoad, &loadConfig{nextGolden, load, true}
		p.Files = append(p.Files, File{LoadFile, encode(c)})
		lines = append(lines, "PrecisionDebugger(config_path=\""+LoadFile+"\")")
	}
	for _, l := range lines {
		p.Lines = append(p.Lines, Line{Msprobe.where(), l})
	}
	p.compared("")
}

// partners are the golden side's names of calls.
func partners(j *verdict.Judged) map[string][]string {
	list := map[string][]string{}
	for i := range j.Table.Rows {
		r := &j.Table.Rows[i]
		name := unplaced(r.Op)
		for _, other := range strings.FieldsFunc(r.Right.Names, func(c rune) bool { return c == ',' || c == ' ' }) {
			if other = unplaced(other); other != "*" && !slices.Contains(list[name], other) {
				list[name] = append(list[name], other)
			}
		}
	}
	return list
}

// where is the place of a recorder's lines.
func (r Recorder) where() Where {
	if r == MindSpore {
		return "shell"
	}
	return "Python"
}

// compared is the command that goes on with the next recordings, below a folder. RESULT stands for the result.
func (p *Plan) compared(above string) {
	p.Kit = fmt.Sprintf("precision compare -after RESULT -lt %s -rt %s", above+nextLeft, above+nextGolden)
}

// stepList are the numbers of a list such as 0|5-7, as msprobe takes them: numbers, and ranges as texts.
func stepList(text string) []any {
	list := []any{}
	for _, part := range strings.Split(text, "|") {
		if n, err := strconv.Atoi(strings.TrimSpace(part)); err == nil {
			list = append(list, n)
		} else if part != "" {
			list = append(list, strings.TrimSpace(part))
		}
	}
	return list
}

// mindspore are the files of MindSpore's own dump, with the kernels in doubt by the names of either side. Files have the
// names of kernels with _ for /, so that either is asked for.
func (p *Plan) mindspore(j *verdict.Judged, o Options) {
	golden := partners(j)
	var left, right []string
	add := func(list []string, name string) []string {
		name, _, _ = strings.Cut(strings.TrimSuffix(name, " (right)"), "#")
		if kernel := "name-regex(" + strings.ReplaceAll(regexp.QuoteMeta(name), "_", "[/_]") + ")"; !slices.Contains(list, kernel) {
			list = append(list, kernel)
		}
		return list
	}
	for _, name := range p.listed() {
		name = unplaced(name)
		if left = add(left, name); len(golden[name]) == 0 {
			right = add(right, name)
		}
		for _, other := range golden[name] {
			right = add(right, other)
		}
	}
	dump := func(path string, kernels []string) string {
		return encode(struct {
			Common any `json:"common_dump_settings"`
			E2E    any `json:"e2e_dump_settings"`
		}{struct {
			Debug   int      `json:"op_debug_mode"`
			Mode    int      `json:"dump_mode"`
			Path    string   `json:"path"`
			Net     string   `json:"net_name"`
			Step    string   `json:"iteration"`
			Saved   string   `json:"saved_data"`
			Both    int      `json:"input_output"`
			Kernels []string `json:"kernels"`
			Devices []int    `json:"support_device"`
		}{0, 1, "/" + path, "Net", cmp.Or(o.Step, "0"), "tensor", 0, kernels, []int{0, 1, 2, 3, 4, 5, 6, 7}}, struct {
			On    bool `json:"enable"`
			Trans bool `json:"trans_flag"`
		}{true, true}})
	}
	p.Files = []File{{DumpFile, dump(nextLeft, left)}}
	p.Lines = []Line{{MindSpore.where(), "export MINDSPORE_DUMP_CONFIG=$PWD/" + DumpFile}}
	if j.Table.Meta.Right.Kind == string(MindSpore) {
		p.Files = append(p.Files, File{DumpGolden, dump(nextGolden, right)})
		p.Lines = append(p.Lines, Line{MindSpore.where(), "export MINDSPORE_DUMP_CONFIG=$PWD/" + DumpGolden})
	}
	p.compared("/")
}
