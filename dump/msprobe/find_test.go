package msprobe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/internal/plainfile"
)

// tree makes empty files.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		p := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "/") {
			if err := os.WriteFile(p, []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t, "step10/rank0/dump.json", "step2/rank10/dump.json", "step2/rank9/dump.json", "step2/rank9/stack.json", "step2/rank9/construct.json",
		"step2/rank9/dump_tensor_data/", "step2/proc77/debug.json", "step2/other/dump.json", "steps/rank0/dump.json", "graph/step0/rank0/dump.json",
		"pynative/step0/pid5/dump.json", "step3/rank0/stack.json", "step4/", "step12/rank/dump.json", "step5/rank0/dump.json/")
	show := func(path string) string {
		all, err := Find(path)
		if err != nil {
			return err.Error()
		}
		var lines []string
		for _, r := range all {
			beside := ""
			for _, p := range []string{r.Construct, r.Stack, r.Tensors} {
				if p != "" {
					beside += " " + filepath.Base(p)
				}
			}
			rel, _ := filepath.Rel(dir, r.Dump)
			lines = append(lines, fmt.Sprintf("%s%d/%d/%d %s%s", r.Mode, r.Step, r.Rank, r.Process, rel, beside))
		}
		return strings.Join(lines, "\n")
	}
	const nine = "2/9/-1 step2/rank9/dump.json construct.json stack.json dump_tensor_data"
	step2 := "2/-1/77 step2/proc77/debug.json\n" + nine + "\n2/10/-1 step2/rank10/dump.json"
	for path, want := range map[string]string{
		".":                      step2 + "\n10/0/-1 step10/rank0/dump.json\n12/-1/0 step12/rank/dump.json\ngraph0/0/-1 graph/step0/rank0/dump.json\npynative0/-1/5 pynative/step0/pid5/dump.json",
		"step2":                  step2,
		"step2/rank9":            nine,
		"step2/rank9/dump.json":  nine,
		"step2/rank9/stack.json": "2/9/-1 step2/rank9/stack.json construct.json stack.json dump_tensor_data",
	} {
		if got := show(filepath.Join(dir, path)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
	}
	if got := show(filepath.Join(dir, "step4")); !strings.Contains(got, "no recording of msprobe") {
		t.Error(got)
	}
	if _, err := Find(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestFileNames(t *testing.T) {
	r := Recording{Dir: "d", Dump: "d/dump.json", Tensors: "d/dump_tensor_data"}
	if p, err := r.File("Tensor.__add__.0.forward.input.0.pt"); err != nil || p != filepath.Join("d", "dump_tensor_data", "Tensor.__add__.0.forward.input.0.pt") {
		t.Error(p, err)
	}
	for _, name := range []string{"", "..", ".", "../x", "/etc/passwd", `a\b`, "a/b", "a\x00"} {
		if p, err := r.File(name); err == nil {
			t.Errorf("%q leads to %s", name, p)
		}
	}
	if _, err := (&Recording{Dir: "d"}).File("a.pt"); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
}

// Every recording of msprobe itself is found from its top, and all its files of
// tensors are there.
func TestFindRecordings(t *testing.T) {
	tops, _ := filepath.Glob(filepath.Join(recorded, "*", "golden"))
	if len(tops) == 0 {
		t.Skip("no recordings here")
	}
	files := 0
	for _, top := range tops {
		if strings.Contains(top, "atb_") {
			continue
		}
		all, err := Find(top)
		if err != nil {
			t.Error(err)
		}
		for _, r := range all {
			if r.Step < 0 || (r.Rank < 0) == (r.Process < 0) {
				t.Errorf("%+v", r)
			}
			s, err := Open(r.Dump)
			if err != nil {
				t.Fatal(err)
			}
			for s.Scan() {
				c, ok := s.Result().(*Call)
				if !ok {
					t.Errorf("%v", s.Result())
					continue
				}
				for _, v := range c.Values {
					if v.DataName == "" {
						continue
					}
					path, err := r.File(v.DataName)
					if err == nil && !plainfile.IsFile(path) {
						err = fs.ErrNotExist
					}
					if err != nil {
						t.Errorf("%s: %v", v.DataName, err)
					}
					files++
				}
			}
			s.Close()
		}
	}
	if files < 700 {
		t.Errorf("%d files", files)
	}
}
