package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// jobs counts what was right of jobs of several ranks: by compare, by compare -all, and by check,
// which has no golden side.
type jobs struct {
	compare, all        [2]tally // faults, and jobs that do no harm
	collectives         tally
	sound               tally // recordings of which check calls nothing wrong
	sharded             tally // slices against a run of one process
	further, furtherAll int
}

// tally is how many of a kind there are, and how many of them are right.
type tally struct{ right, of int }

func (t *tally) add(right bool) {
	if t.of++; right {
		t.right++
	}
}

// print says what was right.
func (j *jobs) print() {
	if j.compare[0].of+j.compare[1].of == 0 {
		return
	}
	fmt.Println("| jobs | right | of |\n|---|---|---|")
	for _, line := range []struct {
		text string
		tally
	}{
		{"faults whose first root is the call at fault on its rank: compare", j.compare[0]}, {"the same: compare -all", j.all[0]},
		{"harmless jobs that are good: compare", j.compare[1]}, {"the same: compare -all", j.all[1]},
		{"wrong collectives named by check", j.collectives}, {"clean recordings of which check calls nothing wrong", j.sound},
		{"jobs of slices against a run of one process: compare -all -unshard", j.sharded},
	} {
		fmt.Printf("| %s | %d | %d |\n", line.text, line.right, line.of)
	}
	fmt.Printf("further roots: compare %d, compare -all %d\n", j.further, j.furtherAll)
}

// judge runs the program on a job; line says how, and begins with ok if all is right.
func (j *jobs) judge(program, job, work string, a *answer) (line string, err error) {
	out := filepath.Join(work, "job")
	if err := os.RemoveAll(out); err != nil {
		return "", err
	}
	left, golden, table := filepath.Join(job, "left"), filepath.Join(job, "golden"), filepath.Join(out, "v.json")
	one := strings.HasPrefix(a.Model, "one") // the golden side is a run of one process
	if one && !strings.HasSuffix(a.Model, "pipeline") {
		return j.unshard(program, left, golden, filepath.Join(out, "all"), a)
	}
	var v judged
	if err := ask(table, &v, program, "compare", "-lt", left, "-rt", golden, "-out", out, "-json", table); err != nil {
		return "", err
	}
	var all struct {
		Verdict string
		Origins []struct {
			Op, Ranks string
			Through   bool
		}
	}
	if err := ask(filepath.Join(out, "all", "job.json"), &all, program, "compare", "-lt", left, "-rt", golden, "-all", "-out", filepath.Join(out, "all")); err != nil {
		return "", err
	}
	named := a.named
	harmless := strings.HasPrefix(a.Kind, "harmless")
	right, rightAll := v.Verdict == "good", all.Verdict == "good"
	rank := fmt.Sprintf("/rank%d/", a.Rank)
	// All ranks have what a collective gives, and so does a reduction that all were told.
	shared := a.Collective || len(a.Calls) > 0 && a.Calls[0] == "all_reduce"
	if !harmless {
		right, rightAll = false, false
		for i, r := range v.Roots {
			hit := named(r.Op) || r.Certainty == "region" && slices.ContainsFunc(r.Region, named)
			right = right || i == 0 && hit && (shared || strings.Contains(r.Op, rank))
			if i > 0 {
				j.further++
			}
		}
		for i, o := range all.Origins {
			rightAll = rightAll || i == 0 && named(o.Op) && (shared || o.Ranks == fmt.Sprint(a.Rank))
			if i > 0 {
				j.furtherAll++
			}
		}
	}
	kind := 0
	if harmless {
		kind = 1
	}
	j.compare[kind].add(right)
	j.all[kind].add(rightAll)
	line = "ok"
	if !right || !rightAll {
		line = "OTHER"
	}
	checked, err := j.check(program, work, left, golden, a, named)
	if err != nil {
		return "", err
	}
	if checked != "" && line == "ok" {
		line = "CHECK"
	}
	line += " compare " + v.Verdict
	for _, r := range v.Roots[:min(len(v.Roots), 3)] {
		line += " " + r.Op
	}
	line += ", -all " + all.Verdict
	for _, o := range all.Origins[:min(len(all.Origins), 3)] {
		line += " " + o.Op + " of " + o.Ranks
	}
	return line + checked, nil
}

// named tells whether an operator is a call at fault.
func (a *answer) named(op string) bool {
	parts := strings.Split(op[strings.LastIndex(op, "/")+1:], ".")
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(a.Calls, strings.TrimSuffix(p, " (right)")) })
}

// unshard judges ranks that hold slices against a run of one process.
func (j *jobs) unshard(program, left, golden, out string, a *answer) (line string, err error) {
	var all struct {
		Verdict string
		Origins []struct{ Op string }
	}
	if err := ask(filepath.Join(out, "job.json"), &all, program, "compare", "-lt", left, "-rt", golden, "-all", "-unshard", "auto", "-out", out); err != nil {
		return "", err
	}
	right := all.Verdict == "good" && len(all.Origins) == 0
	if !strings.HasPrefix(a.Kind, "harmless") {
		right = len(all.Origins) > 0 && a.named(all.Origins[0].Op)
	}
	j.sharded.add(right)
	if line = "ok"; !right {
		line = "OTHER"
	}
	line += " -all -unshard " + all.Verdict
	for _, o := range all.Origins[:min(len(all.Origins), 3)] {
		line += " " + o.Op
	}
	return line, nil
}

// check looks at a job without its golden side: nothing of the golden run is wrong, and of a wrong
// collective it is.
func (j *jobs) check(program, work, left, golden string, a *answer, named func(string) bool) (said string, err error) {
	for _, side := range []string{golden, left} {
		var found struct {
			Operators []struct {
				Op      string
				Outputs []struct{ Verdict string }
			}
		}
		out := filepath.Join(work, "check.json")
		if err := ask(out, &found, program, "check", side, "-out", work, "-json", out); err != nil {
			return "", err
		}
		var wrong []string
		for _, o := range found.Operators {
			for _, x := range o.Outputs {
				if x.Verdict == "wrong" {
					wrong = append(wrong, o.Op)
				}
			}
		}
		if side == golden {
			if j.sound.add(len(wrong) == 0); len(wrong) > 0 {
				said += fmt.Sprintf(", check calls %d wrong in the golden run, as %s", len(wrong), wrong[0])
			}
		} else if a.Collective {
			is := slices.ContainsFunc(wrong, named) && !slices.ContainsFunc(wrong, func(op string) bool { return !named(op) })
			if j.collectives.add(is); !is {
				said += fmt.Sprintf(", check names %v", wrong[:min(len(wrong), 3)])
			}
		}
	}
	return said, nil
}

// ask runs the program and reads the JSON that it leaves.
func ask(path string, into any, program string, args ...string) error {
	os.Remove(path)
	text, failed := exec.Command(program, args...).CombinedOutput() // it also fails where nothing could be judged
	if err := load(path, into); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(failed, err), text)
	}
	return nil
}
