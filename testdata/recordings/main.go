// Recordings makes pairs of recordings of real models with the real recorder, judges them
// with the program and says how often it is right. Run it from the top folder:
//
//	go run ./testdata/recordings -python PYTHON -seed 1            record pairs of 14 models and judge them
//	go run ./testdata/recordings -python PYTHON -script kinds.py   pairs of one small network for every setting of the recorder
//	go run ./testdata/recordings -python PYTHON -script others.py  pairs of other models and with other faults
//	go run ./testdata/recordings -python PYTHON -script styles.py  pairs of programs that are written in other ways, with larger tensors
//	go run ./testdata/recordings -python PYTHON -script fields.py  small networks of other fields: detection, graphs, sound, flow, points, reinforcement
//	versions.py, wrong.py                                          run by hand: pairs of two versions of transformers, of one kernel that is wrong
//	go run ./testdata/recordings -python PYTHON -script jobs.py    whole jobs of several ranks: compare, compare -all and check
//	go run ./testdata/recordings -python PYTHON -script megatroncore.py  those of Megatron-core
//	go run ./testdata/recordings -in DIR                           judge pairs that were recorded before
//	go run ./testdata/recordings -python PYTHON -only llama -v     of some pairs, and what the program says of each
//	go run ./testdata/recordings -python PYTHON -clean             record models with nothing wrong, and check them;
//	                                                               with -script large.py of real size, some GB
//	go run ./testdata/recordings -python PYTHON -mindspore PYTHON  pairs of MindSpore, recorded by the second; with -script othercells.py of other networks
//
// PYTHON has torch, transformers and mindstudio-probe from PyPI; record.py or kinds.py, beside
// this file, is what it runs. The second has mindspore and mindstudio-probe and runs cells.py, which takes
// the first for migrations. A pair that does no harm counts as accused if the verdict is bad or
// suspect or names a root. Of a fault the first root is right if it is the module at fault, a
// call in it that stands for the fault, or the first call of the recording whose outputs are not
// those of the other side; every other root is a false one.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"precision/internal/must"
	"regexp"
	"slices"
	"strings"
)

func main() {
	python := flag.String("python", "", "the Python that has the recorder")
	in := flag.String("in", "", "folder of pairs that were recorded before")
	seed := flag.Int("seed", 1, "seed of the pairs")
	script := flag.String("script", "record.py", "what records, beside this file")
	only := flag.String("only", "", "only the pairs whose names contain this")
	verbose := flag.Bool("v", false, "say what the program says of every pair")
	ms := flag.String("mindspore", "", "the Python that has MindSpore: record its pairs and not those of PyTorch")
	program := flag.String("program", "", "the built program (built from this folder)")
	least := flag.Bool("check", false, "fail if less is right than docs/recordings.md says")
	right := flag.Bool("clean", false, "check recordings with nothing wrong in place of judging pairs, and count the outputs that are called wrong")
	flag.Parse()
	if *right {
		if err := clean(*python, *script, *in, *seed, *only, *program, *verbose); err != nil {
			fmt.Fprintln(os.Stderr, "recordings:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*python, *ms, *script, *in, *seed, *only, *program, *verbose, *least); err != nil {
		fmt.Fprintln(os.Stderr, "recordings:", err)
		os.Exit(1)
	}
}

// build builds the program in a folder.
func build(work string) (program string, err error) {
	program = filepath.Join(work, "precision")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/precision")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// answer is answer.json of a pair.
type answer struct {
	Model, Level, Task, DType, Kind, Module string
	// Recorder is that of a pair of cells.py; empty for those of record.py.
	Recorder string
	Calls    []string
	// Job: it is a job of several ranks, of jobs.py; Rank is the one at fault. Collective: it
	// is a collective that does other than it is told.
	Job, Collective bool
	Rank            int
	// Step is that in which the fault begins, where each token of a text is a step (decode.py).
	Step int
	// Exact are the calls at fault by their names, where these are known.
	Exact []string
}

// judged is what is read of the program's verdict.
type judged struct {
	Verdict  string
	Premises []premised
	Roots    []struct {
		Op, Certainty string
		Region        []string
	}
}

// premised is something taken for granted that does not hold.
type premised struct {
	Kind   string
	Broken bool
}

func run(python, ms, script, in string, seed int, only, program string, verbose, least bool) (err error) {
	defer must.Catch(&err)
	work := must.Get(os.MkdirTemp("", "recordings"))
	defer os.RemoveAll(work)
	if program == "" {
		program = must.Get(build(work))
	}
	if in == "" {
		must.Not(python == "" && ms == "", "which Python records? -python PYTHON, or -in DIR with what was recorded")
		in = filepath.Join(work, "pairs")
		record := exec.Command(python, filepath.Join("testdata/recordings", script), in, "--seed", fmt.Sprint(seed), "--only", only)
		if ms != "" {
			if script == "record.py" {
				script = "cells.py"
			}
			record = exec.Command(ms, filepath.Join("testdata/recordings", script), in, "--seed", fmt.Sprint(seed), "--only", only, "--torch", python)
		}
		record.Stdout, record.Stderr = os.Stderr, os.Stderr
		must.Do(record.Run())
	}
	list := must.Get(filepath.Glob(filepath.Join(in, "*", "answer.json")))
	var s score
	for _, path := range list {
		pair := filepath.Dir(path)
		if !strings.Contains(filepath.Base(pair), only) {
			continue
		}
		line, err := s.judge(program, pair, work)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(pair), err)
		}
		if verbose || !strings.HasPrefix(line, "ok") {
			fmt.Printf("%-48s %s\n", filepath.Base(pair), line)
		}
	}
	if s.partners > 0 {
		fmt.Printf("tensors of migrations aligned, of those that both sides have: %d of %d\n", s.held, s.partners)
	}
	if s.jobs.print(); s.harmless+s.faults+s.premises == 0 && !least {
		return nil
	}
	fmt.Println("| pairs | right | of |\n|---|---|---|")
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		fmt.Printf("| %s | %d | %d |\n", kind, s.kinds[kind][0], s.kinds[kind][1])
	}
	fmt.Printf("harmless pairs not accused: %d of %d\nfaults whose first root is the call at fault: %d of %d, in none %d\nfalse further roots: %d in %d pairs\nruns that are not comparable, told as such: %d of %d\n",
		s.spared, s.harmless, s.exact, s.faults, s.none, s.further, s.harmless+s.faults, s.named, s.premises)
	must.Not(least && (100*s.spared < 94*s.harmless || 100*s.exact < 91*s.faults || 100*s.further > 5*(s.harmless+s.faults) || s.harmless+s.faults == 0), "less is right than expected: 94 %% of harmless pairs, 91 %% of faults, 5 further roots in 100 pairs")
	return nil
}

// score counts what was right.
type score struct {
	harmless, spared, faults, exact, none, further int
	// premises are pairs of runs that are not comparable, named those of which that is told.
	premises, named int
	// partners are tensors of migrations that both sides have, held those that were compared.
	partners, held int
	jobs           jobs
	// kinds are how many pairs of a kind there are, and how many of them are right.
	kinds map[string][2]int
}

// add counts a pair of a kind.
func (s *score) add(kind string, right bool) {
	if s.kinds == nil {
		s.kinds = map[string][2]int{}
	}
	n := s.kinds[kind]
	if n[1]++; right {
		n[0]++
	}
	s.kinds[kind] = n
}

// judge runs the program on a pair and scores it; line says how, and begins with ok if all is right.
func (s *score) judge(program, pair, work string) (line string, err error) {
	var a answer
	if err := load(filepath.Join(pair, "answer.json"), &a); err != nil {
		return "", err
	}
	if a.Job {
		return s.jobs.judge(program, pair, work, &a)
	}
	tables := filepath.Join(work, "out")
	os.RemoveAll(tables)
	out := filepath.Join(work, "v.json")
	os.Remove(out)
	cmd := exec.Command(program, "compare", "-lt", filepath.Join(pair, "left"), "-rt", filepath.Join(pair, "golden"), "-out", tables, "-json", out)
	text, failed := cmd.CombinedOutput() // it also fails where nothing could be compared
	var v judged
	if err := load(out, &v); err != nil {
		return "", fmt.Errorf("%w: %s", errors.Join(failed, err), text)
	}
	var names []string
	for _, r := range v.Roots {
		names = append(names, r.Op)
	}
	said := fmt.Sprintf("%s, %d roots: %s", v.Verdict, len(names), strings.Join(names[:min(len(names), 4)], ", "))
	if strings.HasPrefix(a.Kind, "harmless") {
		s.harmless++
		good := len(names) == 0 && v.Verdict != "bad" && v.Verdict != "suspect"
		s.add(a.Kind, good)
		if a.Recorder == "migration" {
			line, err := s.align(pair, tables)
			if err != nil {
				return "", err
			}
			said += ", " + line
		}
		if good {
			s.spared++
			return "ok " + said, nil
		}
		return "ACCUSED " + said, nil
	}
	if premise, ok := strings.CutPrefix(a.Kind, "premise: "); ok {
		s.premises++
		held := v.Verdict == "inconclusive" && len(names) == 0 && slices.ContainsFunc(v.Premises, func(p premised) bool { return p.Broken && p.Kind == premise })
		s.add(a.Kind, held)
		said = fmt.Sprintf("%s, premises %v", said, v.Premises)
		if held {
			s.named++
			return "ok " + said, nil
		}
		return "PREMISE " + said, nil
	}
	s.faults++
	tell := culprits
	if a.Recorder != "" {
		tell = cell
	}
	right, err := tell(pair, &a)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		s.none++
		s.add(a.Kind, false)
		return "NONE " + said, nil
	}
	state := "OTHER"
	for i, name := range names {
		hit := right(name) || v.Roots[i].Certainty == "region" && slices.ContainsFunc(v.Roots[i].Region, right)
		switch {
		case i == 0:
			s.add(a.Kind, hit)
			if !hit {
				break
			}
			s.exact++
			state = "ok"
		case i > 0 && !hit:
			s.further++
			if state == "ok" {
				state = "FURTHER"
			}
		}
	}
	return state + " " + said, nil
}

// fewBeside is how many calls a fault makes at most: one that is scaled by the means over two axes makes eight.
const fewBeside = 8

// culprits tells of the name of a call whether it is at fault.
func culprits(pair string, a *answer) (func(name string) bool, error) {
	left, parents, err := calls(filepath.Join(pair, "left"), a.Step)
	if err != nil {
		return nil, err
	}
	right := "golden"
	if _, err := os.Stat(filepath.Join(pair, "before")); err == nil {
		right = "before" // the left side without its fault, where the right one is another program (versions.py)
	}
	golden, _, err := calls(filepath.Join(pair, right), a.Step)
	if err != nil {
		return nil, err
	}
	content := func(c call) string {
		if len(a.Calls) == 0 { // a mask differs where it goes in
			return c.content + c.args
		}
		return c.content
	}
	was := map[string]string{}
	for _, c := range golden {
		was[c.name] = content(c)
	}
	// A fault of several calls, as one that makes a tensor and adds it, is any of those from
	// the first that differs on.
	var first string
	var beside []call
	if at := slices.IndexFunc(left, func(c call) bool { before, ok := was[c.name]; return !ok || before != content(c) }); at >= 0 {
		first, beside = left[at].name, left[at:min(at+fewBeside, len(left))]
	}
	inside := func(name string) bool {
		for steps := 0; name != "" && steps < 100; steps++ {
			if strings.HasPrefix(name, "Module."+a.Module+".") {
				return true
			}
			name = parents[name]
		}
		return false
	}
	return func(name string) bool {
		if step, _, ok := strings.Cut(name, "/"); ok && a.Step > 0 && step != fmt.Sprint("step", a.Step) {
			return false
		}
		name = name[strings.LastIndex(name, "/")+1:] // without the step and rank
		parts := strings.Split(name, ".")
		known := len(parts) > 1 && slices.Contains(a.Calls, parts[1])
		if _, shared := was[name]; known && !shared && a.Exact == nil { // what the fault added, as a hook of a gradient
			return true
		}
		if slices.Contains(a.Exact, name) || name == first && a.Exact == nil || known && slices.ContainsFunc(beside, func(c call) bool { return c.name == name }) {
			return true
		}
		if a.Module == "" { // the fault is in what the program calls by itself, as a loss
			return known && a.Exact == nil
		}
		if !inside(name) {
			return false
		}
		if rest, ok := strings.CutPrefix(name, "Module."+a.Module+"."); ok && strings.Count(rest, ".") <= 2 {
			return true // the module itself: Class.forward.0
		}
		return known
	}, nil
}

// call is a call of a dump.json with the text of its outputs and inputs, and of what a forward call is given.
type call struct {
	name, content, args string
	all                 json.RawMessage
}

// calls are those of the only recording below a folder, in order, and what is around each.
func calls(dir string, step int) (list []call, parents map[string]string, err error) {
	found, err := filepath.Glob(filepath.Join(dir, fmt.Sprint("step", step), "*", "d*.json"))
	if err != nil || len(found) == 0 {
		return nil, nil, fmt.Errorf("%s: found no recording of step %d", dir, step)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil, nil, err
	}
	// Python writes numbers that JSON has not.
	dec := json.NewDecoder(bytes.NewReader(beyondJSON.ReplaceAll(text, []byte(`$1"$2"`))))
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		switch token {
		case json.Delim('{'):
			depth++
		case json.Delim('}'):
			depth--
		}
		if token == "data" && depth == 1 {
			break
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		var all json.RawMessage
		if err := dec.Decode(&all); err != nil {
			return nil, nil, err
		}
		var c struct {
			Output, Input json.RawMessage
			Args          json.RawMessage `json:"input_args"`
			Named         json.RawMessage `json:"input_kwargs"` // of an attention in bfloat16 its scale may be all that differs
		}
		if json.Unmarshal(all, &c) != nil {
			c.Output = all // saved by hand
		}
		list = append(list, call{name.(string), checksums.ReplaceAllString(string(c.Output)+string(c.Input)+string(c.Named), ""), checksums.ReplaceAllString(string(c.Args), ""), all})
	}
	constructed := map[string]any{}
	if err := load(filepath.Join(filepath.Dir(found[0]), "construct.json"), &constructed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	parents = map[string]string{}
	for name, parent := range constructed {
		switch p := parent.(type) {
		case string:
			parents[name] = p
		case []any:
			if len(p) > 0 {
				parents[name], _ = p[0].(string)
			}
		}
	}
	return list, parents, nil
}

// checksums are taken later than the rest, of what may have changed by then.
var checksums = regexp.MustCompile(`"md5":\s*"[^"]*"`)

var beyondJSON = regexp.MustCompile(`([:\[,]\s*)(-?Infinity|NaN)\b`)

func load(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
