package repl

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/console"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/repl/array"
	"precision/repl/workspace"
)

// cpCmd is the command cp: it compares two tensors element by element.
type cpCmd struct {
	name       string
	by         [2]string // the scales of each side, or none
	rows       int
	save       bool
	atol, rtol float64
}

var cpCommand = &command{
	name:  "cp",
	named: true,
	takes: 2,
	make:  func(s *session) action { return &cpCmd{rows: s.set.Rows, atol: s.set.Atol, rtol: s.set.Rtol} },
}

func (c *cpCmd) define(o *options) {
	o.text(&c.name, "n", "name", tensors)
	o.text(&c.by[0], "lb", "left-by", tensors)
	o.text(&c.by[1], "rb", "right-by", tensors)
	o.count(&c.rows, "p", "print")
	o.on(&c.save, "s", "save")
	o.number(&c.atol, "al", "atol")
	o.number(&c.rtol, "rl", "rtol")
}

func (c *cpCmd) run(ctx context.Context, s *session, words []string) int {
	if c.name != "" {
		words = append([]string{c.name}, words...)
	}
	if len(words) != 2 {
		return s.Fail("cp.two", len(words), cpCommand.usage(s.Lang))
	}
	var sides [2]*array.Array
	for i, name := range words {
		a, code := s.oneTensor(name)
		if a == nil {
			return code
		}
		if a, code = s.times(a, c.by[i]); a == nil {
			return code
		}
		defer a.Close()
		sides[i] = a
	}
	left, right := sides[0], sides[1]
	for _, p := range [][2]*array.Array{{left, right}, {right, left}} {
		if to, ok := p[0].Restore(p[1].Shape); ok {
			s.Info("cp.restored", p[0].Name, p[0].Format, to, nd.Tuple(p[0].Shape))
			break
		}
	}
	if !slices.Equal(left.Shape, right.Shape) {
		s.Warn("cp.shape", nd.Tuple(left.Shape), nd.Tuple(right.Shape))
	}
	if left.Len() != right.Len() {
		s.Warn("cp.length", left.Len(), right.Len())
	}
	watching, done := s.watch(ctx, "cp", left, right)
	d, err := array.Compare(watching, left, right, array.Options{Atol: c.atol, Rtol: c.rtol, Rows: c.rows, Workers: s.set.Workers})
	done()
	must.Do(err)
	var out strings.Builder
	out.WriteString(s.Screen.Columns(
		s.pairs(left, right, s.T("cp.errors"), d.Errors), s.pairs(left, right, s.T("cp.top"), d.First)))
	out.WriteString(s.Screen.Panel("", c.summary(ctx, s, left, right, d)))
	s.Page(out.String())
	return exitOK
}

// times is a tensor of numbers in steps times its scales, the tensor of a name; itself if there is no name.
func (s *session) times(a *array.Array, by string) (*array.Array, int) {
	if by == "" {
		return a, exitOK
	}
	scales, code := s.oneTensor(by)
	if scales == nil {
		a.Close()
		return nil, code
	}
	defer scales.Close()
	made, err := array.Scaled(a, scales)
	if err != nil {
		a.Close()
		return nil, s.Fail("error", err)
	}
	return made, exitOK
}

// oneTensor opens the first tensor of a name, and says which if there are several.
func (s *session) oneTensor(name string) (*array.Array, int) {
	refs := s.findTensors(name)
	if len(refs) == 0 {
		return nil, s.unknown("tensor.none", name)
	}
	if len(refs) > 1 {
		var names []string
		for i := range refs[:min(5, len(refs))] {
			name := refs[i].Name()
			if slices.ContainsFunc(refs, func(r workspace.TensorRef) bool { return r.Path != refs[i].Path && r.Name() == name }) {
				name = filepath.Join(filepath.Dir(refs[i].Path), name)
			}
			names = append(names, name)
		}
		s.Info("cp.several", len(refs), name, strings.Join(names, s.T("report.and")))
	}
	list, bad := refs[0].Open()
	for _, err := range bad {
		s.Fail("error", err)
	}
	if len(list) == 0 {
		return nil, exitError
	}
	if len(list) > 1 { // a dump: its first output
		var names []string
		first := 0
		for i, a := range list {
			if names = append(names, a.Name); strings.Contains(a.Name, ".output.") && !strings.Contains(list[first].Name, ".output.") {
				first = i
			}
		}
		for i, a := range list {
			if i != first {
				a.Close()
			}
		}
		s.Info("cp.dump", name, names[first], strings.Join(names, s.T("report.and")))
		return list[first], exitOK
	}
	return list[0], exitOK
}

// number6 renders a number with six digits, nan and inf as those of tensors are.
func number6(x float64) string {
	return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', 6, 64)), "+")
}

func (s *session) pairs(left, right *array.Array, title string, pairs []array.Pair) string {
	rows := make([][]string, len(pairs))
	for i, p := range pairs {
		rows[i] = []string{s.Screen.Green(strconv.FormatInt(p.Index, 10)), left.Whole(p.Left, p.LeftRest), right.Whole(p.Right, p.RightRest), number6(p.Diff())}
	}
	return s.Screen.Table(title, []string{"Index", "Left", "Right", "Diff"}, rows)
}

func (c *cpCmd) summary(ctx context.Context, s *session, left, right *array.Array, d *array.Diff) string {
	var b strings.Builder
	for i, a := range []*array.Array{left, right} {
		stats := []array.Stats{d.LeftStats, d.RightStats}[i]
		b.WriteString(s.T([]string{"cp.left", "cp.right"}[i]) + "\n")
		name := console.Clean(a.Path)
		if a.Part != "" {
			name += "  (" + console.Clean(a.Part) + ")"
		}
		fmt.Fprintf(&b, " ├─ NpyFile: %s\n", name)
		if c.save {
			fmt.Fprintf(&b, " ├─ TxtFile: %s\n", s.Screen.Green(must.Get(s.writeText(ctx, a))))
		}
		fmt.Fprintf(&b, " └─ NpySpec: %s\n", s.summary(a, stats))
	}
	close := s.Screen.Green("True")
	if !d.AllClose() {
		close = s.Screen.Red("False")
	}
	cosine := strconv.FormatFloat(d.Cosine, 'f', 6, 64)
	if math.IsNaN(d.Cosine) {
		cosine = s.Screen.Yellow("nan")
	}
	fmt.Fprintf(&b, "NumCnt:   %d\nAllClose: %s\nCosSim:   %s\nErrorPer: %.6g  (rl= %g, al= %g)\n", d.Count, close, cosine, d.Share(), c.rtol, c.atol)
	if d.BothNaN > 0 {
		fmt.Fprintf(&b, "%s\n", s.T("cp.bothnan", d.BothNaN))
	}
	return b.String()
}
