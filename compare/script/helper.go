package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"precision/dump/dtype"
	"precision/dump/npy"
	"precision/internal/must"
)

// Array is a tensor on its way to or from a script.
type Array struct {
	// Type must be one that numpy has.
	Type dtype.Type
	// Shape holds the dims; a script sees the elements in one dimension.
	Shape []int64
	// Data holds the elements, little-endian in row-major order.
	Data []byte
	// File is where the tensor comes from. Algorithms learn it.
	File string
}

// Helper runs scripts in a Python process of its own, which is started with the
// first call and again after one that ended or wedged it. A Helper is for one
// goroutine; Close ends the process and removes the folder it uses.
type Helper struct {
	scripts *Scripts
	ctx     context.Context
	python  string
	dir     string
	proc    *process
	calls   int64
}

// NewHelper makes a helper. The context ends all its calls. The error is a
// [*PythonError] if there is no Python for the scripts.
func (s *Scripts) NewHelper(ctx context.Context) (_ *Helper, err error) {
	defer must.Catch(&err)
	h := &Helper{scripts: s, ctx: ctx, python: must.Get(s.findPython(ctx)), dir: must.Get(os.MkdirTemp("", "precision-scripts-"))}
	if err := os.WriteFile(h.path("driver.py"), []byte(driver), 0o600); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close ends the process and removes its folder.
func (h *Helper) Close() error {
	h.stop()
	return os.RemoveAll(h.dir)
}

func (h *Helper) path(name string) string { return filepath.Join(h.dir, name) }

// Compare runs the algorithm of that name on two tensors of the same length.
// text is the table cell: the text the script returned, or its number with six
// decimals. messages are for the reader of the table. The error is a
// [*CallError], or the context's.
func (h *Helper) Compare(name string, mine, golden *Array, params map[string]string) (text string, messages []string, err error) {
	_, ok := h.scripts.Algorithm(name)
	if !ok {
		return "", nil, fmt.Errorf("%s holds no algorithm %q", h.scripts.dir, name)
	}
	args := map[string]string{}
	maps.Copy(args, params)
	args["my_output_dump_file"], args["ground_truth_dump_file"], args["shape_type"] = mine.File, golden.File, shapeType(mine.Shape)
	fail := &CallError{Name: name, Function: "compare"}
	got, err := must.Of(func() *answer {
		h.write("mine.npy", mine)
		h.write("golden.npy", golden)
		return must.Get(h.call(&request{Do: "compare", Name: name, Mine: "mine.npy", Golden: "golden.npy", Args: args}))
	})
	if err != nil {
		return "", nil, h.failed(fail, err)
	}
	return got.Text, got.Messages, nil
}

func shapeType(shape []int64) string {
	for _, d := range shape {
		if d != 1 {
			return "Tensor"
		}
	}
	return "Scalar"
}

// Convert runs the conversion between two layouts on a tensor of shape
// array.Shape. to is the shape of the tensor it belongs to, nil if unknown, and
// group is the number of groups of a grouped convolution, 0 or 1 otherwise. The
// error is a [*CallError], or the context's.
func (h *Helper) Convert(c Conversion, array *Array, to []int64, group int64) (out *Array, err error) {
	if have, ok := h.scripts.Conversion(c.From, c.To); !ok || have != c {
		return nil, fmt.Errorf("%s holds no conversion %s", h.scripts.dir, c.Name())
	}
	fail := &CallError{Name: c.Name(), Function: "convert"}
	out, err = must.Of(func() *Array {
		h.write("mine.npy", array)
		os.Remove(h.path("result.npy"))
		must.Get(h.call(&request{Do: "convert", Name: c.Name(), Target: c.To, Array: "mine.npy", Result: "result.npy",
			From: notNil(array.Shape), To: notNil(to), Group: max(group, 1)}))
		return h.read("result.npy")
	})
	if err != nil {
		return nil, h.failed(fail, err)
	}
	out.File = array.File
	return out, nil
}

func notNil(dims []int64) []int64 {
	if dims == nil {
		return []int64{}
	}
	return dims
}

// Check loads every script and drops those that cannot be used: that fail to
// load, or lack a function with the right number of arguments. They are
// returned as warnings. The error is a [*PythonError] or the context's; there
// is none in a folder without scripts.
func (s *Scripts) Check(ctx context.Context) (warnings []error, err error) {
	defer must.Catch(&err)
	if len(s.algorithms)+len(s.conversions) == 0 {
		return nil, nil
	}
	h := must.Get(s.NewHelper(ctx))
	defer h.Close()
	load := func(path string, r *request, drop func()) {
		if ctx.Err() != nil {
			return
		}
		if _, err := h.call(r); err != nil && ctx.Err() == nil {
			warnings = append(warnings, fmt.Errorf("%s: cannot be used and is left out: %w", path, err))
			drop()
		}
	}
	for _, a := range s.Algorithms() {
		load(a.Path, &request{Do: "load", Name: a.Name}, func() { delete(s.algorithms, a.Name) })
	}
	for _, c := range s.Conversions() {
		load(c.Path, &request{Do: "load", Name: c.Name(), Target: c.To}, func() { delete(s.conversions, [2]string{c.From, c.To}) })
	}
	return warnings, context.Cause(ctx)
}

// failed puts what went wrong into a CallError, unless the run was ended.
func (h *Helper) failed(e *CallError, err error) error {
	if h.ctx.Err() != nil {
		return context.Cause(h.ctx)
	}
	e.Reason = err.Error()
	return e
}

// write puts an array into the folder for the driver.
func (h *Helper) write(name string, a *Array) {
	f := must.Get(os.OpenFile(h.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600))
	err := npy.Write(f, a.Type, a.Shape, a.Data)
	must.Do(errors.Join(err, f.Close()))
}

// read takes the array that the driver has left.
func (h *Helper) read(name string) *Array {
	f, err := npy.Open(h.path(name))
	if err != nil {
		must.Do(errors.New(strings.ReplaceAll(err.Error(), h.dir+string(filepath.Separator), "")))
	}
	defer f.Close()
	must.Not(f.BigEndian || f.Fortran, "%s is not little-endian in row-major order", name)
	data := make([]byte, f.Size())
	_, err = io.ReadFull(io.NewSectionReader(f, f.Offset, f.Size()), data)
	must.Not(err != nil, "%s: %w", name, err)
	return &Array{Type: f.Type, Shape: f.Shape, Data: data}
}
