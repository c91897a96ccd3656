package read

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/graph"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text string
		source     graph.Source
		err        string
	}{
		{"text", "graph {\n  name: \"g\"\n}\n", graph.SourceText, ""},
		{"text with byte order mark", "\xef\xbb\xbfgraph { name: \"g\" }", graph.SourceText, ""},
		{"text with comment", "# made by hand\n\ngraph { name: \"g\" }", graph.SourceText, ""},
		{"json", "\n {\"graph\": [{\"name\": \"g\"}]}", graph.SourceJSON, ""},
		{"empty", "", 0, "f: offset 0: file is empty, expected a GE graph"},
		{"blank", " \n\n", 0, "f: offset 0: file is empty, expected a GE graph"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read(context.Background(), strings.NewReader(c.text), "f")
			if c.err != "" {
				if err == nil || err.Error() != strings.Replace(c.err, "f: ", "f:", 1) {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Source != c.source || m.Path != "f" || m.Graphs[0].Name != "g" {
				t.Errorf("source %v, path %q", m.Source, m.Path)
			}
		})
	}
}

func TestOpenMissing(t *testing.T) {
	if _, err := Open(context.Background(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want not exist", err)
	}
}

func TestParseEdge(t *testing.T) {
	for _, c := range []struct {
		text, producer string
		index          int32
	}{
		{"", "", graph.NoIndex},
		{"conv:0", "conv", 0},
		{"a:b:12", "a:b", 12},
		{"late:-1", "late", graph.ControlIndex},
		{"conv", "conv", graph.NoIndex},
		{"conv:", "conv", graph.NoIndex},
		{"conv:x", "conv", graph.NoIndex},
		{"conv:-2", "conv", graph.NoIndex},
		{"conv:99999999999", "conv", graph.NoIndex},
		{":0", "", 0},
	} {
		e := graph.ParseEdge(c.text)
		if e.Producer() != c.producer || e.Index != c.index || e.Text != c.text {
			t.Errorf("%q: producer %q, index %d", c.text, e.Producer(), e.Index)
		}
	}
}

func TestGEDTypeName(t *testing.T) {
	for n, want := range map[int64]string{0: "DT_FLOAT", 1: "DT_FLOAT16", 27: "DT_BF16", 28: "DT_UNDEFINED", 99: "99", -1: "-1"} {
		if got := graph.GEDTypeName(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "", 2: "DT_FLOAT16", 27: "DT_BF16", 41: "DT_HIFLOAT4", 99: "99"} {
		if got := graph.DTypeName(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestOpenStops: reading ends with its context, in every form.
func TestOpenStops(t *testing.T) {
	ops := strings.Repeat("op { name: \"x\" type: \"T\" output_desc { } output_desc { } }\n", 20000)
	text := "graph { name: \"g\"\n" + ops + "}"
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"text.txt": []byte(text),
		"g.json":   []byte(`{"graph": [` + strings.Repeat("{},\n", 100000) + "{}]}"),
		"g.om":     omFile(true, 0, []part{{0, wireOf(t, []byte(text))}}),
		"g.bin":    wireOf(t, []byte(text)),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := Open(t.Context(), path); err != nil || len(m.Graphs) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := Open(ctx, path); !errors.Is(err, why) {
			t.Errorf("%s: %v, want %v", name, err, why)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := OpenFolder(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("folder: %v", err)
	}
	// A stream without an end.
	ctx, cancel = context.WithCancel(t.Context())
	endless := io.MultiReader(strings.NewReader("graph {"), readerFunc(func(p []byte) (int, error) {
		cancel()
		for i := range p {
			p[i] = ' '
		}
		return len(p), nil
	}))
	if _, err := Read(ctx, endless, "endless"); !errors.Is(err, context.Canceled) {
		t.Errorf("endless: %v", err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestOther: what is no graph is told apart from a graph that is damaged.
func TestOther(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		is   graph.Other // "" for a damaged graph
	}{
		"markdown":       {"# precision\n\n**Where** does it go wrong?\n", graph.OtherText},
		"chinese":        {"中文说明\n", graph.OtherText},
		"settings":       {"name = \"x\"\n", graph.OtherText},
		"code":           {"package main\n\nimport (\n", graph.OtherText},
		"array":          {"\x93NUMPY\x01\x00v\x00{'descr': '<f4', }", graph.OtherNumpy},
		"h5":             {"\x89HDF\r\n\x1a\n\x00\x00", graph.OtherHDF5},
		"zip":            {"PK\x03\x04\x14\x00", graph.OtherZip},
		"dump":           {"\x02\x00\x00\x00\x00\x00\x00\x00\x08\x02\xff\xff\xff", graph.OtherDump},
		"program":        {"\x7fELF\x02\x01\x01\x00", graph.OtherBinary},
		"verdict":        {`{"schema": "x", "graph": "net.txt"}`, graph.OtherJSON},
		"list":           {`["a", 1]`, graph.OtherJSON},
		"cut text":       {"name: \"g\"\ngraph {\n  op {\n", ""},
		"commented text": {"# by GE\nname: ]", ""},
		"cut json":       {`{"graph": [{"op": [`, ""},
		"wrong json":     {`{"graph": [1]}`, ""},
	} {
		_, err := Read(context.Background(), strings.NewReader(c.text), name)
		var not *graph.NotGraphError
		if is := errors.As(err, &not); err == nil || is != (c.is != "") || is && not.Is != c.is {
			t.Errorf("%s: %v", name, err)
		}
	}
}
