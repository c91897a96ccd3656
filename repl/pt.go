package repl

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"precision/console"
	"precision/internal/nd"
	"precision/internal/whole"
	"precision/repl/array"
)

// ptCmd is the command pt: it prints a tensor.
type ptCmd struct {
	name, by string
	save     bool
}

var ptCommand = &command{
	name:  "pt",
	named: true,
	make:  func(*session) action { return &ptCmd{} },
}

func (p *ptCmd) define(o *options) {
	o.text(&p.name, "n", "name", tensors)
	o.text(&p.by, "b", "by", tensors)
	o.on(&p.save, "s", "save")
}

// Rows of values that are printed, how many are in one, and how many numbers a
// tensor may have whose text is written without being asked for: what takes a
// blink.
const (
	ptRows    = 16
	ptColumns = 8
	ptText    = 1 << 20
	ptTensors = 1000 // of one answer
)

func (p *ptCmd) run(ctx context.Context, s *session, _ []string) int {
	refs := s.findTensors(p.name)
	if len(refs) == 0 {
		return s.unknown("tensor.none", p.name)
	}
	const most = 50
	if len(refs) > most {
		return s.Fail("pt.many", len(refs), p.name, refs[0].Name(), refs[1].Name())
	}
	code := exitOK
	var out strings.Builder
	shown, left := 0, 0
	for i := range refs {
		arrays, bad := refs[i].Open()
		for _, err := range bad {
			s.Fail("error", err)
			code = exitError
		}
		for _, a := range arrays {
			if shown++; shown > ptTensors { // a small file can list tens of thousands, each with a text of its own
				a.Close()
				left++
				continue
			}
			a, fault := s.times(a, p.by)
			if a == nil {
				return fault
			}
			text, err := p.show(ctx, s, a)
			a.Close()
			out.WriteString(text)
			if err != nil {
				code = max(code, s.Failed(ctx, err))
			}
		}
	}
	if left > 0 {
		out.WriteString(s.T("pt.more", left))
	}
	s.Page(out.String())
	return code
}

func (p *ptCmd) show(ctx context.Context, s *session, a *array.Array) (string, error) {
	stats, err := s.measure(ctx, "pt", a)
	if err != nil {
		return "", err
	}
	v, err := a.FirstText(ptRows * ptColumns)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for at := 0; at < min(len(v), ptRows*ptColumns); at += ptColumns {
		line := v[at:min(at+ptColumns, len(v))]
		rows = append(rows, []string{s.Screen.Green(strconv.Itoa(at)), strings.Join(line, " ")})
	}
	var b strings.Builder
	b.WriteString(s.summary(a, stats) + "\n")
	switch a.Format {
	case "":
	case "ND", "NCHW", "NHWC", "HWCN", "NCDHW", "NDHWC", "DHWCN", "RESERVED":
		b.WriteString(s.T("pt.plain", a.Format) + "\n")
	default:
		b.WriteString(s.T("pt.format", a.Format) + "\n")
	}
	path := console.Clean(a.Path)
	if a.Dataset {
		path += "  (" + console.Clean(a.Part) + ")"
	}
	b.WriteString(s.T("pt.path", path) + "\n")
	switch {
	case p.save || a.Numbers() <= ptText:
		path, err := s.writeText(ctx, a)
		if err != nil {
			if ctx.Err() != nil {
				return "", err
			}
			b.WriteString(s.Screen.Yellow(s.T("text.failed", err)) + "\n")
		} else {
			b.WriteString(s.T("pt.text", s.Screen.Green(path)) + "\n")
		}
	default:
		b.WriteString(s.T("pt.notext", a.Numbers()) + "\n")
	}
	in := s.Screen.Inside()
	return s.Screen.Panel(console.Clean(a.Name), in.Columns(in.Table("", []string{"Index", "Data"}, rows), b.String())), nil
}

// summary is the line about the numbers of a tensor. Counts of NaN and Inf, and
// of the largest float16, are in it when there are any.
func (s *session) summary(a *array.Array, st array.Stats) string {
	num := func(x float64) string {
		if math.IsNaN(x) {
			return "-"
		}
		return a.Number(x)
	}
	mean := "-"
	if !math.IsNaN(st.Mean) {
		mean = number6(st.Mean)
	}
	text := fmt.Sprintf("[Shape: %s] [Dtype: %s] [Max: %s] [Min: %s] [Mean: %s]", nd.Tuple(a.Shape), a.Type, num(st.Max), num(st.Min), mean)
	if st.Count == 0 {
		return s.Screen.Yellow(fmt.Sprintf("[Shape: %s] [Dtype: %s]", nd.Tuple(a.Shape), a.Type))
	}
	text = s.Screen.Yellow(text)
	for _, c := range []struct {
		n    int64
		name string
	}{{st.NaN, "NaN"}, {st.Inf, "Inf"}, {st.Limit, "±65504"}} {
		if c.n > 0 {
			text += s.Screen.Red(fmt.Sprintf(" [%s: %d]", c.name, c.n))
		}
	}
	return text
}

// writeText writes a tensor as text and returns where: next to an array; for a
// tensor of a dump or of an HDF5 file below temp/decode. A text that is newer
// than the tensor is left as it is.
func (s *session) writeText(ctx context.Context, a *array.Array) (string, error) {
	path := a.Path + ".txt"
	if a.Part != "" {
		name := shortName(a, a.Name)
		if a.Restored != "" { // other elements than those stored
			name += "." + a.Restored
		}
		path = filepath.Join(s.decodeOf(a), inside(name)+".npy.txt")
	}
	if upToDate(path, a) {
		return path, nil
	}
	ctx, done := s.watch(ctx, "txt", a)
	defer done()
	return path, whole.FillOwn(path, 0o600, func(w io.Writer) error { return a.WriteText(ctx, w) })
}

// decodeOf is the folder below temp/decode that a tensor of a file belongs in:
// that of the run the file is part of.
func (s *session) decodeOf(a *array.Array) string {
	if id, l := s.data.LeafAt(filepath.Dir(a.Path)); l != nil {
		return filepath.Join(append([]string{s.data.DecodeDir()}, s.decodeFolder(id, l)...)...)
	}
	if a.Dataset {
		return filepath.Join(s.data.DecodeDir(), "pt")
	}
	return filepath.Join(s.data.DecodeDir(), "dump_decode")
}
