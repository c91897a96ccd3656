package script

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"precision/dump"
	"precision/dump/dtype"
)

func open(t *testing.T, name string) *Scripts {
	t.Helper()
	s, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// helper skips the test where there is no Python with numpy.
func helper(t *testing.T, s *Scripts) *Helper {
	t.Helper()
	h, err := s.NewHelper(context.Background())
	if missing := (*PythonError)(nil); errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(h.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is left: %v", err)
		}
	})
	return h
}

func floats(shape []int64, v ...float32) *Array {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return &Array{Type: dtype.Float32, Shape: shape, Data: b}
}

func values(t *testing.T, a *Array) []float32 {
	t.Helper()
	v := make([]float32, len(a.Data)/4)
	if a.Type != dtype.Float32 {
		t.Fatalf("elements of type %s", a.Type)
	}
	binary.Decode(a.Data, binary.LittleEndian, v)
	return v
}

func TestOpen(t *testing.T) {
	s := open(t, "good")
	var names []string
	for _, a := range s.Algorithms() {
		names = append(names, a.Name)
	}
	for _, c := range s.Conversions() {
		names = append(names, c.From+">"+c.To)
	}
	want := []string{"Args", "Asked", "MaxAbsoluteError", "Small", "Sum", "FRACTAL_NZ>ND", "HWCN>FRACTAL_Z", "NCHW>NHWC"}
	if !slices.Equal(names, want) {
		t.Errorf("found %v", names)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Error(), "shared.py") {
		t.Errorf("warnings %v", s.Warnings)
	}
	s, err := Open(t.TempDir())
	if err != nil || len(s.Warnings) != 2 || len(s.Algorithms()) != 0 {
		t.Errorf("an empty folder: %v %v", s, err)
	}
	if warnings, err := s.Check(context.Background()); warnings != nil || err != nil {
		t.Errorf("an empty folder: %v, %v", warnings, err)
	}
}

func TestLimits(t *testing.T) {
	write := func(path string, size int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		fill func(dir string)
		code int
	}{
		"absent":    {func(dir string) { os.RemoveAll(dir) }, 3},
		"file":      {func(dir string) { os.RemoveAll(dir); write(dir, 1) }, 3},
		"size":      {func(dir string) { write(filepath.Join(dir, "algorithm", "alg_x.py"), 1<<20) }, 0},
		"too large": {func(dir string) { write(filepath.Join(dir, "algorithm", "alg_x.py"), 1<<20+1) }, 6},
		"depth":     {func(dir string) { write(filepath.Join(dir, strings.Repeat("d/", 50), "x"), 1) }, 0},
		"too deep":  {func(dir string) { write(filepath.Join(dir, strings.Repeat("d/", 51), "x"), 1) }, 6},
		"many": {func(dir string) {
			for i := range 1000 {
				write(filepath.Join(dir, fmt.Sprint(i%10), fmt.Sprint(i)), 0)
			}
		}, 0},
		"too many": {func(dir string) {
			for i := range 1001 {
				write(filepath.Join(dir, fmt.Sprint(i%10), fmt.Sprint(i)), 0)
			}
		}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "scripts")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			c.fill(dir)
			_, err := Open(dir)
			if got := dump.Code(err); got != c.code {
				t.Errorf("%v has code %d, want %d", err, got, c.code)
			}
		})
	}
}

func TestNoPython(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS != "windows" {
		if err := os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\necho no numpy here >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	s := open(t, "good")
	_, err := s.NewHelper(context.Background())
	var missing *PythonError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "alg_Args.py and 7 more") {
		t.Fatalf("error %v", err)
	}
	if runtime.GOOS != "windows" && !strings.Contains(err.Error(), "no numpy here") {
		t.Errorf("error %v", err)
	}
	if _, err := s.Check(context.Background()); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
}

func TestCompare(t *testing.T) {
	h := helper(t, open(t, "good"))
	mine, golden := floats([]int64{2, 2}, 1, 2, 3, 4), floats([]int64{2, 2}, 1, 2, 3, 6.5)
	mine.File, golden.File = "mine.0", "golden.npy"
	nothing := []string{}
	for _, c := range []struct {
		name     string
		text     string
		messages []string
	}{
		{"Sum", "22.500000", nothing},
		{"MaxAbsoluteError", "2.50", []string{"taken from a script"}},
		{"Args", "2 2 None ShapeType.Tensor False", []string{"mine.0", "golden.npy", "float32 (4,)"}},
		{"Small", "3.000000", nothing},
		{"Small", "0.500000", nothing},
		{"Small", "7.000000", nothing},
		{"Small", "nan", nothing},
		{"Small", "-inf", nothing},
		{"Small", "-2.000000", nothing},
		{"Small", "as it is", nothing},
	} {
		text, messages, err := h.Compare(c.name, mine, golden, map[string]string{"factor": "2"})
		if err != nil || text != c.text || !slices.Equal(messages, c.messages) {
			t.Errorf("%s: %q %q %v, want %q %q", c.name, text, messages, err, c.text, c.messages)
		}
	}
	// As scripts of the old tool ask: by get, all at once, and for a member of an enumeration.
	if text, messages, err := h.Compare("Asked", mine, golden, map[string]string{"factor": "2"}); text != "2 None Tensor True" || !slices.Equal(messages, []string{"factor", "ground_truth_dump_file", "my_output_dump_file", "shape_type"}) {
		t.Errorf("%q %q %v", text, messages, err)
	}
	mine, golden = floats([]int64{}, 1), floats([]int64{}, 2)
	if text, _, err := h.Compare("Args", mine, golden, map[string]string{"factor": "x", "other": "y"}); text != "x x y ShapeType.Scalar False" {
		t.Errorf("%q %v", text, err)
	}
	if _, _, err := h.Compare("absent", mine, golden, nil); err == nil {
		t.Error("an algorithm that is not there")
	}
	if _, err := os.Stat(filepath.Join("testdata", "good", "algorithm", "__pycache__")); err == nil {
		t.Error("the folder of scripts was written to")
	}
}

func TestConvert(t *testing.T) {
	s := open(t, "good")
	h := helper(t, s)
	in := floats([]int64{1, 2, 1, 3}, 0, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		from, to string
		want     []int64
		group    int64
		shape    []int64
		values   []float32
	}{
		{"NCHW", "NHWC", nil, 0, []int64{1, 1, 3, 2}, []float32{0, 3, 1, 4, 2, 5}},
		{"HWCN", "FRACTAL_Z", []int64{6}, 0, []int64{6}, []float32{0, 1, 2, 3, 4, 5}},
		{"HWCN", "FRACTAL_Z", []int64{3, 2}, 2, []int64{3, 2}, []float32{0, 2, 4, 6, 8, 10}},
		{"FRACTAL_NZ", "ND", []int64{2, 3}, 0, []int64{2, 3}, []float32{0, 1, 2, 3, 4, 5}},
	} {
		conv, ok := s.Conversion(c.from, c.to)
		if !ok {
			t.Fatal(c)
		}
		got, err := h.Convert(conv, in, c.want, c.group)
		if err != nil {
			t.Error(err)
			continue
		}
		if v := values(t, got); !slices.Equal(got.Shape, c.shape) || !slices.Equal(v, c.values) {
			t.Errorf("%s: %v %v, want %v %v", conv.Name(), got.Shape, v, c.shape, c.values)
		}
	}
	// The wrong number of elements is the script's to refuse.
	conv, _ := s.Conversion("NCHW", "NHWC")
	_, err := h.Convert(conv, &Array{Type: dtype.Float32, Shape: []int64{2}, Data: make([]byte, 8)}, nil, 0)
	var call *CallError
	if !errors.As(err, &call) || !strings.HasPrefix(err.Error(), "Failed to execute 'convert' in 'NCHW_to_NHWC'. ") {
		t.Errorf("%v", err)
	}
	if _, err := h.Convert(Conversion{From: "A", To: "B"}, in, nil, 0); err == nil {
		t.Error("a conversion that is not there")
	}
}

// What one script does is the error of its call; the next call works.
func TestHostile(t *testing.T) {
	s := open(t, "hostile")
	s.Timeout = 20 * time.Second
	h := helper(t, s)
	a := floats([]int64{2}, 1, 2)
	fine := func(after string) {
		t.Helper()
		text, messages, err := h.Compare("prints", a, a, nil)
		if err != nil || text != "''" || !slices.Equal(messages, []string{"said"}) {
			t.Errorf("after %s: %q %q %v", after, text, messages, err)
		}
	}
	fine("nothing")
	for name, want := range map[string]string{
		"raises":  "no such thing",
		"nothing": "the result is of type NoneType, expected a text or a number",
		"three":   "3 values are returned, expected a result and a message",
		"array":   "the result is of type ndarray, expected a text or a number",
		"message": "the message is of type int, expected a text",
		"exits":   "the script ended itself with 7",
		"dies":    "the script ended its Python process (exit status 7): last words",
		"answers": "the script disturbed the answer of its Python process",
		"endless": "the Python process of the script gave no answer: it is longer than 1048576 bytes",
		"evil":    "Evil",
		"closes":  "the script ended its Python process (signal: killed)",
	} {
		if runtime.GOOS == "windows" && name == "closes" {
			continue
		}
		_, _, err := h.Compare(name, a, a, nil)
		var call *CallError
		if !errors.As(err, &call) || err.Error() != "Failed to execute 'compare' in '"+name+"'. "+want {
			t.Errorf("%s: %v", name, err)
		}
		fine(name)
	}
	for to, want := range map[string]string{
		"list":    "a list is returned, expected an array",
		"objects": "an array of object is returned, expected numbers",
		"long":    "result.npy",
	} {
		c, _ := s.Conversion("A", to)
		_, err := h.Convert(c, a, nil, 0)
		var call *CallError
		if !errors.As(err, &call) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), h.dir) {
			t.Errorf("%s: %v", to, err)
		}
	}
	c, _ := s.Conversion("A", "half")
	if got, err := h.Convert(c, a, nil, 0); err != nil || got.Type != dtype.Float16 || !slices.Equal(got.Shape, []int64{2, 0, 3}) {
		t.Errorf("%v %v", got, err)
	}
	// A tensor that numpy has no type for never reaches the script.
	if _, _, err := h.Compare("raises", &Array{Type: dtype.BFloat16, Shape: []int64{1}, Data: make([]byte, 2)}, a, nil); err == nil {
		t.Error("bfloat16 was passed")
	}
}

func TestTimeout(t *testing.T) {
	s := open(t, "hostile")
	h := helper(t, s)
	a := floats([]int64{1}, 1)
	h.Compare("raises", a, a, nil) // the process is up
	s.Timeout = 300 * time.Millisecond
	_, _, err := h.Compare("loops", a, a, nil)
	if err == nil || !strings.Contains(err.Error(), "did not return within 300ms") {
		t.Errorf("%v", err)
	}
	s.Timeout = 0
	if _, _, err := h.Compare("exits", a, a, nil); err == nil || !strings.Contains(err.Error(), "with 7") {
		t.Errorf("after the time-out: %v", err)
	}
}

func TestCancel(t *testing.T) {
	s := open(t, "hostile")
	helper(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	h, err := s.NewHelper(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	time.AfterFunc(300*time.Millisecond, cancel)
	a := floats([]int64{1}, 1)
	if _, _, err := h.Compare("loops", a, a, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCheck(t *testing.T) {
	s := open(t, "unfit")
	helper(t, s)
	warnings, err := s.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"alg_none.py: cannot be used and is left out: there is no function 'compare'",
		"alg_syntax.py: cannot be used and is left out: ",
		"alg_two.py: cannot be used and is left out: compare(mine, golden) does not take 3 arguments",
		"convert_A_to_B.py: cannot be used and is left out: the script ended itself with 3",
		"convert_A_to_FRACTAL_Z.py: cannot be used and is left out: convert(shape_from, shape_to, array) does not take 4 arguments",
	}
	for i, w := range warnings {
		if i >= len(want) || !strings.Contains(w.Error(), want[i]) {
			t.Errorf("warning %d: %v", i, w)
		}
	}
	if len(warnings) != len(want) || len(s.Algorithms()) != 1 || len(s.Conversions()) != 1 {
		t.Errorf("%d warnings, left %v %v", len(warnings), s.Algorithms(), s.Conversions())
	}
	good := open(t, "good")
	if warnings, err := good.Check(context.Background()); len(warnings) != 0 || err != nil || len(good.Algorithms()) != 5 {
		t.Errorf("good scripts: %v %v", warnings, err)
	}
}

func TestTail(t *testing.T) {
	var l tail
	for i := range 3000 {
		fmt.Fprintf(&l, "line %d\n", i)
	}
	l.Write(make([]byte, 0))
	if len(l.b) > tailLen || l.lastLine() != "line 2999" {
		t.Errorf("%d bytes, last %q", len(l.b), l.lastLine())
	}
	if h := float32(math.Inf(1)); values(t, floats(nil, h))[0] != h {
		t.Error("floats")
	}
}
