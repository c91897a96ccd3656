package repl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"precision/dump/dtype"
	"precision/dump/h5"
	"precision/repl/array"
	"precision/repl/console"
)

// h5Kinds are the parts of an operator in a PyTorch dump, in the order they are
// shown in.
var h5Kinds = []string{"Input", "Output", "Grads", "Tensors", "GradInputs", "Result"}

// h5SideNames are the two sides of PyTorch dumps.
var h5SideNames = []string{"npu", "gpu"}

// h5Tensor is a dataset of a PyTorch dump, /<operator>/<id>/<kind>/….
type h5Tensor struct {
	path  string // from the root
	id    string // the first part that is a number, "" without one
	kind  string // one of h5Kinds, "" for others
	typ   dtype.Type
	shape []int64
}

// h5Side is the newest PyTorch dump of one side, npu or gpu.
type h5Side struct {
	name, file string
	state      string // changes when the file does
	tensors    []h5Tensor
	err        error
}

// array is the name of the array that a tensor is decoded into.
func (d *h5Side) array(t *h5Tensor) string { return h5Array(d.name, t.path) }

// h5Array is the name of the array of a dataset: npu_h5_batch_norm_88_input_0
// for /batch_norm/88/input/0. Side may be the name of a file, too.
func h5Array(side, path string) string {
	return fileName(side + "_h5" + path)
}

// h5Sides are the PyTorch dumps of the data folder, those of the NPU first.
// Sides without one are left out. What is wrong with one is told once.
func (s *session) h5Sides() []*h5Side {
	var sides []*h5Side
	for _, name := range h5SideNames {
		file, n := newestFile(s.data.path("pt", name), ".h5")
		if file == "" {
			continue
		}
		state := fileState(file)
		old := s.h5[name]
		if old == nil || old.state != state {
			old = readH5(name, file)
			old.state = state
			if s.h5 == nil {
				s.h5 = map[string]*h5Side{}
			}
			s.h5[name] = old
			if n > 1 {
				s.Info("h5.chosen", s.data.path("pt", name), n, file)
			}
			if old.err != nil {
				s.Warn("error", old.err)
			}
		}
		sides = append(sides, old)
	}
	return sides
}

// newestFile is the file of a folder with that ending that was written last, of
// several written at once that with the greatest name; n counts them.
func newestFile(dir, ending string) (path string, n int) {
	var best os.FileInfo
	for _, e := range entries(dir) {
		if !strings.EqualFold(filepath.Ext(e.Name()), ending) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if n++; best == nil || !info.ModTime().Before(best.ModTime()) {
			best, path = info, filepath.Join(dir, e.Name())
		}
	}
	return path, n
}

func fileState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(path, " ", info.ModTime().UnixNano(), " ", info.Size())
}

// readH5 lists the datasets of a PyTorch dump. Those found before an error
// count.
func readH5(side, path string) *h5Side {
	d := &h5Side{name: side, file: path}
	file, err := os.Open(path)
	if err != nil {
		d.err = err
		return d
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		d.err = err
		return d
	}
	f, err := h5.Open(file, info.Size())
	if err == nil {
		err = f.Walk(func(name string, obj h5.Object, err error) error {
			if err != nil && d.err == nil {
				d.err = fmt.Errorf("%s: %s: %w", path, name, err)
			}
			if set, ok := obj.(*h5.Dataset); ok && err == nil {
				id, kind := h5Place(name)
				d.tensors = append(d.tensors, h5Tensor{name, id, kind, set.Type, set.Shape})
			}
			return nil
		})
	}
	if err != nil {
		d.err = fmt.Errorf("%s: %w", path, err)
	}
	return d
}

// h5Place finds the operator's id and the kind in the path of a dataset.
func h5Place(path string) (id, kind string) {
	for _, part := range strings.Split(path, "/") {
		if id == "" && isNumber(part) {
			id = part
		}
		for _, k := range h5Kinds {
			if kind == "" && strings.EqualFold(part, k) {
				kind = k
			}
		}
	}
	return id, kind
}

// isNumber reports whether a text is all digits.
func isNumber(text string) bool {
	return text != "" && strings.TrimFunc(text, unicode.IsDigit) == ""
}

// h5Operator finds the tensors of an operator in the PyTorch dumps, by its id
// or by a path with that in it; "" without an id, or if no dump has it.
func (s *session) h5Operator(name string) (id string) {
	if id, _ = h5Place(name); id == "" {
		return ""
	}
	for _, d := range s.h5Sides() {
		for i := range d.tensors {
			if d.tensors[i].id == id {
				return id
			}
		}
	}
	return ""
}

// h5Panel shows an operator of the PyTorch dumps: what each side recorded of
// it, with statistics, decoded for other programs.
func (n *niCmd) h5Panel(ctx context.Context, s *session, id string) (string, error) {
	var b strings.Builder
	for _, d := range s.h5Sides() {
		fmt.Fprintf(&b, "%s:  %s\n", strings.ToUpper(d.name), console.Clean(d.file))
		before := b.Len()
		for _, kind := range append(h5Kinds, "") {
			var text strings.Builder
			for i := range d.tensors {
				t := &d.tensors[i]
				if t.id != id || t.kind != kind {
					continue
				}
				line, err := n.h5Line(ctx, s, d, t)
				if err != nil {
					return "", err
				}
				text.WriteString(line)
			}
			if text.Len() > 0 {
				if kind == "" {
					kind = s.T("h5.other")
				}
				b.WriteString(" " + kind + ":\n" + text.String())
			}
		}
		if b.Len() == before {
			b.WriteString(" " + s.T("h5.nothing") + "\n")
		}
	}
	return s.Screen.Panel(s.Screen.Green(console.Clean(n.name)), b.String()), nil
}

// h5Line is what is shown of a tensor. The error is only that of a cancelled
// context.
func (n *niCmd) h5Line(ctx context.Context, s *session, d *h5Side, t *h5Tensor) (string, error) {
	path := console.Clean(t.path)
	a, err := array.Dataset(d.file, t.path)
	if err != nil {
		return "  - " + path + "\n    └─ " + n.failed(s, err), ctx.Err()
	}
	defer a.Close()
	stats, err := s.measure(ctx, "ni", a)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "  - " + path + "\n    └─ " + n.failed(s, err), nil
	}
	s.decoded(ctx, a, d.array(t), "pt")
	return fmt.Sprintf("  - %s\n    └─ %s\n", path, s.summary(a, stats)), ctx.Err()
}

// findH5 finds datasets of the PyTorch dumps by what a user typed: the path of
// one, the name of its array, or the beginning of either.
func (s *session) findH5(text string, add func(r tensorRef, name string)) {
	for _, d := range s.h5Sides() {
		for i := range d.tensors {
			t := &d.tensors[i]
			r := tensorRef{path: d.file, dataset: t.path, side: d.name}
			if strings.HasPrefix(text, "/") {
				// add compares with the text, slashes being underscores.
				add(r, strings.ReplaceAll(t.path, "/", "_"))
				continue
			}
			add(r, d.array(t))
		}
	}
}
