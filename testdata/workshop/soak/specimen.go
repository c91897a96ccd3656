package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"precision/testdata/workshop/jobtest"
)

// specimen are recordings, or tables, graphs and logs, with the commands that judge them. It
// is laid out in "in" of a folder, which is the current one of its commands.
type specimen struct {
	name string
	form form
	lay  func(in string) error
	// first are runs that make further inputs.
	first [][]string
	// sides are the two folders that are held against each other; graph is the file of the
	// graph, "" without one.
	sides [2]string
	graph string
	// saved is the result of an earlier run that is judged again, held against or gone on from.
	saved string
	// whole: every tensor of both sides is expected. Otherwise the table of the undamaged
	// recordings tells which are.
	whole bool
	// outputs are the operators whose results leave the network, as far as they are known.
	outputs  []string
	commands []*judgement

	base    string // where it was laid out
	faulty  bool   // its verdict is not good
	known   map[string]int
	tensors int // how many are expected
	once    sync.Once
	broken  error
	busy    sync.Mutex // while it is judged as it is
}

// form is what a specimen is made of, which decides how it can be damaged.
type form string

const (
	dumps    form = "dumps"    // dumps of a network and golden arrays or other dumps
	calls    form = "calls"    // recordings of calls
	jobs     form = "job"      // ranks and steps of dumps
	saved    form = "table"    // what a comparison left
	baseline form = "baseline" // an earlier table beside recordings
	logs     form = "log"      // training logs, lists of files, configurations
)

// judgement is a command that judges, with the runs that go before it on the same inputs.
type judgement struct {
	name   string
	before [][]string
	args   []string
	// left: it reads the left side alone.
	left bool
	// silent: it gives no verdict; its exit statuses alone tell.
	silent bool
	// csv: what it reads cannot show that it is whole.
	csv bool

	whole  *outcome // of the undamaged specimen
	once   sync.Once
	broken error
}

const (
	sideLeft, sideRight = "in/npu", "in/golden"
	savedJSON           = "in/saved.json"
)

// specimens are all that ships with the module, and recordings below real, where that is.
func specimens(root, real string) (list []*specimen, err error) {
	testdata := func(path string) string { return filepath.Join(root, "testdata", filepath.FromSlash(path)) }
	add := func(s *specimen) {
		if s.sides[0] == "" {
			s.sides = [2]string{sideLeft, sideRight}
		}
		if s.saved == "" {
			s.saved = savedJSON
		}
		if s.commands == nil {
			s.commands = s.judgements()
		}
		list = append(list, s)
	}
	copied := func(pairs ...string) func(string) error {
		return func(in string) error { return copies(in, testdata("sample"), pairs...) }
	}
	sample := copied("npu", "npu", "golden", "golden", graphFile, graphFile)
	add(&specimen{name: "sample", form: dumps, lay: sample, graph: "in/" + graphFile})
	networks := []struct {
		name     string
		n, wrong int
		graph    string
		form     Form
	}{{"good", 12, -1, "graph.txt", Form{}}, {"faulty", 14, 6, "graph.txt", Form{Layout: "NC1HWC0"}}, {"good model", 9, -1, "model.om", Form{Layout: "FRACTAL_Z"}},
		{"large", 160, -1, "graph.txt", Form{}}, {"large faulty", 150, 70, "graph.txt", Form{}}}
	computed := func(name string) (*Random, func(in string) error, string) {
		for i, c := range networks {
			if c.name == name {
				r := NewComputed(c.n, uint64(40+i), 1, c.wrong, true)
				return r, func(in string) error {
					return r.Write(c.form, filepath.Join(in, "npu"), filepath.Join(in, "golden"), filepath.Join(in, c.graph))
				}, "in/" + c.graph
			}
		}
		return nil, nil, ""
	}
	for _, c := range networks {
		r, lay, graph := computed(c.name)
		add(&specimen{name: "network " + c.name, form: dumps, lay: lay, graph: graph, whole: true, outputs: r.outputs()})
	}
	for _, name := range []string{"good", "faulty"} {
		r, lay, graph := computed(name)
		compare := words("compare -lt in/npu -rt in/golden -out out")
		first := [][]string{append(slices.Clone(compare), "-g", graph, "-json", savedJSON, "-out", "in/tables")}
		report := words("report in/saved.json -json out/v.json")
		add(&specimen{name: "table of " + name, form: saved, lay: lay, first: first, graph: graph, outputs: r.outputs(),
			commands: []*judgement{{name: "report", args: report}}})
		add(&specimen{name: "csv of " + name, form: saved, lay: lay, first: first, graph: graph,
			commands: []*judgement{{name: "report csv", args: words("report in/tables/result.csv -json out/v.json"), csv: true}}})
		add(&specimen{name: "baseline of " + name, form: baseline, lay: lay, first: first, graph: graph, whole: true,
			commands: []*judgement{{name: "compare -baseline", args: append(slices.Clone(compare), "-g", graph, "-json", "out/v.json", "-baseline", savedJSON)},
				{name: "report -baseline", before: [][]string{append(slices.Clone(compare), "-g", graph, "-json", "out/now.json")},
					args: words("report out/now.json -json out/v.json -baseline in/saved.json")},
				{name: "compare -after", args: append(slices.Clone(compare), "-g", graph, "-json", "out/v.json", "-after", savedJSON)}}})
	}
	for _, task := range []string{"tensor", "statistics", "md5"} {
		for k, wrong := range []int{-1, 5} {
			add(&specimen{name: fmt.Sprintf("calls %s %s", task, []string{"good", "faulty"}[k]), form: calls, whole: true, lay: func(in string) error {
				return writeCalls(in, task, 1, 1, func(_, _ int) *Random { return NewComputed(11, 60+uint64(k), 1, wrong, false) })
			}})
		}
		if task != "md5" {
			for k, wrong := range []int{-1, 5} {
				add(&specimen{name: fmt.Sprintf("calls of MindSpore %s %s", task, []string{"good", "faulty"}[k]), form: calls, whole: true, lay: func(in string) error {
					err := writeCalls(in, task, 1, 1, func(_, _ int) *Random { return NewComputed(11, 80+uint64(k), 1, wrong, false) })
					if err == nil {
						err = asMindSpore(in)
					}
					return err
				}})
			}
		}
		add(&specimen{name: "calls " + task + " of ranks", form: calls, whole: true, lay: func(in string) error {
			return writeCalls(in, task, 2, 3, func(step, rank int) *Random {
				return NewComputed(6, 70, 1+float64(step)/4+float64(rank)/16, -1, false)
			})
		}})
		add(&specimen{name: "calls " + task + " of ranks, one faulty", form: calls, whole: true, lay: func(in string) error {
			return writeCalls(in, task, 2, 3, func(step, rank int) *Random {
				wrong := -1
				if step == 1 && rank == 2 {
					wrong = 3
				}
				return NewComputed(6, 70, 1+float64(step)/4+float64(rank)/16, wrong, false)
			})
		}})
	}
	add(&specimen{name: "calls example", form: calls, lay: func(in string) error {
		return copies(in, filepath.Join(root, "examples", "msprobe-recording"), "npu", "npu", "gpu", "golden")
	}})
	for name, j := range map[string]jobtest.Job{
		"job good":   {Ranks: 4, Steps: 2, Size: 48, All: true, Given: true},
		"job faulty": {Ranks: 3, Steps: 2, Size: 48, Break: breakOne},
	} {
		add(&specimen{name: name, form: jobs, lay: j.Write, graph: "in/" + graphFile, whole: true, outputs: []string{jobtest.Update}})
		compare := words("compare -all -lt in/npu -rt in/golden -g in/" + graphFile)
		add(&specimen{name: "after " + name, form: baseline, lay: j.Write, graph: "in/" + graphFile, whole: true, outputs: []string{jobtest.Update},
			saved:    "in/saved/job.json",
			first:    [][]string{append(slices.Clone(compare), "-out", "in/saved")},
			commands: []*judgement{{name: "compare -all -after", args: append(slices.Clone(compare), "-out", "out", "-after", "in/saved/job.json")}}})
	}
	slices.SortFunc(list, func(a, b *specimen) int { return strings.Compare(a.name, b.name) }) // the jobs came by a map
	cases, err := filepath.Glob(testdata("cases/*/in/golden"))
	if err != nil {
		return nil, err
	}
	for _, golden := range cases {
		in := filepath.Dir(golden)
		if info, err := os.Stat(filepath.Join(in, "npu")); err != nil || !info.IsDir() {
			continue
		}
		s := &specimen{name: "case " + filepath.Base(filepath.Dir(in)), form: dumps, lay: func(to string) error { return copyTree(in, to) }}
		if _, err := os.Stat(filepath.Join(in, "graph.json")); err == nil {
			s.graph = "in/graph.json"
		}
		add(s)
	}
	for _, s := range logSpecimens() {
		add(s)
	}
	targets, err := filepath.Glob(filepath.Join(real, "msprobe", "*", "target"))
	if err != nil || real == "" {
		return list, err
	}
	for _, target := range targets {
		dir := filepath.Dir(target)
		add(&specimen{name: "real " + filepath.Base(dir), form: calls, lay: func(in string) error {
			return copies(in, dir, "target", "npu", "golden", "golden")
		}})
	}
	return list, nil
}

// breakOne makes a kernel of one rank and step wrong.
func breakOne(step, rank int, op string, out []float32) {
	if step == 1 && rank == 1 && op == jobtest.Mul {
		for i := range out[:len(out)/2] {
			out[i] *= -2
		}
	}
}

// writeCalls writes both sides of recordings of calls.
func writeCalls(in, task string, steps, ranks int, of func(step, rank int) *Random) error {
	for step := range steps {
		for rank := range ranks {
			for k, side := range []string{"npu", "golden"} {
				dir := filepath.Join(in, side, fmt.Sprint("step", step), fmt.Sprint("rank", rank))
				if err := of(step, rank).RecordTask(dir, task, k == 1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// asMindSpore makes recordings of calls of PyTorch those of MindSpore: calls of mint, and types as
// they are called there.
func asMindSpore(in string) error {
	names := strings.NewReplacer("Torch.", "Mint.", "Functional.", "MintFunctional.")
	text := strings.NewReplacer(`"pytorch"`, `"mindspore"`, "torch.Tensor", "mindspore.Tensor", "torch.float32", "Float32", "torch.float16", "Float16",
		`"requires_grad":false,`, "", "Torch.", "Mint.", "Functional.", "MintFunctional.")
	return filepath.WalkDir(in, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if filepath.Ext(path) != ".json" {
			return os.Rename(path, filepath.Join(filepath.Dir(path), names.Replace(e.Name())))
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text.Replace(string(old))), 0o600)
	})
}

// judgements are the commands that judge the recordings of a specimen.
func (s *specimen) judgements() []*judgement {
	compare := []string{"compare", "-lt", s.sides[0], "-rt", s.sides[1], "-out", "out"}
	if s.form == jobs {
		return []*judgement{{name: "compare -all", args: append(compare, "-g", s.graph, "-all")}}
	}
	saved := append(slices.Clone(compare), "-json", "out/saved.json")
	check := []string{"check", s.sides[0]}
	if s.form == dumps {
		check = []string{"check", "-lt", s.sides[0], "-g", s.graph}
	}
	if s.graph != "" {
		compare = append(compare, "-g", s.graph)
		saved = append(saved, "-g", s.graph)
	}
	compare = append(compare, "-json", "out/v.json")
	list := []*judgement{{name: "compare", args: compare}, {name: "report", before: [][]string{saved}, args: words("report out/saved.json -json out/v.json")}}
	if strings.Contains(s.name, "of ranks") {
		list = append(list, &judgement{name: "compare -all", args: []string{"compare", "-lt", s.sides[0], "-rt", s.sides[1], "-out", "out", "-all"}})
	}
	if s.graph != "" || s.form == calls {
		list = append(list, &judgement{name: "compare -check", args: append(slices.Clone(compare), "-check")},
			&judgement{name: "check", args: append(check, "-out", "out", "-json", "out/v.json"), left: true})
	}
	return list
}

// logSpecimens are what preflight compares: the same twice, as two runs leave it.
func logSpecimens() (list []*specimen) {
	for name, content := range map[string]func(side int) string{
		"train.log": func(side int) string {
			var b strings.Builder
			for i := range 60 {
				fmt.Fprintf(&b, "step %d, loss %.4f, grad_norm %.4f\n", i, 8/(1+0.1*float64(i))+float64((i*7+side*3)%5)*1e-4, 2+float64((i*5+side)%7)*1e-3)
			}
			return b.String()
		},
		"data.md5": func(int) string {
			var b strings.Builder
			for i := range 40 {
				fmt.Fprintf(&b, "%032x  shard/%03d.bin\n", i*7919, i)
			}
			return b.String()
		},
		"config.yaml": func(int) string {
			var b strings.Builder
			for i := range 30 {
				fmt.Fprintf(&b, "section%d:\n  rate: %d.5\n  kind: adam\n", i, i)
			}
			return b.String()
		},
	} {
		a, b := "in/npu/"+name, "in/golden/"+name
		list = append(list, &specimen{name: "preflight " + name, form: logs, lay: func(in string) error {
			for side, dir := range []string{"npu", "golden"} {
				if err := os.MkdirAll(filepath.Join(in, dir), 0o700); err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(in, dir, name), []byte(content(side)), 0o600); err != nil {
					return err
				}
			}
			return nil
		}, commands: []*judgement{{name: "preflight diff", args: []string{"preflight", "diff", a, b}, silent: true}}})
	}
	slices.SortFunc(list, func(a, b *specimen) int { return strings.Compare(a.name, b.name) })
	return list
}
