package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"precision/internal/must"
	"slices"
	"strings"
)

// gates are those that a judgement is run with.
var gates = []string{"", "-gate", "-gate=strict"}

// outcome is what came of a judgement, with each gate.
type outcome struct {
	// statuses are the exit statuses without a gate, with it, and with the strict one.
	statuses []int
	// verdict is good, suspect, bad or inconclusive; "" where the command gave none.
	verdict string
	// lines are what was printed, but for those that say where the result is.
	lines map[string]bool
	text  string
	// named are the names of what the JSON says was lost, damaged or is not good.
	named []string
	// judged are the operators with an output that was judged.
	judged map[string]bool
	// expected and compared are the tensors that its coverage counts, 0 where it has none.
	expected, compared int
	tables             string // the folder of csv files
}

func (o *outcome) String() string {
	verdict := o.verdict
	if verdict == "" {
		verdict = "no verdict"
	}
	return fmt.Sprintf("%s, exit statuses %d, -gate %d, -gate=strict %d", verdict, o.statuses[0], o.statuses[1], o.statuses[2])
}

// rank is the place of a verdict in the order good, suspect, bad; the others have none.
func rank(verdict string) int { return slices.Index([]string{"good", "suspect", "bad"}, verdict) }

// judge runs a judgement in a folder that has its inputs in "in". Command lines are told for
// who wants to see it again.
func (h *Harm) judge(dir string, j *judgement) (_ *outcome, err error) {
	defer must.Catch(&err)
	p := h.Program
	p.Dir = dir
	p.Env = append(slices.Clone(p.Env), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "NO_COLOR=1", "TERM=dumb")
	o := &outcome{lines: map[string]bool{}, judged: map[string]bool{}}
	out := filepath.Join(dir, "out")
	o.tables = out
	var text strings.Builder
	for _, gate := range gates {
		must.Do(os.RemoveAll(out))
		must.Do(os.MkdirAll(out, 0o700))
		stopped := -1
		for _, args := range j.before {
			e := must.Get(p.run(0, args...))
			text.WriteString(e.stdout + e.stderr)
			if e.code != 0 {
				stopped = e.code
			}
		}
		if stopped >= 0 {
			o.statuses = append(o.statuses, stopped)
			continue
		}
		args := slices.Clone(j.args)
		if gate != "" {
			args = append(args, gate)
		}
		e := must.Get(p.run(0, args...))
		text.WriteString(e.stdout + e.stderr)
		o.statuses = append(o.statuses, e.code)
		if gate == "" {
			must.Do(o.read(out))
		}
	}
	o.text = text.String()
	for line := range strings.Lines(o.text) {
		o.lines[strings.TrimSpace(line)] = true
	}
	return o, nil
}

// read takes the verdict and the names from the JSON in a folder, if there is one.
func (o *outcome) read(out string) error {
	for _, name := range []string{"v.json", "job.json"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		o.verdict, _ = doc["verdict"].(string)
		if counts, ok := doc["counts"].(map[string]any); ok && o.verdict == "" && strings.Contains(fmt.Sprint(doc["schema"]), "check") {
			has := func(key string) bool { n, _ := counts[key].(float64); return n > 0 }
			switch {
			case has("wrong"):
				o.verdict = "bad"
			case has("suspect"):
				o.verdict = "suspect"
			case has("ok"):
				o.verdict = "good"
			default:
				o.verdict = "inconclusive"
			}
		}
		if c, ok := doc["coverage"].(map[string]any); ok {
			number := func(key string) int { n, _ := c[key].(float64); return int(n) }
			o.expected, o.compared = number("expected"), number("compared")+number("judged")
		}
		names := map[string]bool{}
		lostNames(doc, "", names)
		o.named = slices.Sorted(maps.Keys(names))
		ops, _ := doc["operators"].([]any)
		for _, op := range ops {
			op, _ := op.(map[string]any)
			outputs, _ := op["outputs"].([]any)
			for _, out := range outputs {
				out, _ := out.(map[string]any)
				if v, _ := out["verdict"].(string); v == "good" || v == "ok" || rank(v) > 0 || v == "wrong" || v == "inherited" {
					o.judged[fmt.Sprint(op["op"])] = true
				}
			}
		}
	}
	return nil
}

// lists are the keys of what a JSON says was lost.
var lists = []string{"damaged", "alone", "premises", "missing", "uncompared", "lost", "args"}

// lostNames collects from the JSON of a command the names of what it says was lost: all
// strings of the lists that say so, and what has a state or verdict that is not good.
func lostNames(v any, key string, names map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			lostNames(x, key, names)
		}
	case string:
		if slices.Contains(lists, key) {
			names[v] = true
		}
	case map[string]any:
		if key == "table" || key == "profile" {
			return
		}
		inherit := ""
		if slices.Contains(lists, key) {
			inherit = key
			if rank, ok := v["rank"]; ok {
				names[fmt.Sprintf("rank%v", rank)] = true
			}
			if step, ok := v["step"]; ok {
				names[fmt.Sprintf("step%v", step)] = true
			}
		}
		// The report keeps a table of its own, which tells nobody anything.
		for k, x := range v {
			at := k
			if inherit != "" {
				at = inherit
			}
			if k == "table" && inherit == "" {
				if _, object := x.(map[string]any); object {
					continue
				}
			}
			lostNames(x, at, names)
		}
		good := true
		for _, k := range []string{"state", "verdict"} {
			if s, ok := v[k].(string); ok && s != "good" && s != "ok" {
				good = false
			}
		}
		for _, k := range []string{"outputs", "inputs"} {
			list, _ := v[k].([]any)
			for _, x := range list {
				if x, ok := x.(map[string]any); ok && !slices.Contains([]any{"good", "ok", nil}, x["verdict"]) {
					good = false
				}
			}
		}
		if !good {
			for _, k := range []string{"op", "name", "left", "right", "file"} {
				if s, ok := v[k].(string); ok {
					names[s] = true
				}
			}
			framework, _ := v["framework_ops"].([]any)
			for _, s := range framework {
				names[fmt.Sprint(s)] = true
			}
		}
	}
}

// mentions tells whether one of the words is among the names, or in a line that the undamaged
// run did not print. Names of files have _ where operators have /.
func (o *outcome) mentions(wordings []string, whole *outcome) bool {
	has := func(text string) bool {
		return slices.ContainsFunc(wordings, func(w string) bool { return hasWord(text, w) || hasWord(flat(text), flat(w)) })
	}
	if slices.ContainsFunc(o.named, has) {
		return true
	}
	for line := range o.lines {
		if !whole.lines[line] && has(line) {
			return true
		}
	}
	return false
}

// hasWord tells whether a text has a word that is not the part of a longer one.
func hasWord(text, word string) bool {
	letter := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		c := text[i]
		return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		if from := at + i; !letter(from-1) && !letter(from+len(word)) {
			return true
		}
		at += i + 1
	}
}
