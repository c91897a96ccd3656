package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sampleGraph = sample + "/ge_proto_00000001_graph_1_Build.txt"

func precision(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(context.Background(), env{stdout: &o, stderr: &e}, args)
	return code, o.String(), e.String()
}

func fusionResult(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fusion_result.json")
	text := `[{"session_and_graph_id": "0_1", "graph_fusion": {"DemoFusionPass": {"match_times": "3", "effect_times": "2"}}}]`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGraphQueries(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{sampleGraph}, []string{"33 operators", "Conv2D 4", "DT_FLOAT16"}},
		{[]string{sampleGraph, "-ls"}, []string{"     4  Conv2D"}},
		{[]string{"-type", "Conv2D", sampleGraph}, []string{"[Conv2D][] block2/conv", "4 operators"}},
		{[]string{sampleGraph, "-name", "block1", "-type", "Add"}, []string{"block1/shift", "1 operator"}},
		{[]string{sampleGraph, "-op", "block2/conv"}, []string{"[Conv2D] block2/conv", "l1_conv_1:0", "volume:0"}},
		{[]string{sampleGraph, "-op", "l1_conv"}, []string{"Possible operators", "l1_conv_0", "l1_conv_1"}},
		{[]string{sampleGraph, "-diff", sampleGraph}, []string{"do not differ"}},
		{[]string{"-fusion", fusionResult(t)}, []string{"DemoFusionPass", "2"}},
	} {
		code, out, stderr := precision(t, append([]string{"graph"}, c.args...)...)
		if code != exitOK {
			t.Errorf("%v: exit %d: %s", c.args, code, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

// The JSON we write must lead to the very table that the text leads to.
func TestGraphJSONComparesAlike(t *testing.T) {
	dir := t.TempDir()
	asJSON := filepath.Join(dir, "graph.json")
	if code, _, stderr := precision(t, "graph", sampleGraph, "-json", asJSON); code != exitOK {
		t.Fatal(stderr)
	}
	byAtc := filepath.Join(dir, "atc.json")
	if code, _, stderr := precision(t, "atc", "--mode=5", "--om="+sampleGraph, "--json", byAtc); code != exitOK {
		t.Fatal(stderr)
	}
	a, _ := os.ReadFile(asJSON)
	b, _ := os.ReadFile(byAtc)
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("graph -json and atc write different files")
	}
	table := func(graph string) string {
		out := t.TempDir()
		if code, _, stderr := precision(t, "compare", "-lt", sample+"/npu", "-rt", sample+"/golden", "-g", graph, "-out", out); code != exitOK {
			t.Fatal(stderr)
		}
		files, _ := filepath.Glob(out + "/*.csv")
		text, _ := os.ReadFile(files[0])
		return string(text)
	}
	if text, fromJSON := table(sampleGraph), table(asJSON); text != fromJSON {
		t.Error("the JSON leads to another table than the text")
	}
}

func TestGraphFolder(t *testing.T) {
	code, out, stderr := precision(t, "compare", "-lt", sample+"/npu", "-rt", sample+"/golden", "-g", sample, "-out", t.TempDir())
	if code != exitOK || !strings.Contains(out, "ge_proto_00000001_graph_1_Build.txt") || !strings.Contains(out, "block2/conv") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if code, _, stderr := precision(t, "compare", "-lt", sample+"/npu", "-rt", sample+"/golden", "-g", t.TempDir(), "-out", t.TempDir()); code != exitError || stderr == "" {
		t.Errorf("an empty folder of graphs: exit %d: %s", code, stderr)
	}
}

func TestGraphDrawing(t *testing.T) {
	dir := t.TempDir()
	_, _, _, table := compareSample(t)
	result := filepath.Join(dir, "result.csv")
	if err := os.WriteFile(result, []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	svg, dot := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.dot")
	if code, _, stderr := precision(t, "graph", sampleGraph, "-svg", svg, "-dot", dot, "-root", "block2/conv", "-depth", "1", "-result", result); code != exitOK {
		t.Fatal(stderr)
	}
	picture, _ := os.ReadFile(svg)
	for _, want := range []string{"block2/conv", "l1_conv_1", "volume", "CosineSimilarity"} {
		if !strings.Contains(string(picture), want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	if strings.Contains(string(picture), "softmax") {
		t.Error("the picture reaches further than one step")
	}
	for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	if text, _ := os.ReadFile(dot); !strings.HasPrefix(string(text), "digraph") {
		t.Errorf("dot begins %.40q", text)
	}
}

func TestGraphErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"graph": [`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"graph"}, "expected one"},
		{[]string{"graph", "a", "b"}, "2 files"},
		{[]string{"graph", "nowhere"}, "nowhere"},
		{[]string{"graph", bad}, "bad.json"},
		{[]string{"graph", sampleGraph, "-op", "zebra"}, "zebra"},
		{[]string{"graph", sampleGraph, "-svg", "x.svg", "-root", "conv"}, "choose one with -root"},
		{[]string{"graph", sampleGraph, "-svg", "x.svg", "-root", "fc", "-result", sampleGraph}, "expected a result table"},
		{[]string{"atc", "--mode=6", "--om=x", "--json=y"}, "expected 1"},
		{[]string{"atc", "--mode=1", "--om=" + sampleGraph, "--json=y"}, "expects om"},
		{[]string{"atc", "--mode=5", "--json=y"}, "both are needed"},
		{[]string{"atc", "--soc=x"}, "only --mode"},
	} {
		code, _, stderr := precision(t, c.args...)
		if code != exitError || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %q, want %q in it", c.args, code, stderr, c.want)
		}
	}
}

// TestNoGraphInText: a text of nothing but comments is no graph.
func TestNoGraphInText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("# precision\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := precision(t, "graph", path); code != exitError || stdout != "" || !strings.Contains(stderr, "is not a GE graph") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
