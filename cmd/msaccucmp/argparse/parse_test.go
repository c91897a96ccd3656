package argparse

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"precision/internal/each"
)

var update = flag.Bool("update", false, "record anew what Python 3.11 makes of testdata/lines.json")

// outcome is what reference.py says about a command line.
type outcome struct {
	Code   int            `json:"code"`
	Error  string         `json:"error,omitempty"`
	Help   string         `json:"help,omitempty"`
	Values map[string]any `json:"values,omitempty"`
}

// normal passes an outcome through JSON, so that numbers compare.
func normal(t testing.TB, o outcome) outcome {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var n outcome
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func ours(args []string) outcome {
	v, err := Msaccucmp(args).Parse(args)
	if err != nil {
		exit := exitOf(err)
		usage, _, _ := strings.Cut(exit.Stdout, "\n\n")
		return outcome{Code: exit.Code, Error: exit.Stderr, Help: usage}
	}
	values := map[string]any{}
	if v.Command == "" {
		return outcome{Values: values}
	}
	values["command"] = v.Command
	for key, o := range v.options {
		switch {
		case o.help:
		case o.Takes == None:
			values[key] = v.Given(key)
		case v.Given(key) && o.Takes == Many:
			values[key] = each.Of(v.given[key], func(text string) any { return value(o, text) })
		case v.Given(key):
			values[key] = value(o, v.given[key][0])
		default:
			values[key] = value(o, o.Default)
		}
	}
	return outcome{Values: values}
}

// value is what Python has for a value of an option.
func value(o *Option, v any) any {
	if text, _ := v.(string); o.Type == Int && strings.Trim(text, "-0123456789") == "" && text != "" {
		return json.Number(text)
	}
	return v
}

// table is the command line of msaccucmp.py in the form reference.py reads,
// with lines that all have the same.
func table(lines [][]string) map[string]any {
	if lines == nil {
		lines = [][]string{}
	}
	p := Msaccucmp(append(lines, nil)[0])
	var commands []any
	for _, c := range p.Commands {
		var options []any
		for _, o := range c.Options {
			typ := ""
			if o.Type != nil {
				typ = o.Type.Name
			}
			options = append(options, map[string]any{"names": o.Names, "key": o.Key(), "takes": o.Takes, "type": typ, "choices": each.Of(o.Choices, func(text string) any { return value(&o, text) }),
				"default": value(&o, o.Default), "required": o.Required, "group": o.Group, "metavar": o.Metavar})
		}
		commands = append(commands, map[string]any{"name": c.Name, "options": options})
	}
	return map[string]any{"prog": p.Prog, "commands": commands, "lines": lines}
}

// python asks Python about command lines; it skips the test without a 3.11.
func python(t *testing.T, lines [][]string) []outcome {
	t.Helper()
	py, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	version, err := exec.Command(py, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	if err != nil || strings.TrimSpace(string(version)) != "3.11" {
		t.Skipf("python3 is %q, not 3.11", version)
	}
	var plain, numbers [][]string
	for _, args := range lines {
		if NumberList(args) {
			numbers = append(numbers, args)
		} else {
			plain = append(plain, args)
		}
	}
	in, err := json.Marshal([]any{table(plain), table(numbers)})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(py, "testdata/reference.py")
	cmd.Env = append(os.Environ(), "COLUMNS=80", "PYTHONUTF8=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []outcome
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var o outcome
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	if len(all) != len(lines) {
		t.Fatalf("%d outcomes for %d lines", len(all), len(lines))
	}
	// Back to the order of lines.
	sorted, p, n := make([]outcome, len(lines)), 0, len(plain)
	for i, args := range lines {
		next := &p
		if NumberList(args) {
			next = &n
		}
		sorted[i] = all[*next]
		*next++
	}
	return sorted
}

func check(t *testing.T, args []string, want outcome) {
	t.Helper()
	got := normal(t, ours(args))
	if want = normal(t, want); !reflect.DeepEqual(got, want) {
		t.Errorf("%q:\n got %+v\nwant %+v", args, got, want)
	}
}

// recordedLine is a command line and what Python 3.11 made of it.
type recordedLine struct {
	Line string  `json:"line"` // words separated by blanks; ␣ stands for a blank, ∅ for an empty word
	Want outcome `json:"want"`
}

func (r recordedLine) args() []string {
	args := strings.Fields(r.Line)
	for i, a := range args {
		args[i] = strings.NewReplacer("␣", " ", "∅", "").Replace(a)
	}
	return args
}

func TestRecordedLines(t *testing.T) {
	const file = "testdata/lines.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []recordedLine
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	if *update {
		var all [][]string
		for _, l := range lines {
			all = append(all, l.args())
		}
		for i, o := range python(t, all) {
			lines[i].Want = o
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(lines); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) < 50 {
		t.Fatalf("only %d lines", len(lines))
	}
	for _, l := range lines {
		if runtime.GOOS == "windows" && strings.ContainsAny(l.Line, `:\`) {
			continue // allowed in paths there
		}
		check(t, l.args(), l.Want)
	}
}

// Command lines made of pieces that are hard to tell apart, against the real
// argparse.
func TestAgainstPython(t *testing.T) {
	var words []string
	for _, c := range Msaccucmp(nil).Commands {
		for _, o := range c.Options {
			words = append(words, o.Names...)
		}
	}
	words = append(words, strings.Fields("-h --help --he -- - -3 -0.5 -.5 -1e3 -o0 -o=0 -ou -outx -out=x --out --outp --output=a=b --my --my=x "+
		"-m=x -mx -ma -map=1 -map=o -map=- --map=1 --mapp -adv -ad -ffts=x -fft -ff -f= --dump --dump_f=y -n3 -n=2 --top 4 --topn=x --to 1 2 3 9 12 x a/b "+
		"a:b npy -tpt -t=bin -v1 -v3 -v=2 -alg=4 -algx -al -cf=x -cfx -p0 -p2 -max-3 -max=-3 -ml5 -i1 -q --ignore --x --x=1 -x -x=1 -hx -hm "+
		"compare convert overflow +5 1_0 --=x -=x --o --op --i")...)
	words = append(words, "", "a b", "-a b", "-m b", "--m=a b", "it's", "é", "-é", "-hé", " 7 ")
	starts := strings.Split("compare -m x -g y;convert -d x;overflow -d x -out y;file_compare -m x -g y -out z", ";")
	r := rand.New(rand.NewPCG(1, 2))
	var lines [][]string
	for range 6000 {
		var args []string
		if r.IntN(20) > 0 {
			args = strings.Fields(starts[r.IntN(2+r.IntN(3))])
		}
		if r.IntN(8) == 0 {
			args = args[:r.IntN(1+len(args))]
		}
		for range r.IntN(4) {
			args = append(args, words[r.IntN(len(words))])
		}
		if r.IntN(40) == 0 {
			args = append([]string{words[r.IntN(len(words))]}, args...)
		}
		lines = append(lines, args)
	}
	kinds := map[string]int{}
	for i, want := range python(t, lines) {
		check(t, lines[i], want)
		kinds[fmt.Sprint(want.Code, want.Help != "")]++
	}
	t.Log(kinds)
	if len(kinds) < 3 {
		t.Errorf("only outcomes of the kinds %v", kinds)
	}
}

func TestExit(t *testing.T) {
	p := &Parser{Prog: "prog", Options: []Option{{Names: []string{"-a"}, Required: true}}}
	_, err := p.Parse(nil)
	if want := (Exit{"", "usage: prog [-h] -a A\nprog: error: the following arguments are required: -a\n", 2}); exitOf(err) != want {
		t.Errorf("%+v", err)
	}
	_, err = p.Parse([]string{"-h"})
	if want := (Exit{"usage: prog [-h] -a A\n\noptions:\n  -h, --help            print this help and exit\n  -a A\n", "", 0}); exitOf(err) != want {
		t.Errorf("%+v", err)
	}
}

// exitOf is what an error of Parse is, which is nothing else.
func exitOf(err error) Exit {
	if err == nil {
		return Exit{}
	}
	return *err.(*Exit)
}

func TestValues(t *testing.T) {
	args := strings.Fields("compare -m a -g b -alg 4 1 5 -max 99999999999999999999 -n -7 -advisor -op x -n=3")
	v, err := Msaccucmp(args).Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	if v.Command != "compare" || v.Text("my_dump_path") != "a" || v.Text("op_name") != "x" || v.Text("range") != "" || v.Text("topn") != "3" {
		t.Error("texts", v.given)
	}
	if got := v.List("algorithm"); !reflect.DeepEqual(got, []string{"4", "1", "5"}) {
		t.Error(got)
	}
	if v.Int("max_cmp_size") != int(^uint(0)>>1) || v.Int("topn") != 3 || v.Int("max_line") != 1000000 || v.Int("version") != 2 {
		t.Error("numbers", v.given)
	}
	if !v.Given("topn") || v.Given("max_line") || !v.Given("advisor") || v.Given("mapping") {
		t.Error("given", v.given)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a key that the table does not have")
		}
	}()
	v.Text("outptu")
}

// Every option has help that fits the terminal.
func TestHelpFits(t *testing.T) {
	p := Msaccucmp(nil)
	texts := []string{p.Help()}
	for _, c := range p.Commands {
		help := p.command(c.Name).Help()
		for _, o := range c.Options {
			if o.About == "" {
				t.Errorf("%s %s: no help", c.Name, o.Names[0])
			}
			if !strings.Contains(help, "  "+o.Names[0]) {
				t.Errorf("%s %s: not in the help", c.Name, o.Names[0])
			}
		}
		texts = append(texts, help)
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if len(line) > 79 || strings.TrimRight(line, " \n")+"\n" != line {
				t.Errorf("%q", line)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("compare\x00-m\x00a\x00-g=b\x00-o0\x00--\x00-x")
	f.Add("compare\x00-hé\x00--out\x00-alg\x004\x001")
	f.Add("convert\x00-map=o\x00\xff")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\x00")
		v, err := Msaccucmp(args).Parse(args)
		exit := exitOf(err)
		switch {
		case err == nil && v == nil, err != nil && v != nil:
			t.Fatal(v, err)
		case err != nil && err.Error() == "", exit.Code != 0 && exit.Code != 2:
			t.Fatal(exit)
		}
	})
}

// TestOutputOfAnyName: a folder for results that is still to be made may have any
// name; something to read that is not there may not.
func TestOutputOfAnyName(t *testing.T) {
	const out = "结果 1"
	for _, c := range []struct {
		words string
		ok    bool
	}{
		{"compare -m . -g . -out", true},
		{"file_compare -m . -g . -out", true},
		{"overflow -d . -out", true},
		{"convert -d . -out", true},
		{"convert -d", false},
	} {
		args := append(strings.Fields(c.words), out)
		v, err := Msaccucmp(args).Parse(args)
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", args, err)
		}
		if c.ok && err == nil && v.Text("output") != out {
			t.Errorf("%q: found %q", args, v.Text("output"))
		}
	}
}
