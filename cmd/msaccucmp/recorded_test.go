package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"precision/testdata/workshop/recorded"
)

// Every recorded run of the old tool must give the same exit code, the same
// files and the same cells, or be declared as a difference.
func TestRecorded(t *testing.T) {
	cases, err := recorded.Load("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	declared, err := recorded.Differences("../../testdata/differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			base, work := t.TempDir(), ""
			for i, r := range c.Runs {
				if work == "" || !r.Continue {
					work = filepath.Join(base, string(rune('a'+i)))
					if err := c.Copy(work); err != nil {
						t.Fatal(err)
					}
				}
				name := c.Name + "/" + r.ID
				log, problem := replay(t, c, r, work)
				switch {
				case declared[name] != "":
					used[name] = true
					if problem == nil {
						t.Errorf("%s is declared as a difference but agrees", name)
					}
				case problem != nil:
					t.Errorf("%s: %v\n%s", r.ID, problem, log)
				}
			}
		})
	}
	for name := range declared {
		if !used[name] && !t.Failed() {
			t.Errorf("differences.txt names %s, which is no recorded run", name)
		}
	}
}

// replay runs a recorded command in work and compares what it leaves behind.
func replay(t *testing.T, c *recorded.Case, r recorded.Run, work string) (log string, problem error) {
	t.Helper()
	want, err := c.Expected(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	before, err := recorded.Tree(".")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), &stdout, &stderr, r.Args)
	after, err := recorded.Tree(".")
	if err != nil {
		t.Fatal(err)
	}
	return stderr.String(), want.Check(code, before, after, work)
}
