package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// flat writes entries as key=value lines.
func flat(list []Entry) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s=%s\n", e.Key, e.Value.Source)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format     Format
		text, want string
	}{
		{YAML, "a: &x {lr: 1e-3, deep: [1, {b: two}]}\nc:\n  <<: *x\n  lr: 2\n---\nd: ~\n", "a.lr=1e-3\na.deep[0]=1\na.deep[1].b=two\nc.lr=2\nc.deep[0]=1\nc.deep[1].b=two\ndocument2.d=~\n"},
		{JSON, `{"a": {"b": [1, 2.50, "x"]}, "a2": null, "e": {}, "t": true, "a2": 5}`, "a.b[0]=1\na.b[1]=2.50\na.b[2]=x\na2=5\ne={}\nt=true\n"},
		{TOML, "lr = 0.1\n[model]\nlayers = [1, 2]\nname = 'x'\n", "lr=0.1\nmodel.layers[0]=1\nmodel.layers[1]=2\nmodel.name=x\n"},
		{INI, "top = 1\n[train]\nlr=1e-3 ; why\nname = %(top)s\n", "top=1\ntrain.lr=1e-3\ntrain.name=%(top)s\n"},
		{Env, "export A=1\nB='two words'\nC=x=y\nBASH_FUNC_f%%=() {  echo\n}\n", "A=1\nB=two words\nC=x=y\n"},
		{Shell, "#!/bin/bash\nexport DUMP_GE_GRAPH=2\nrm -f x\nSEED=7 python3.7 ./train.py --lr=1e-3 --size 2 3 \\\n  --name 'a b' -v --momentum -0.9 > log 2>&1 &\n",
			"DUMP_GE_GRAPH=2\nSEED=7\nlr=1e-3\nsize=2 3\nname=a b\nv=true\nmomentum=-0.9\n"},
		{Shell, "python train.py --lr 1e-3 --amp", "lr=1e-3\namp=true\n"},
		{Python, `import os
lr = 1_0e-4  # the rate
NAME: str = "a" 'b'
class Config(object):
    """lr = 5"""
    batch = 32; drop = None
    opt = dict(type='Adam', betas=(0.9, 0.999), nested={'k': [1, -2], "e": {}})
    def f(self):
        self.x = lr * 2
cfg.model["size"] = 3
if lr == 2: pass
parser.add_argument('-b', '--batch-size', type=int, default=16,
                    help='size: of, (a) batch')
parser.add_argument("--amp", action="store_true")
flags.DEFINE_float('rate', 0.5, "help")
steps = [x for x in range(3)]
`, "lr=1_0e-4\nNAME=ab\nConfig.batch=32\nConfig.drop=None\nConfig.opt.type=Adam\nConfig.opt.betas[0]=0.9\nConfig.opt.betas[1]=0.999\n" +
			"Config.opt.nested.k[0]=1\nConfig.opt.nested.k[1]=-2\nConfig.opt.nested.e={}\nConfig.f.self.x=lr * 2\ncfg.model.size=3\nbatch_size=16\namp=False\nrate=0.5\nsteps=[x for x in range(3)]\n"},
	} {
		list, err := Parse([]byte(c.text), c.format)
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		if got := flat(list); got != c.want {
			t.Errorf("%s\ngot\n%swant\n%s", c.format, got, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.yaml", "x", YAML}, {"x", "a: 1\nb:\n  c: 2\n", YAML}, {"fusion_switch.cfg", `{"Switch": {}}`, JSON}, {"a.cfg", "[a]\nb=1", INI},
		{"x", "{\n", JSON}, {"x", "PATH=/bin\nHOME=/root\nLS_COLORS=di=01;34:--x\n", Env}, {"run", "#!/bin/sh\npython t.py", Shell},
		{"x", "python t.py --lr 1e-3", Shell}, {"x", "lr = 1\nbatch = 2\n", Python}, {"x", "import os\nlr = 1", Python}, {"x", "a text of people", ""}, {"x", "", ""},
	} {
		if got := Detect(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s %q is %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	text := func(s string) Value { return Value{Source: s} }
	for _, c := range []struct {
		a, b Value
		want bool
	}{
		{plain("1e-3"), plain("0.001"), true}, {plain("1e-3"), text("0.001"), true}, {plain("0.001"), plain("0.0010001"), false},
		{plain("True"), plain("true"), true}, {plain("true"), plain("1"), false}, {plain("None"), plain("null"), true}, {plain("nan"), plain(".nan"), true},
		{plain("010"), plain("10"), true}, {plain("0x10"), plain("16"), true}, {plain("adam"), plain("Adam"), false}, {plain("1_000"), plain("1000"), true},
		{Value{Expr, "a * 2"}, Value{Expr, "a*2"}, true}, {plain("9007199254740993"), plain("9007199254740992"), false},
	} {
		if got := c.a.Same(c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a.Source, c.b.Source, got)
		}
	}
}

func TestDiff(t *testing.T) {
	read := func(text string, f Format) *File {
		list, err := Parse([]byte(text), f)
		if err != nil {
			t.Fatal(err)
		}
		return &File{Format: f, Entries: list}
	}
	a := read("train: {learning_rate: 0.001, batchSize: 32, seed: 1, data: /gpu/set}\nmodel: {lr: 7}\nextra: 1\n", YAML)
	b := read("python t.py --lr 1e-3 --batch-size 64 --random-seed 1 --data /npu/set --other 2", Shell)
	d := Diff(a, b, nil)
	var lines []string
	for _, p := range d.Pairs {
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%v|%v", p.A.Key, p.B.Key, p.How, p.Same, p.Paths))
	}
	got := strings.Join(lines, "\n")
	// lr is on the left twice, so that it is not known which of them --lr is.
	want := "train.batchSize|batch-size|end|false|false\ntrain.learning_rate|||false|false\nmodel.lr|||false|false\n|lr||false|false\nextra|||false|false\n|other||false|false\ntrain.data|data|end|false|true\ntrain.seed|random-seed|end|true|false"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !maps.Equal(d.Count, map[What]int{Changed: 1, Paths: 1, Same: 1, OnlyA: 3, OnlyB: 2}) || !d.Differs() {
		t.Errorf("%+v", d)
	}
	same := Diff(read(`{"lr": 0.1, "out": "x"}`, JSON), read("learning_rate = 1e-1\nout = 'y'\n", TOML), []string{"out"})
	if same.Differs() || same.Count[Same] != 1 || same.Ignored != 2 || same.Pairs[0].How != ByName {
		t.Errorf("%+v", same)
	}
}

// TestHostile: what is made to exhaust a reader ends with an error, soon.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 10), ","))
	}
	for name, c := range map[string]struct {
		text   string
		format Format
		want   string
	}{
		"aliases":   {bomb, YAML, "more than"},
		"long keys": {strings.Repeat("{"+strings.Repeat("k", 1000)+": ", 60) + "[" + strings.Repeat("1,", 2000) + "1]" + strings.Repeat("}", 60), YAML, "more than"},
		"circle":    {"a: &a\n  b: *a\n", YAML, "nested too deeply"},
		"deep":      {strings.Repeat("[", 500) + strings.Repeat("]", 500), JSON, "nested too deeply"},
		"torn":      {`{"a": [1, 2`, JSON, "line 1: unexpected E"},
		"python":    {"a = " + strings.Repeat("[", 5000), Python, "nested too deeply"},
		"toml":      {"a = \n", TOML, "line 1"},
		"shell":     {"python t.py --a 'open", Shell, "without closing quote"},
		"yaml tab":  {"a:\n\t- b", YAML, "line 2"},
		"long toml": {strings.Repeat("# a line\n", MaxSquare/8), TOML, "at most"},
		"long ini":  {strings.Repeat("; a line\n", MaxSquare/8), INI, "at most"},
	} {
		if _, err := Parse([]byte(c.text), c.format); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	dir := t.TempDir()
	if _, err := Open(dir, ""); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
	large := filepath.Join(dir, "large.json")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Truncate(large, MaxBytes+1)
	if _, err := Open(large, ""); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1", `{"a": 1}`, "a = 1", "a='''x", "python t.py --a \"b", "a=[1,{2:3}]\\", "x(y='\\", "parser.add_argument('--a', default=(1,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats() {
			done := make(chan bool, 1)
			go func() {
				Parse([]byte(text), format)
				done <- true
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s takes longer than that", format)
			}
		}
	})
}
