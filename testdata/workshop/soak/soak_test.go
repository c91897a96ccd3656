package soak

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A seed makes the same damage every time, and there is damage.
func TestMutateIsReplayed(t *testing.T) {
	content := []byte(strings.Repeat("op { name: \"a\" dim: 12 }\n", 40))
	kinds := map[string]bool{}
	for seed := range uint64(500) {
		a, how := Mutate(rand.New(rand.NewPCG(seed, 0)), content)
		b, _ := Mutate(rand.New(rand.NewPCG(seed, 0)), content)
		kinds[how] = true
		if !bytes.Equal(a, b) || bytes.Equal(a, content) {
			t.Fatalf("seed %d (%s): not replayed, or nothing was done", seed, how)
		}
	}
	if len(kinds) != len(mutations) {
		t.Errorf("only %v were done", kinds)
	}
	if out, _ := Mutate(rand.New(rand.NewPCG(1, 0)), nil); len(out) == 0 {
		t.Error("an empty file stays empty")
	}
}

// What campaigns look for is found when it is there.
func TestTablesSeesDamage(t *testing.T) {
	const whole = "Index,A\r\n0,1\r\n"
	for name, c := range map[string]struct {
		file, text string
		orphans    bool
		fails      bool
	}{
		"whole":       {"result.csv", whole, false, false},
		"cut":         {"result.csv", whole[:len(whole)-4], false, true},
		"short row":   {"result.csv", whole + "1\r\n", false, true},
		"no titles":   {"result.csv", "0,1\r\n", false, true},
		"orphan":      {".precision-1.tmp", "", false, true},
		"orphan, yet": {".precision-1.tmp", "", true, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tables(dir, c.orphans); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program whose answer depends on what it must not depend on does not pass.
func TestMetamorphicSeesDifferences(t *testing.T) {
	for _, wrong := range []string{"", "-workers 7", "graph.json", "model.om", "sliced_operators", "设备", "ba"} {
		run := func(args ...string) (int, string, string) {
			if args[0] != "compare" {
				return 0, "", ""
			}
			all := strings.Join(args, " ")
			value := "0.5"
			if wrong != "" && strings.Contains(all, wrong) {
				value = "0.6"
			}
			out := args[6]
			if err := os.MkdirAll(out, 0o700); err != nil {
				return 1, "", err.Error()
			}
			text := "Index," + strings.Join(even, ",") + "\n"
			for i := range 20 {
				text += fmt.Sprintf("%d,%s,%s,%s,%s\n", i, value, value, value, value)
			}
			os.WriteFile(filepath.Join(out, "result.csv"), []byte(text), 0o600)
			return 0, "Verdict\n", ""
		}
		err := Metamorphic(run, 1, t.TempDir())
		if expected := wrong != ""; (err != nil) != expected {
			t.Errorf("a program that minds %q: %v", wrong, err)
		}
	}
	failing := func(...string) (int, string, string) { return 1, "", errors.New("no").Error() }
	if err := Metamorphic(failing, 1, t.TempDir()); err == nil {
		t.Error("a program that fails passes")
	}
}
