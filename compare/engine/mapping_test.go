package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/dump"
	"precision/graph/fusion"
	"precision/testdata/workshop/recorded"
)

// recordedSides lays out a recorded case, makes its folder the current one and
// opens the sides as its command lines name them.
func recordedSides(t *testing.T, name string, rules bool) (*recorded.Case, Folders) {
	t.Helper()
	cases, err := recorded.Load("../../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Name != name {
			continue
		}
		work := t.TempDir()
		if err := c.Copy(work); err != nil {
			t.Fatal(err)
		}
		t.Chdir(work)
		opt := Folders{Options: Options{Numerics: metric.Reference}}
		if opt.Left, err = dump.Scan("in/npu", dump.Options{Rules: rules}); err != nil {
			t.Fatal(err)
		}
		if opt.Right, err = dump.Scan("in/golden", dump.Options{Rules: rules}); err != nil {
			t.Fatal(err)
		}
		if rules {
			if opt.Rules, err = openRules("in/graph.json"); err != nil {
				t.Fatal(err)
			}
		}
		return c, opt
	}
	t.Fatalf("no recorded case %s", name)
	return nil, Folders{}
}

// checkRun compares what a run left in the current folder with its recording.
func checkRun(t *testing.T, c *recorded.Case, id string, code int, before map[string]string) {
	t.Helper()
	for _, r := range c.Runs {
		if r.ID != id {
			continue
		}
		want, err := c.Expected(r)
		if err != nil {
			t.Fatal(err)
		}
		after, err := recorded.Tree(".")
		if err != nil {
			t.Fatal(err)
		}
		work, err := filepath.Abs(".")
		if err != nil {
			t.Fatal(err)
		}
		if err := want.Check(code, before, after, work); err != nil {
			t.Errorf("%s/%s: %v", c.Name, id, err)
		}
		return
	}
	t.Fatalf("%s has no run %s", c.Name, id)
}

func tree(t *testing.T) map[string]string {
	t.Helper()
	files, err := recorded.Tree(".")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestMappingRecorded(t *testing.T) {
	for _, c := range []struct{ name, run string }{{"map_table", "main"}, {"real_graph_nms", "map"}} {
		t.Run(c.name, func(t *testing.T) {
			recordedCase, opt := recordedSides(t, c.name, true)
			before := tree(t)
			rows, err := Mapping(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := report.WriteMapping(&b, rows, false); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir("out", 0o700); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			if err := os.WriteFile("out/mapping_20260101000000.csv", b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			checkRun(t, recordedCase, c.run, 0, before)
		})
	}
}

func TestMappingHonoursTheSelection(t *testing.T) {
	_, opt := recordedSides(t, "map_table", true)
	all, err := Mapping(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1].Index
	opt.Only = func(g *fusion.Group) bool { return g.Index == last }
	some, err := Mapping(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	var want []result.MappingRow
	for _, r := range all {
		if r.Index == last {
			want = append(want, r)
		}
	}
	if len(some) != len(want) || len(some) == len(all) || some[0] != want[0] {
		t.Errorf("%d rows of %d, want %d", len(some), len(all), len(want))
	}
	var b bytes.Buffer
	if err := report.WriteMapping(&b, some, true); err != nil {
		t.Fatal(err)
	}
	if head, _, _ := strings.Cut(b.String(), "\r\n"); head != "Index,OpSequence,OpType,NPUDump,GroundTruth,TensorIndex,NPUDumpPath,GroundTruthPath" {
		t.Errorf("header %q", head)
	}
}

func TestMappingNeedsAGraph(t *testing.T) {
	_, opt := recordedSides(t, "map_table", true)
	opt.Rules = nil
	_, err := Mapping(context.Background(), opt)
	var coded *Error
	if !errors.As(err, &coded) || coded.Fault != FaultOption {
		t.Errorf("%v", err)
	}
}

// Names come from the network: none may act in a spreadsheet.
func TestWriteMappingNeutralises(t *testing.T) {
	var b bytes.Buffer
	if err := report.WriteMapping(&b, []result.MappingRow{{Index: 1, Type: "@T", Left: "=a,b", Right: "+c", Tensor: "=a:output:0", LeftPath: "/x/a b"}}, false); err != nil {
		t.Fatal(err)
	}
	want := "1,\" @T\",\" =a,b\",\" +c\",\" =a:output:0\",/x/a b,NaN\r\n"
	if _, body, _ := strings.Cut(b.String(), "\r\n"); body != want {
		t.Errorf("%q, want %q", body, want)
	}
}
