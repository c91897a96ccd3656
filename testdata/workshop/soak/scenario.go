package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"precision/compare/verdict"
	"precision/internal/must"
	"precision/testdata/workshop/recorded"
)

// scenario is a command of a program with inputs that are whole. It runs in a
// folder where its inputs are in "in" and what it writes goes to "out".
type scenario struct {
	program, name string
	inputs        func(in string) error
	// first are runs that make further inputs, with "in" in the current folder.
	first [][]string
	args  []string
	// from is how the files begin that are damaged, "" for all.
	from string
	// writes are the folders the command may write to, or patterns of files.
	writes []string
	// table: it writes one table, whose rows belong to tensors.
	table bool
	// steers are the files that say what belongs to what: all rows may change with them.
	steers []string
	// serves is how long it runs until it is ended, for one that has no end.
	serves time.Duration
	// kill: it is among those that are killed and have their disk filled.
	kill bool

	// What is known once it was laid out: its folder, its files, its exit status and
	// what it makes, the rows of its table, those that depend on a file, and how long
	// it takes.
	base    string
	code    int
	made    string
	files   []string
	rows    map[string]string
	changed map[string]*dependent
	takes   time.Duration
}

const graphFile = "ge_proto_00000001_graph_1_Build.txt"

// scenarios are all commands, over the sample network, random ones and the recorded
// cases below the top folder of the module.
func scenarios(root string) ([]*scenario, error) {
	testdata := func(path string) string { return filepath.Join(root, "testdata", filepath.FromSlash(path)) }
	// together lays out several sets of inputs.
	together := func(all ...func(string) error) func(string) error {
		return func(in string) error {
			for _, f := range all {
				if err := f(in); err != nil {
					return err
				}
			}
			return nil
		}
	}
	sample := func(in string) error {
		return copies(in, testdata("sample"), "npu", "npu", "golden", "golden", graphFile, graphFile)
	}
	ofCase := func(name string) func(string) error {
		return func(in string) error { return copyTree(testdata("cases/"+name+"/in"), in) }
	}
	network := func(seed uint64, f Form, graph string) func(string) error {
		return func(in string) error {
			return NewRandom(seed).Write(f, filepath.Join(in, "npu"), filepath.Join(in, "golden"), filepath.Join(in, graph))
		}
	}
	text := func(name, content string) func(string) error {
		return func(in string) error { return os.WriteFile(filepath.Join(in, name), []byte(content), 0o600) }
	}
	recording := func(in string) error {
		r := NewRandom(11)
		if err := r.Record(filepath.Join(in, "npu"), false); err != nil {
			return err
		}
		return r.Record(filepath.Join(in, "gpu"), true)
	}
	profile, err := verdict.Builtin("cann-2026")
	if err != nil {
		return nil, err
	}
	const (
		npu, golden = "in/npu", "in/golden"
		graph       = "in/" + graphFile
	)
	compare := words("compare -lt in/npu -rt in/golden -out out")
	saved := [][]string{append(slices.Clone(compare), "-g", graph, "-json", "in/saved.json", "-html", "in/page.html"),
		append(slices.Clone(compare), "-g", graph, "-json", "in/earlier.json")}
	reports := words("-json out/v.json -html out/r.html -junit out/j.xml -sarif out/s.sarif")

	list := []*scenario{
		{name: "compare text", inputs: sample, args: append(slices.Clone(compare), "-g", graph), table: true, steers: []string{graphFile}, kill: true},
		{name: "compare all", inputs: sample, args: slices.Concat(compare, words("-check -overflow -second in/npu -g "+graph), reports), kill: true},
		{name: "compare names", inputs: sample, args: compare, table: true},
		{name: "compare reference", inputs: sample, args: append(slices.Clone(compare), "-numerics", "reference", "-g", graph), table: true, steers: []string{graphFile}},
		{name: "compare json", inputs: ofCase("net_multi_to_multi"), args: append(slices.Clone(compare), "-g", "in/graph.json"), table: true, steers: []string{"graph.json"}},
		{name: "compare om", inputs: network(7, Form{}, "model.om"), args: append(slices.Clone(compare), "-g", "in/model.om"), table: true, steers: []string{"model.om"}},
		{name: "compare slices", inputs: network(3, Form{Slices: true}, "graph.txt"), args: append(slices.Clone(compare), "-g", "in/graph.txt"), table: true, steers: []string{"graph.txt"}},
		{name: "compare threads", inputs: ofCase("npu_vs_npu_ffts"), args: compare, table: true},
		{name: "compare big-endian", inputs: network(5, Form{BigEndian: true, Layout: "FRACTAL_Z"}, "graph.txt"), args: append(slices.Clone(compare), "-g", "in/graph.txt"), table: true, steers: []string{"graph.txt"}},
		{name: "compare mapping", inputs: together(network(9, Form{}, "graph.txt"), renamed), args: append(slices.Clone(compare), "-g", "in/graph.txt"), table: true, steers: []string{"graph.txt", "npu/mapping.csv"}},
		{name: "compare close", inputs: ofCase("close_fusion"), args: append(slices.Clone(compare), words("-g in/graph.json -cf in/closed.json")...), table: true, steers: []string{"graph.json", "closed.json"}},
		{name: "compare quant", inputs: ofCase("quant_npu_vs_plain"), args: append(slices.Clone(compare), words("-g in/graph.json -q in/quant.json")...), table: true, steers: []string{"graph.json", "quant.json"}},
		{name: "compare profile", inputs: together(network(2, Form{}, "graph.txt"), text("profile.toml", profile.Source)), from: "profile",
			args: append(slices.Clone(compare), words("-g in/graph.txt -gate -profile in/profile.toml")...)},
		{name: "compare recording", inputs: recording, args: words("compare -lt in/npu -rt in/gpu -out out"), table: true,
			steers: []string{"npu/step0/rank0/dump.json", "gpu/step0/rank0/dump.json", "npu/step0/rank0/construct.json", "npu/step0/rank0/stack.json"}},
		{name: "check", inputs: sample, args: words("check -full -lt in/npu -rt in/golden -json out/check.json -out out -g " + graph), kill: true},
		{name: "why", inputs: sample, args: words("why block2/conv -lt in/npu -rt in/golden -g " + graph)},
		{name: "report", inputs: sample, first: saved, from: "saved.json", args: slices.Concat(words("report in/saved.json -n 5 -sort drop"), reports), kill: true},
		{name: "report page", inputs: sample, first: saved, from: "page.html", args: words("report in/page.html -json out/v.json")},
		{name: "report baseline", inputs: sample, first: saved, from: "earlier.json", args: words("report in/saved.json -gate -baseline in/earlier.json")},
		{name: "report csv", inputs: results(root), from: "result", args: slices.Concat(words("report in/result_20260102030405.csv"), reports)},
		{name: "report old csv", inputs: results(root), from: "old", args: slices.Concat(words("report in/old.csv -n 10"), reports)},
		{name: "view", inputs: sample, first: saved, from: "page.html", args: words("view in/page.html -serve"), serves: 500 * time.Millisecond},
		{name: "atc text", inputs: sample, from: graphFile, args: words("atc --mode=5 --json=out/g.json --om=" + graph), kill: true},
		{name: "atc om", inputs: network(7, Form{}, "model.om"), from: "model", args: words("atc --mode=1 --json=out/g.json --om=in/model.om"), kill: true},
		{name: "graph json", inputs: ofCase("net_multi_to_multi"), from: "graph.json", args: words("graph in/graph.json -json out/g.json")},
		{name: "graph om", inputs: network(8, Form{}, "model.om"), from: "model", args: words("graph in/model.om -json out/g.json")},
		{name: "graph onnx", inputs: text("ge_onnx_00000001_graph_1_Build.pbtxt", onnxGraph), args: words("graph in/ge_onnx_00000001_graph_1_Build.pbtxt -json out/g.json")},
		{name: "graph ls", inputs: sample, from: graphFile, args: words("graph -ls -name block -type Conv " + graph)},
		{name: "graph op", inputs: sample, from: graphFile, args: words("graph -attrs -op block2/conv " + graph)},
		{name: "graph diff", inputs: together(sample, network(8, Form{}, "model.om")), steers: []string{"model.om"}, from: "model", args: words("graph -diff in/model.om " + graph)},
		{name: "graph draw", inputs: together(sample, results(root)), from: "ge_proto", args: words("graph -root block2/conv -svg out/g.svg -dot out/g.dot -result in/result_20260102030405.csv " + graph)},
		{name: "graph drawn csv", inputs: together(sample, results(root)), from: "result", args: words("graph -root block2/conv -svg out/g.svg -result in/result_20260102030405.csv " + graph)},
		{name: "graph fusion", inputs: func(in string) error {
			return copies(in, filepath.Join(root, "repl", "testdata"), "fusion_result.json", "fusion_result.json")
		}, args: words("graph -all -fusion in/fusion_result.json")},
	}
	data := data(root, testdata)
	for _, command := range []string{
		"ls -n block", "ls dump -n conv", "ni block2/conv -a", "pt block2/conv -s", "pt block2/conv", "cp block2/conv block2_conv.0 -s", "dc block2/conv",
		"dc block2/conv -f NHWC -t pt", "check", "vc", "vcs -l 5 -i", "ac", "ac -c", "ac -html",
	} {
		list = append(list, &scenario{name: "shell " + command, inputs: data, from: "precision_data", writes: []string{"in/precision_data/temp", "in/precision_data/tf/dump/*.npy.txt"}, // pt and cp write an array's text beside it
			args: append(words("-data in"), words(command)...)})
	}
	for _, s := range list {
		s.program = "precision"
		if s.writes == nil {
			s.writes = []string{"out"}
		}
	}
	return dropIn(list, testdata("cases"))
}

// dropIn adds the runs of the recorded cases of msaccucmp that write to a folder.
func dropIn(list []*scenario, cases string) ([]*scenario, error) {
	all, err := recorded.Load(cases)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		for _, r := range c.Runs {
			if r.Continue || len(c.Make) > 0 || !slices.Contains(r.Args, "out") || strings.Contains(strings.Join(r.Args, " "), "in/gone") {
				continue
			}
			if entries, err := os.ReadDir(filepath.Join(c.Dir, "in")); err != nil || len(entries) == 0 {
				continue
			}
			list = append(list, &scenario{program: "msaccucmp", name: c.Name + " " + r.ID, args: r.Args, writes: []string{"out"}, kill: r.Kind == "convert",
				inputs: func(in string) error { return copyTree(filepath.Join(c.Dir, "in"), in) }})
		}
	}
	return list, nil
}

func words(line string) []string { return strings.Fields(line) }

// copies copies files and folders by pairs of names.
func copies(to, from string, names ...string) (err error) {
	defer must.Catch(&err)
	for i := 0; i < len(names); i += 2 {
		a, b := filepath.Join(from, filepath.FromSlash(names[i])), filepath.Join(to, filepath.FromSlash(names[i+1]))
		info := must.Get(os.Stat(a))
		if info.IsDir() {
			must.Do(copyTree(a, b))
			continue
		}
		content, err := os.ReadFile(a)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(b), 0o700)
		}
		if err == nil {
			err = os.WriteFile(b, content, 0o600)
		}
		must.Do(err)
	}
	return nil
}

// results are tables of this and of older programs.
func results(root string) func(in string) error {
	return func(in string) error {
		return copies(in, filepath.Join(root, "repl", "testdata", "results"), "result_20260102030405.csv", "result_20260102030405.csv", "old.csv", "old.csv")
	}
}

// data is a data folder of the shell with something for every command.
func data(root string, testdata func(string) string) func(in string) error {
	return func(in string) error {
		d := filepath.Join(in, "precision_data")
		for _, c := range [][]string{
			{d, testdata("sample"), "npu", "npu/debug_0/dump", "golden", "tf/dump", graphFile, "npu/debug_0/graph/" + graphFile},
			{d, testdata("cases/ovf_old/in"), "dump", "overflow/dump/20260101120000/0/net/1/0"},
			{d, filepath.Join(root, "compare", "torch", "testdata"), "full_npu.h5", "pt/npu/npu.h5", "full_gpu.h5", "pt/gpu/gpu.h5"},
			{d, filepath.Join(root, "repl", "testdata"), "fusion_result.json", "fusion/fusion_result.json", "statistics.csv", "npu/debug_0/dump/20260101120000/0/sample_net_1/1/0/Conv2D.block2_conv.11.1.1630000000011000.csv",
				"results/result_20260102030405.csv", "temp/vector_compare/20260102030405/result_20260102030405.csv"},
		} {
			if err := copies(c[0], c[1], c[2:]...); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(d, "precision.toml"), []byte("limit = 4\ncos_sim = 0.97\nlang = \"en\"\n"), 0o600)
	}
}

// renamed gives dumps the digits that stand for names too long for a file system,
// and the table that tells them.
func renamed(in string) error {
	dir := filepath.Join(in, "npu")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var table strings.Builder
	for i, e := range entries {
		digits := fmt.Sprintf("12345678901234567%02d", i)
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(dir, digits)); err != nil {
			return err
		}
		fmt.Fprintf(&table, "%s,%s\n", digits, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "mapping.csv"), []byte(table.String()), 0o600)
}

// onnxGraph is a graph as GE writes it in the style of ONNX.
const onnxGraph = `ir_version: 6
producer_name: "GE"
graph {
  node {
    output: "x:0" name: "x" op_type: "ge:Data"
    attribute { name: "id" type: INT }
    attribute { name: "output_desc_nums" i: 1 type: INT }
    attribute { name: "output_desc_dtype:0" s: "DT_FLOAT16" type: STRING }
    attribute { name: "output_desc_layout:0" s: "NCHW" type: STRING }
    attribute { name: "output_desc_shape:0" ints: 1 ints: 3 type: INTS }
  }
  node {
    input: "x:0" output: "y:0" name: "y" op_type: "ge:Relu"
    attribute { name: "id" i: 1 type: INT }
    attribute { name: "alpha" f: 0.5 type: FLOAT }
    attribute { name: "words" strings: "a" strings: "b" type: STRINGS }
    attribute { name: "input_desc_nums" i: 1 type: INT }
    attribute { name: "input_desc_dtype:0" s: "DT_FLOAT16" type: STRING }
  }
  name: "net"
  output { name: "y" }
}
`
