package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"precision/internal/must"
	"slices"
	"strings"
)

// clean checks recordings with nothing wrong (clean.py or another script makes them) and prints how many of their
// outputs are judged, and how: nothing in them is wrong.
func clean(python, script, in string, seed int, only, program string, verbose bool) (err error) {
	defer must.Catch(&err)
	work := must.Get(os.MkdirTemp("", "recordings"))
	defer os.RemoveAll(work)
	if program == "" {
		program = must.Get(build(work))
	}
	if in == "" {
		must.Not(python == "", "which Python records? -python PYTHON, or -in DIR with what was recorded")
		in = filepath.Join(work, "clean")
		if script == "record.py" {
			script = "clean.py"
		}
		record := exec.Command(python, filepath.Join("testdata/recordings", script), in, "--seed", fmt.Sprint(seed), "--only", only)
		record.Stdout, record.Stderr = os.Stderr, os.Stderr
		must.Do(record.Run())
	}
	entries := must.Get(os.ReadDir(in))
	of := map[string]*outputs{}
	all := &outputs{}
	for _, e := range entries {
		if !e.IsDir() || !strings.Contains(e.Name(), only) {
			continue
		}
		one, accused, err := checked(program, filepath.Join(in, e.Name()), work)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		how := e.Name()[strings.LastIndex(e.Name(), "-")+1:]
		if strings.HasSuffix(e.Name(), "2-mix-fp32") || strings.HasSuffix(e.Name(), "2-L1-fp32") {
			how = "two ranks"
		}
		if of[how] == nil {
			of[how] = &outputs{}
		}
		of[how].add(one)
		all.add(one)
		if verbose || one.wrong > 0 {
			fmt.Printf("%-40s %v %s\n", e.Name(), *one, strings.Join(accused, ", "))
		}
	}
	must.Not(all.recordings == 0, "%s: no recordings", in)
	fmt.Println("| kind | recordings | outputs | judged | suspect | unknown | wrong |\n|---|---|---|---|---|---|---|")
	for _, how := range slices.Sorted(maps.Keys(of)) {
		fmt.Println(of[how].row(how))
	}
	fmt.Println(all.row("**all**"))
	must.Not(all.wrong > 0, "%d outputs of recordings with nothing wrong are called wrong", all.wrong)
	return nil
}

// outputs counts what check says of outputs.
type outputs struct{ recordings, ok, suspect, unknown, wrong int }

func (n *outputs) add(m *outputs) {
	n.recordings += m.recordings
	n.ok += m.ok
	n.suspect += m.suspect
	n.unknown += m.unknown
	n.wrong += m.wrong
}

func (n *outputs) row(title string) string {
	judged := n.ok + n.suspect + n.wrong
	return fmt.Sprintf("| %s | %d | %d | %.1f %% | %d | %d | %d |", title, n.recordings, judged+n.unknown, 100*float64(judged)/float64(max(judged+n.unknown, 1)), n.suspect, n.unknown, n.wrong)
}

// checked runs check on a recording; accused are what it calls wrong.
func checked(program, dir, work string) (n *outputs, accused []string, err error) {
	path := filepath.Join(work, "c.json")
	os.Remove(path)
	// Its status is 2 where nothing could be judged, which the counts show.
	text, err := exec.Command(program, "check", dir, "-out", work, "-json", path).CombinedOutput()
	var status *exec.ExitError
	if err != nil && !(errors.As(err, &status) && status.ExitCode() == 2) {
		return nil, nil, fmt.Errorf("%w: %s", err, text)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var v struct {
		Operators []struct {
			Op      string
			Outputs []struct{ Verdict string }
		}
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, nil, err
	}
	n = &outputs{recordings: 1}
	for _, op := range v.Operators {
		for _, o := range op.Outputs {
			switch o.Verdict {
			case "ok":
				n.ok++
			case "suspect":
				n.suspect++
			case "wrong":
				n.wrong++
				accused = append(accused, op.Op)
			default:
				n.unknown++
			}
		}
	}
	return n, accused, nil
}
