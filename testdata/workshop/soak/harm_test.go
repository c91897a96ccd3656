//go:build unix

package soak

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// harmWith is a campaign over a program in shell, which is given -gate as $gate, the file to
// write as $json, and the number of bytes of its inputs as $size.
func harmWith(t *testing.T, script string) *Harm {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	const head = `#!/bin/sh
gate=0 json=/dev/null all=0
for a in "$@"; do
  case $last in -json) json=$a;; esac
  case $a in -gate) gate=1;; -gate=strict) gate=2;; -all) json=out/job.json;; esac
  last=$a
done
size=$(find in -type f | xargs cat | wc -c)
`
	if err := os.WriteFile(program, []byte(head+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := NewHarm(Program{Path: program, Longest: 10 * time.Second, Statuses: Statuses}, module, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What the campaign looks for is found when it is there, and a program that never says good
// passes.
func TestHarmSeesAcquittals(t *testing.T) {
	for _, x := range []struct{ name, script, says string }{
		{"always good", `echo '{"verdict":"good"}' >$json`, "passes the strict gate"},
		{"strict only", `echo '{"verdict":"good"}' >$json; [ $gate = 2 ] && exit 3; exit 0`, "it passes the gate"},
		{"verdict", `v=good; [ $((size % 2)) = 0 ] && v=bad; echo "{\"verdict\":\"$v\"}" >$json; [ $gate = 0 ] || exit 3`, "the verdict was"},
		{"never good", `echo '{"verdict":"bad"}' >$json; [ $gate = 0 ] || exit 3`, ""},
	} {
		h, seen := harmWith(t, x.script), ""
		for seed := uint64(1); seed < 40 && seen == ""; seed++ {
			trial, err := h.Damage(seed, func(name string) bool {
				return strings.HasPrefix(name, "a file cut") || strings.Contains(name, " deleted")
			}, false)
			if err != nil {
				t.Fatal(err)
			}
			if trial != nil {
				seen = trial.Acquittal
			}
		}
		if !strings.Contains(seen, x.says) || (seen == "") != (x.says == "") {
			t.Errorf("%s: found %q, expected %q", x.name, seen, x.says)
		}
	}
}

// The limits of what the plain gate may let pass.
func TestHarmLimits(t *testing.T) {
	s := &specimen{tensors: 200}
	for _, x := range []struct {
		name   string
		harm   harm
		beyond bool
	}{
		{"two of 200 damaged", harm{how: damaged, tensors: 2}, false},
		{"three damaged", harm{how: damaged, tensors: 3}, true},
		{"an output damaged", harm{how: damaged, tensors: 1, output: true}, true},
		{"half missing", harm{how: missing, tensors: 100}, false},
		{"more than half missing", harm{how: missing, tensors: 101}, true},
		{"a rank missing", harm{how: missing, tensors: 1, partner: true}, true},
	} {
		if got := x.harm.beyond(s) != ""; got != x.beyond {
			t.Errorf("%s: beyond %v", x.name, got)
		}
	}
}

func TestHarmNames(t *testing.T) {
	for _, x := range []struct {
		text, word string
		want       bool
	}{{"root op1", "op1", true}, {"root op10", "op1", false}, {"op10, op1:output", "op1", true}, {"my_op1", "op1", false}, {"a/op1.npy", "op1", true}} {
		if got := hasWord(x.text, x.word); got != x.want {
			t.Errorf("%q in %q: %v", x.word, x.text, got)
		}
	}
}

// Operators of a graph beside those of another are named; a graph of others is no such one.
func TestHarmGraphs(t *testing.T) {
	graph := func(names ...string) []byte {
		text := "name: \"m\"\ngraph {\n  name: \"g\"\n"
		for _, name := range names {
			text += "  op {\n    name: \"" + name + "\"\n    type: \"Relu\"\n  }\n"
		}
		return []byte(text + "}\n")
	}
	for _, x := range []struct {
		more []byte
		want string
	}{
		{graph("a", "lost", "b", "half"), "half lost"},
		{graph("a", "lost"), ""},
		{graph("a", "b"), ""},
		{[]byte("{"), ""},
	} {
		if got := strings.Join(further(graph("a", "b"), x.more, "g.txt"), " "); got != x.want {
			t.Errorf("%q, expected %q in\n%s", got, x.want, x.more)
		}
	}
}

// An output is counted for each of its tensors.
func TestHarmCountsTensors(t *testing.T) {
	text := []byte(`{"output": [{"type": "torch.Tensor", "data_name": "a.output.0.pt"}, {"type": "int", "value": 1}, {"type": "mindspore.Tensor"}]}`)
	top, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := tensorsIn(top.get("output"), text); n != 2 {
		t.Errorf("%d tensors", n)
	}
}

// Values of a JSON text are replaced and taken out where they are.
func TestEdit(t *testing.T) {
	text := []byte(`{"a": {"x": [1, "b,", {"y": null}], "z": true}, "c": -1e5 , "d":"e"}`)
	top, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		edits []edit
		want  string
	}{
		{[]edit{top.without(0)}, `{"c": -1e5 , "d":"e"}`},
		{[]edit{top.without(2)}, `{"a": {"x": [1, "b,", {"y": null}], "z": true}, "c": -1e5}`},
		{[]edit{top.get("a").without(0), {top.get("c").from, top.get("c").to, "2"}}, `{"a": {"z": true}, "c": 2 , "d":"e"}`},
		{[]edit{top.get("a").get("x").without(1)}, `{"a": {"x": [1, {"y": null}], "z": true}, "c": -1e5 , "d":"e"}`},
	} {
		if got := edited(text, x.edits); !bytes.Equal(got, []byte(x.want)) {
			t.Errorf("%s, expected %s", got, x.want)
		}
	}
}
