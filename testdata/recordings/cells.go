package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cell tells of the name of a root in a pair of cells.py whether it is the module at fault, a call in it
// that stands for the fault, or the parameter that is wrong. Of two levels of one recording either may be first.
func cell(pair string, a *answer) (func(name string) bool, error) {
	parents := map[bool]map[string]string{} // of the left side, and of calls that the right side alone has
	if a.Recorder != "dump" {
		for only, side := range map[bool]string{false: "left", true: "golden"} {
			var err error
			if _, parents[only], err = calls(filepath.Join(pair, side), 0); err != nil {
				return nil, err
			}
		}
	}
	// layers.1.ln2 is _layers-CellList_1-Layer_ln2-LayerNorm_ in the names of kernels.
	kernel := regexp.MustCompile(`_` + strings.ReplaceAll(regexp.QuoteMeta(a.Module), `\.`, `-\w+_`) + `-([A-Za-z0-9]+)_`)
	// What layers share is named after the first of them.
	shared := regexp.MustCompile(strings.ReplaceAll(kernel.String(), `\w+_1-`, `\w+_\d+-`))
	alone := func(name string) bool {
		sides := 0
		for _, side := range []string{"left", "golden"} {
			if files, err := filepath.Glob(filepath.Join(pair, side, "rank_*", "*", "*", "*", "*."+name+".*")); err == nil && len(files) > 0 {
				sides++
			}
		}
		return sides == 1
	}
	var own []string
	if a.Recorder == "dump" {
		var err error
		if own, err = firstOwn(pair); err != nil {
			return nil, err
		}
	}
	module := regexp.MustCompile(`^(Cell|Module)\.` + regexp.QuoteMeta(a.Module) + `\.\w+\.(forward|backward|parameters_grad)\.`)
	return func(name string) bool {
		name = name[strings.LastIndex(name, "/")+1:] // without the step and rank
		if a.Recorder == "dump" {
			if strings.HasPrefix(name, "Gradients_") {
				return false
			}
			name, only := strings.CutSuffix(name, " (right)")
			known := slices.ContainsFunc(a.Calls, func(call string) bool { return strings.Contains(strings.ToLower(name), "_"+strings.ToLower(call)) })
			if strings.HasPrefix(name, "Expand_") {
				return known // made by a pass that names no module
			}
			if known && (only || slices.Contains(own, name)) {
				return true // what only one side makes, in whatever module the compiler put it
			}
			if in := kernel.FindStringSubmatch(name); in != nil && slices.Contains(a.Calls, in[1]) {
				return true // a part of an activation, say
			}
			return known && (kernel.MatchString(name) || shared.MatchString(name) && alone(name)) || strings.ReplaceAll(a.Module, ".", "_")+"_weight" == name
		}
		name, only := strings.CutSuffix(name, " (right)")
		if module.MatchString(name) && !strings.Contains(name, ".backward.") {
			return true
		}
		if a.Level == "L0" && strings.HasPrefix(name, "Cell."+a.Module+".") && !strings.Contains(name, ".backward.") {
			return true // what is inside comes first
		}
		parts := strings.Split(name, ".")
		if len(parts) < 3 || parts[len(parts)-1] == "backward" || !slices.ContainsFunc(a.Calls, func(call string) bool { return slices.Contains(parts[1:], call) }) {
			return false
		}
		if a.Level == "L1" {
			return true // nothing tells modules
		}
		for steps := 0; name != "" && steps < 100; steps++ {
			if module.MatchString(name) {
				return true
			}
			name = cmp.Or(parents[only][name], parents[true][name]) // a call of the right side alone need not be marked
		}
		return false
	}, nil
}

// firstOwn are the first kernels of either side, in their order, that give what the other side has nowhere, and the first
// that gives something else on the two sides.
func firstOwn(pair string) (names []string, err error) {
	type file struct {
		name string
		slot string // output.0 and what follows
		time uint64
		sum  [sha256.Size]byte
	}
	var sides [2][]file
	for i, side := range []string{"left", "golden"} {
		found, err := filepath.Glob(filepath.Join(pair, side, "rank_*", "*", "*", "*", "*.output.*.npy"))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			parts := strings.Split(filepath.Base(path), ".") // type, name, task, stream, time
			if len(parts) < 5 || parts[0] == "Parameter" || strings.HasPrefix(parts[1], "Gradients_") {
				continue
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			time, err := strconv.ParseUint(parts[4], 10, 64)
			if err != nil {
				return nil, err
			}
			sides[i] = append(sides[i], file{parts[1], strings.Join(parts[5:], "."), time, sha256.Sum256(b)})
		}
		slices.SortFunc(sides[i], func(a, b file) int { return cmp.Compare(a.time, b.time) })
	}
	for i, side := range sides {
		if at := slices.IndexFunc(side, func(f file) bool {
			return !slices.ContainsFunc(sides[1-i], func(o file) bool { return o.sum == f.sum })
		}); at >= 0 {
			names = append(names, side[at].name)
		}
	}
	given := map[[2]string][sha256.Size]byte{}
	for _, f := range sides[1] {
		given[[2]string{f.name, f.slot}] = f.sum
	}
	if at := slices.IndexFunc(sides[0], func(f file) bool { sum, both := given[[2]string{f.name, f.slot}]; return both && sum != f.sum }); at >= 0 {
		names = append(names, sides[0][at].name)
	}
	return names, nil
}

// recorded are the tensors of a dump.json wherever they stand: how many elements, and statistics.
type recorded struct {
	elements int64
	stats    [3]float64 // Max, Min and Norm
}

// like tells tensors that may be the same, but for rounding.
func (r *recorded) like(o *recorded) bool {
	for i, v := range r.stats {
		if d := math.Abs(v - o.stats[i]); !(d <= 1e-3*max(math.Abs(r.stats[0]), math.Abs(r.stats[1]))) {
			return false
		}
	}
	return r.elements == o.elements
}

func tensors(dir string) (list []*recorded, err error) {
	all, _, err := calls(dir, 0)
	if err != nil {
		return nil, err
	}
	var down func(v any)
	down = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				down(x)
			}
		case map[string]any:
			shape, ok := v["shape"].([]any)
			r := recorded{elements: 1}
			for _, d := range shape {
				n, _ := d.(float64)
				r.elements *= int64(n)
			}
			for i, key := range []string{"Max", "Min", "Norm"} {
				f, isNumber := v[key].(float64)
				r.stats[i], ok = f, ok && isNumber
			}
			if ok && r.stats[0] != r.stats[1] {
				list = append(list, &r)
				return
			}
			for _, x := range v {
				down(x)
			}
		}
	}
	last := len(all) // behind the gradients an optimizer works, in each framework in its own way
	for i, c := range all {
		if strings.HasSuffix(c.name, ".backward") || strings.Contains(c.name, ".backward.") || strings.Contains(c.name, ".parameters_grad.") {
			last = i + 1
		}
	}
	for _, c := range all[:last] {
		var v any
		if err := json.Unmarshal(c.all, &v); err != nil {
			return nil, err
		}
		down(v)
	}
	return list, nil
}

// align counts of a migration that changes nothing the tensors of the golden side that are also
// on the left, and those that the table holds against it.
func (s *score) align(pair, tables string) (line string, err error) {
	left, err := tensors(filepath.Join(pair, "left"))
	if err != nil {
		return "", err
	}
	golden, err := tensors(filepath.Join(pair, "golden"))
	if err != nil {
		return "", err
	}
	have := 0
	for _, g := range golden {
		if slices.ContainsFunc(left, g.like) {
			have++
		}
	}
	found, err := filepath.Glob(filepath.Join(tables, "result_*.csv"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s: found %d tables, expected one", tables, len(found))
	}
	f, err := os.Open(found[0])
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if err != nil || len(rows) == 0 {
		return "", fmt.Errorf("%s: no table: %w", found[0], err)
	}
	held := 0
	for _, row := range rows[1:] {
		var a, b recorded
		a.elements, b.elements = 1, 1
		for i, name := range []string{"Max", "Min", "Norm"} {
			a.stats[i] = number(row, rows[0], "Left"+name)
			b.stats[i] = number(row, rows[0], "Right"+name)
		}
		if b.stats[0] != b.stats[1] && b.like(&a) {
			held++
		}
	}
	s.partners, s.held = s.partners+have, s.held+min(held, have)
	return fmt.Sprintf("%d of %d tensors aligned", held, have), nil
}

func number(row, header []string, name string) float64 {
	if i := slices.Index(header, name); i >= 0 && i < len(row) {
		if v, err := strconv.ParseFloat(row[i], 64); err == nil {
			return v
		}
	}
	return math.NaN()
}
