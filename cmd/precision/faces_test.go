package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/internal/build"
)

// TestFacesAgree: whatever is wrong with a network, the summary, the shell, JSON,
// SARIF, JUnit and the exit status say the same of it.
func TestFacesAgree(t *testing.T) {
	seen := map[string]int{}
	from, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	graphFile, err := filepath.Abs(sampleGraph)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 11))
		dir := t.TempDir()
		data := filepath.Join(dir, "precision_data")
		dumps, golden := filepath.Join(data, "npu", "debug_0", "dump"), filepath.Join(data, "tf", "dump")
		graphs := filepath.Join(data, "npu", "debug_0", "graph")
		copyTree(t, from+"/npu", dumps)
		copyTree(t, from+"/golden", golden)
		text, err := os.ReadFile(graphFile)
		if err == nil {
			err = os.MkdirAll(graphs, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(graphs, filepath.Base(graphFile)), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		what := spoil(t, rng, golden)

		file := func(name string) string { return filepath.Join(dir, name) }
		code, summary, stderr := precision(t, "compare", "-lt", dumps, "-rt", golden, "-g", filepath.Join(graphs, filepath.Base(graphFile)),
			"-out", dir, "-json", file("v.json"), "-sarif", file("v.sarif"), "-junit", file("v.xml"), "-gate")
		var batch, shell printed
		readJSON(t, file("v.json"), &batch)
		var out, errs bytes.Buffer
		t.Chdir(dir)
		if c := execute(context.Background(), env{stdout: &out, stderr: &errs}, []string{"vc"}); c != exitOK && c != exitNoMatch {
			t.Fatalf("seed %d, %s: vc ends with %d: %s", seed, what, c, &errs)
		}
		tables, _ := filepath.Glob(filepath.Join(data, "temp", "vector_compare", "*", "result_*.json"))
		if len(tables) != 1 {
			t.Fatalf("seed %d: vc left %q\n%s%s", seed, tables, &out, &errs)
		}
		readJSON(t, tables[0], &shell)

		if batch.text() != shell.text() {
			t.Errorf("seed %d, %s: compare says\n%s, vc says\n%s", seed, what, batch.text(), shell.text())
		}
		if fails := batch.Verdict == "bad" || batch.Verdict == "inconclusive"; fails != (code == exitBelow) {
			t.Errorf("seed %d, %s: %s ends with %d: %s", seed, what, batch.Verdict, code, stderr)
		}
		for name, text := range map[string]string{"the summary": summary, "vc": out.String()} {
			if !strings.Contains(text, batch.Verdict) {
				t.Errorf("seed %d, %s: %s does not say %s:\n%s", seed, what, name, batch.Verdict, text)
			}
			for _, r := range batch.Roots[:min(len(batch.Roots), 3)] {
				if !strings.Contains(text, r.Op) {
					t.Errorf("seed %d, %s: %s does not name %s:\n%s", seed, what, name, r.Op, text)
				}
			}
		}
		var sarif struct {
			Runs []struct {
				Tool    struct{ Driver struct{ Version string } }
				Results []any
			}
		}
		readJSON(t, file("v.sarif"), &sarif)
		if n := len(sarif.Runs[0].Results); n != len(batch.Roots) {
			t.Errorf("seed %d, %s: SARIF has %d results, there are %d roots", seed, what, n, len(batch.Roots))
		}
		if got := sarif.Runs[0].Tool.Driver.Version; got != build.Name() {
			t.Errorf("seed %d, %s: SARIF is of version %q, this is %q", seed, what, got, build.Name())
		}
		xml, err := os.ReadFile(file("v.xml"))
		if err != nil || bytes.Contains(xml, []byte("<failure")) != (code == exitBelow) {
			t.Errorf("seed %d, %s: JUnit and the exit status %d differ: %v\n%s", seed, what, code, err, xml)
		}
		seen[batch.Verdict]++
	}
	if seen["bad"] == 0 || seen["inconclusive"] == 0 {
		t.Errorf("the verdicts were %v, expected some bad and some inconclusive ones", seen)
	}
}

// printed is what a JSON file says of a network.
type printed struct {
	Verdict string
	Roots   []struct {
		Op, Certainty string
		Region        []string
		Causes        []struct{ Kind string }
	}
	Operators []struct{ Op, State string }
}

func (s *printed) text() string {
	return fmt.Sprintf("%s, roots %v, operators %v", s.Verdict, s.Roots, s.Operators)
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// spoil changes some golden arrays: scaled, with a NaN, zero, or gone.
func spoil(t *testing.T, rng *rand.Rand, golden string) string {
	t.Helper()
	files, err := filepath.Glob(golden + "/*.npy")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden arrays", err)
	}
	slices.Sort(files)
	var what []string
	if rng.IntN(4) == 0 { // most of them
		for _, f := range files {
			if rng.IntN(5) > 0 {
				os.Remove(f)
			}
		}
		return "most arrays are gone"
	}
	for range 1 + rng.IntN(3) {
		f := files[rng.IntN(len(files))]
		text, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(text[:80], []byte("'<f4'")) {
			continue
		}
		values := text[10+int(binary.LittleEndian.Uint16(text[8:])):]
		each := func(change func(i int, v float32) float32) {
			for i := 0; i+4 <= len(values); i += 4 {
				v := math.Float32frombits(binary.LittleEndian.Uint32(values[i:]))
				binary.LittleEndian.PutUint32(values[i:], math.Float32bits(change(i/4, v)))
			}
		}
		kind := []string{"times 4", "a NaN", "zero", "gone", "another element"}[rng.IntN(5)]
		switch kind {
		case "times 4":
			each(func(_ int, v float32) float32 { return 4 * v })
		case "a NaN":
			each(func(i int, v float32) float32 {
				if i == 0 {
					return float32(math.NaN())
				}
				return v
			})
		case "zero":
			each(func(int, float32) float32 { return 0 })
		case "another element":
			each(func(i int, v float32) float32 {
				if i == 0 {
					return v + 100
				}
				return v
			})
		}
		what = append(what, kind+" in "+filepath.Base(f))
		if kind == "gone" {
			err = os.Remove(f)
		} else {
			err = os.WriteFile(f, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(what, ", ")
}

// TestBaseline: an error that grew since the baseline fails the gate and is named,
// and the command line that accepts it is printed.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	golden := filepath.Join(dir, "golden of today")
	copyTree(t, sample+"/golden", golden)
	old := filepath.Join(dir, "old.json")
	args := []string{"compare", "-lt", sample + "/npu", "-rt", golden, "-g", sampleGraph, "-out", dir}
	if code, _, stderr := precision(t, append(args, "-json", old, "-gate")...); code != exitBelow {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	// What was wrong before may stay so.
	if code, out, stderr := precision(t, append(args, "-baseline", old, "-gate")...); code != exitOK || strings.Contains(out, "Renew") {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	files, _ := filepath.Glob(golden + "/pool1.0.*.npy")
	if len(files) != 1 {
		t.Fatal(files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) - 64; i < len(text); i += 4 {
		binary.LittleEndian.PutUint32(text[i:], math.Float32bits(50))
	}
	if err := os.WriteFile(files[0], text, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := precision(t, append(args, "-baseline", old, "-gate")...)
	want := "precision compare -lt " + sample + "/npu -rt '" + golden + "' -g " + sampleGraph + " -json " + old
	if code != exitBelow || !strings.Contains(out, "pool1") || !strings.Contains(out, want) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
