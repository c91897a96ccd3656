package graph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"precision/graph"
	"precision/graph/read"
)

func TestParseFileName(t *testing.T) {
	for name, want := range map[string]string{
		"ge_proto_00056_Build.txt":                       "56 Build false",
		"x/ge_proto_00000062_Build.txt":                  "62 Build false",
		"ge_proto_00000062_graph_1_Build.txt":            "62 Build false",
		"ge_proto_00000062_graph_1_Build.txt.json":       "62 Build false",
		"ge_proto_00000003_aclop_graph_0_Build.txt":      "3 Build false",
		"ge_onnx_00000062_graph_11_PreRunBegin.pbtxt":    "62 PreRunBegin true",
		"ge_proto_00000002_graph_4_PreRunAfterBuild.txt": "2 PreRunAfterBuild false",
		"dynamo_original_graph_1_rank_3_pid_5_ts_20.txt": "-1 dynamo_original false",
	} {
		f, ok := graph.ParseFileName(name)
		if got := fmt.Sprint(f.Number, " ", f.Stage, " ", f.ONNX); !ok || strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("%s: %s %v, want %s", name, got, ok, want)
		}
	}
	for _, name := range []string{"ge_proto_x_Build.txt", "ge_proto_1_Build.pbtxt", "ge_onnx_1_Build.txt", "graph.txt", "ge_readable_00000001_graph_1_Build.txt", "dynamo_else_graph_1.txt", "dynamo_original_graph_1.pbtxt"} {
		if _, ok := graph.ParseFileName(name); ok {
			t.Errorf("%s is taken for a graph file", name)
		}
	}
	if f, _ := graph.ParseFileName("dynamo_original_graph_rank_9_rank_3_pid_5_ts_20.txt"); f.Device != 3 || f.PID != 5 {
		t.Errorf("rank %d, process %d", f.Device, f.PID)
	}
}

// put writes files below a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuildFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"build", []string{"ge_proto_1_PreRunBegin.txt", "ge_proto_2_Build.txt", "ge_proto_2_Build.txt.json", "ge_proto_3_graph_1_Build.txt",
			"ge_proto_4_PreRunAfterBuild.txt", "ge_onnx_0_graph_1_Build.pbtxt"}, "ge_proto_2_Build.txt ge_proto_3_graph_1_Build.txt"},
		{"json", []string{"ge_proto_2_Build.txt.json"}, "ge_proto_2_Build.txt.json"},
		{"after", []string{"ge_proto_4_PreRunAfterBuild.txt", "ge_proto_1_PreRunBegin.txt"}, "ge_proto_4_PreRunAfterBuild.txt"},
		{"onnx", []string{"ge_onnx_0_graph_1_Build.pbtxt", "ge_proto_4_PreRunAfterBuild.txt"}, "ge_onnx_0_graph_1_Build.pbtxt"},
		{"models", []string{"a.om", "b.json", "notes.txt"}, "a.om b.json"},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			put(t, dir, map[string]string{"pid_7_deviceid_3/" + f: "graph { }"})
		}
		files, err := read.FindFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range graph.BuildFiles(files) {
			got = append(got, filepath.Base(f.Path))
			if f.PID != 7 || f.Device != 3 {
				t.Errorf("%s: process %d, device %d", f.Path, f.PID, f.Device)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
	if _, err := read.FindFiles(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("missing folder is not reported")
	}
}

func TestMatchDump(t *testing.T) {
	dir := t.TempDir()
	text := func(name string, ops ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "graph { name: %q ", name)
		for _, o := range ops {
			fmt.Fprintf(&b, "op { name: %q type: \"T\" } ", o)
		}
		b.WriteString("}\n")
		return b.String()
	}
	put(t, dir, map[string]string{
		"pid_1_deviceid_0/ge_proto_00000001_graph_1_Build.txt": text("ge_default_20230713074125_1", "a/b", "c"),
		"pid_1_deviceid_1/ge_proto_00000001_graph_1_Build.txt": text("ge_default_20230713074125_1", "a/b", "c"),
		"pid_1_deviceid_0/ge_proto_00000002_graph_2_Build.txt": text("ge_default_20230713074125_2", "x") + text("ge_default_20230713074125_sub_0_know", "y", "z"),
		"pid_1_deviceid_0/ge_proto_00000003_graph_3_Build.txt": text("resnet_NPU_0", "p", "q", "r"),
		"pid_1_deviceid_0/ge_proto_00000004_graph_4_Build.txt": "graph {",
	})
	cands, warnings, err := read.OpenFolder(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cands) != 4 || len(warnings) != 1 || warnings[0].Line != 1 {
		t.Fatalf("%d graphs, warnings %v", len(cands), warnings)
	}
	for i := range cands {
		cands[i].File.ModTime = time.Date(2023, 7, 13, 7, 42+i, 0, 0, time.UTC)
	}
	ops := func(names ...string) (out []graph.DumpOp) {
		for _, n := range names {
			out = append(out, graph.DumpOp{"T", n})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		d      graph.DumpFolder
		want   string
		device int
	}{
		{"name and device", graph.DumpFolder{Model: "ge_default_20230713074125_1", Device: 1, Ops: ops("a_b")}, "ge_default_20230713074125_1 name 1/1", 1},
		{"newest before", graph.DumpFolder{Model: "ge_default_20230713074125_1", Device: -1, Time: time.Date(2023, 7, 13, 7, 43, 0, 0, time.UTC)}, "ge_default_20230713074125_1 name 0/0", 0},
		{"newest", graph.DumpFolder{Model: "ge_default_20230713074125_1", Device: -1}, "ge_default_20230713074125_1 name 0/0", 1},
		{"sub graph", graph.DumpFolder{Model: "ge_default_20230713074125_sub_0_know", Device: -1, Ops: ops("y", "nope")}, "ge_default_20230713074125_sub_0_know name 1/2", 0},
		{"npu", graph.DumpFolder{Model: "resnet_0", Device: -1}, "resnet_NPU_0 similar name 0/0", 0},
		{"npu and zero", graph.DumpFolder{Model: "ge_default_20230713074125_NPU_2", Device: -1}, "ge_default_20230713074125_2 similar name 0/0", 0},
		{"time", graph.DumpFolder{Model: "ge_default_20230713074150_2", Device: -1}, "ge_default_20230713074125_2 graph id and time 0/0", 0},
		{"operators", graph.DumpFolder{Model: "other", Device: -1, Ops: ops("p", "q", "no")}, "resnet_NPU_0 operators 2/3", 0},
		{"few operators", graph.DumpFolder{Model: "other", Device: -1, Ops: ops("p", "no", "neither")}, "", 0},
	} {
		m := graph.MatchDump(c.d, cands)
		got := ""
		if len(m) > 0 {
			got = fmt.Sprintf("%s %v %d/%d", m[0].Graph.Name, m[0].How, m[0].Found, m[0].Of)
			if m[0].File.Device != c.device {
				t.Errorf("%s: device %d, want %d", c.name, m[0].File.Device, c.device)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	om := graph.Candidate{Model: &graph.Model{Path: "dir/net.om", Source: graph.SourceOM, Graphs: []*graph.Graph{{Name: "net_NPU_7"}}}}
	if m := graph.MatchDump(graph.DumpFolder{Model: "net"}, []graph.Candidate{om}); len(m) != 1 || m[0].How != graph.MatchName {
		t.Errorf("offline model: %+v", m)
	}
}
