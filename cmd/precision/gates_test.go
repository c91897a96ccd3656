package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/testdata/workshop/soak"
)

// TestGates: whatever is lost, the same gate stops compare, a check, report and the shell, and says so in the same words; what
// is bad or has no verdict stops it, what lost little passes the plain one alone.
func TestGates(t *testing.T) {
	const ops = 160 // of which one is no more than a hundredth
	lay := func(wrong int) (npu, golden, graph string) {
		dir := t.TempDir()
		npu, golden, graph = filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), filepath.Join(dir, "graph.txt")
		if err := soak.NewComputed(ops, 904, 1, wrong, true).Write(soak.Form{}, npu, golden, graph); err != nil {
			t.Fatal(err)
		}
		return npu, golden, graph
	}
	const first = "layer5_op20" // what others take; the last one leaves the network
	last := "layer39_op159"
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name          string
		wrong         int
		damage        func(npu string)
		plain, strict int
		said          string // by the strict gate of every command
	}{
		{"whole", -1, func(string) {}, exitOK, exitOK, ""},
		{"a dump gone", -1, func(npu string) { remove(t, inTree(t, npu, "."+first+".")) }, exitOK, exitBelow, "fails: 1 of 159 expected tensors not recorded or without a verdict: layer5/op20:output:0"},
		{"a dump cut", -1, func(npu string) { clip(t, inTree(t, npu, "."+first+".")) }, exitOK, exitBelow, "fails: 1 damaged: layer5/op20:output:0"},
		{"an output of the network gone", -1, func(npu string) { remove(t, inTree(t, npu, "."+last+".")) }, exitOK, exitBelow, "outputs of the network not compared: layer39/op159:output:0"},
		{"an output of the network cut", -1, func(npu string) { clip(t, inTree(t, npu, "."+last+".")) }, exitBelow, exitBelow, "fails: the verdict is inconclusive"},
		{"most dumps gone", -1, func(npu string) {
			all, err := os.ReadDir(npu)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range all {
				if i%8 != 0 {
					remove(t, filepath.Join(npu, e.Name()))
				}
			}
		}, exitBelow, exitBelow, "fails: the verdict is inconclusive"},
		{"faulty", 70, func(string) {}, exitBelow, exitBelow, "fails: the verdict is bad"},
	} {
		npu, golden, graph := lay(c.wrong)
		c.damage(npu)
		saved := filepath.Join(t.TempDir(), "v.json")
		out := t.TempDir()
		if status, _, stderr := precision(t, "-lang", "en", "compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", out, "-json", saved); status != exitOK {
			t.Fatalf("%s: compare without a gate: status %d\n%s", c.name, status, stderr)
		}
		for _, command := range [][]string{
			{"compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", out},
			{"compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", out, "-check"},
			{"report", saved},
			{"check", npu, "-g", graph, "-out", out},
			{"-c", "vc -lt " + npu + " -rt " + golden + " -g " + graph},
		} {
			for gate, want := range map[string]int{"-gate": c.plain, "-gate=strict": c.strict} {
				args := append([]string{"-lang", "en"}, command...)
				if command[0] == "-c" {
					args[len(args)-1] += " " + gate
				} else {
					args = append(args, gate)
				}
				status, stdout, stderr := precision(t, args...)
				if status != want || gate == "-gate=strict" && !strings.Contains(stdout, c.said) {
					t.Errorf("%s: %s %s: status %d, expected %d with %q\n%s%s", c.name, command[0], gate, status, want, c.said, stdout, stderr)
				}
			}
		}
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// clip takes the last byte off a file.
func clip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, b[:len(b)-1], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
