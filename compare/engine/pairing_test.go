package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/internal/nd"
	"precision/testdata/workshop/dumptest"
)

const sample = "../../testdata/sample"

// copyTree copies files below a folder; rename gives their new names.
func copyTree(t *testing.T, from, to string, rename func(name string) string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if rename != nil {
			rel = filepath.Join(filepath.Dir(rel), rename(filepath.Base(rel)))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// network runs a job and returns its table with the first operator that has a
// bad output, by its cosine similarity.
func network(t *testing.T, job Job) (table *result.Table, first string) {
	t.Helper()
	job.Numerics = metric.Exact
	s, err := job.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	order := -1
	for i := range out.Table.Rows {
		r := &out.Table.Rows[i]
		if r.Role != result.Output || !r.Compared || r.Inserted() || order >= 0 && r.Facts.Order >= order {
			continue
		}
		if cosine := r.Result().Values[metric.CosineSimilarity]; cosine.OK() && !(cosine.Float() >= 0.98) {
			order, first = r.Facts.Order, r.Op
		}
	}
	return out.Table, first
}

func kindsOf(reasons []result.Reason) (kinds []result.Kind) {
	for _, r := range reasons {
		kinds = append(kinds, r.Kind)
	}
	return kinds
}

// The sample network is broken in one operator.
const brokenOp = "block2/conv"

// Without a graph few operators can be paired, and the wrong one is blamed; so the
// graph that lies beside the dumps is taken, in a folder graph of the run or in
// a folder above.
func TestGraphBesideTheDumps(t *testing.T) {
	run := t.TempDir()
	copyTree(t, sample+"/npu", run+"/dump", nil)
	golden, graphFile := sample+"/golden", "ge_proto_00000001_graph_1_Build.txt"
	want, first := network(t, Job{Left: run + "/dump", Right: golden, Graph: filepath.Join(sample, graphFile)})
	if first != brokenOp {
		t.Fatalf("with the graph the first bad operator is %q", first)
	}
	blind, first := network(t, Job{Left: run + "/dump", Right: golden})
	if blind.Meta.Graph != "" || blind.Meta.Pairing.How != result.ByName || first == brokenOp {
		t.Errorf("without any graph: %+v, first bad %s", blind.Meta, first)
	}
	for _, place := range []string{run + "/graph", run + "/graph/123_0", run, run + "/dump"} {
		file := filepath.Join(place, graphFile)
		data, err := os.ReadFile(filepath.Join(sample, graphFile))
		if err == nil {
			err = os.MkdirAll(place, 0o755)
		}
		if err == nil {
			err = os.WriteFile(file, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		table, first := network(t, Job{Left: run + "/dump", Right: golden})
		m := table.Meta
		if m.Graph != file || m.GraphHow != "name" || m.Pairing.How != result.ByGraph || first != brokenOp || table.Compared() != want.Compared() {
			t.Errorf("%s: %d rows compared, first bad %s, %+v", place, table.Compared(), first, m)
		}
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
}

// The graph leads to the framework's operators, which a second run on devices
// does not have: such runs are paired by name, and the graph gives the order of
// operators and what feeds them.
func TestTwoRunsWithGraph(t *testing.T) {
	run := t.TempDir()
	copyTree(t, sample+"/npu", run, nil)
	table, first := network(t, Job{Left: sample + "/npu", Right: run, Graph: sample})
	p := table.Meta.Pairing
	if first != "" || p.How != result.ByName || p.Covered[result.ByName] <= p.Covered[result.ByGraph] || !slices.Equal(kindsOf(p.Why), []result.Kind{result.PairedByName}) {
		t.Errorf("first bad %q, %+v", first, p)
	}
	if n := table.Compared(); n != len(table.Rows) {
		t.Errorf("%d of %d rows compared", n, len(table.Rows))
	}
	known := map[string]result.Operator{}
	for _, op := range table.Ops {
		known[op.Name] = op
	}
	fed := 0
	for _, r := range table.Rows {
		op, ok := known[r.Op]
		if !ok || op.Order != r.Facts.Order {
			t.Errorf("%s is not an operator of the graph, or in another place", r.Tensor())
		}
		if r.Role == result.Input && r.Facts.Producer == op.Inputs[r.Slot] && r.Facts.Producer.Op != "" {
			fed++
		}
	}
	if fed == 0 {
		t.Error("no input knows its producer")
	}
}

var arrayTime = regexp.MustCompile(`\.(\d{16})\.npy$`)

// Of two golden recordings in one folder the newest complete one is taken, as a
// whole; the other one is told, and can be chosen.
func TestTwoGoldenRecordings(t *testing.T) {
	golden := t.TempDir()
	later := func(seconds int) func(string) string {
		return func(name string) string {
			return arrayTime.ReplaceAllStringFunc(name, func(s string) string {
				n, _ := strconv.ParseUint(s[1:17], 10, 64)
				return fmt.Sprintf(".%d.npy", n+uint64(seconds)*1000000)
			})
		}
	}
	copyTree(t, sample+"/golden", golden, later(3600))
	// The old recording is of other inputs: everything differs. It has arrays that
	// the new one lacks, too.
	entries, err := os.ReadDir(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		old := later(-3600)(e.Name())
		if err := dumptest.WriteNpy(filepath.Join(golden, old), "<f4", []int64{2}, dumptest.Floats([]float32{1, -1})); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(golden, later(3600)("x.0.1630000000000000.npy"))); err != nil {
		t.Fatal(err)
	}
	job := Job{Left: sample + "/npu", Right: golden, Graph: sample}
	table, first := network(t, job)
	side := table.Meta.Right
	if first != brokenOp || side.Recording != "1630003600000002" || !slices.Equal(side.Others, []string{"1630000000000000"}) {
		t.Errorf("first bad %s, %+v", first, side)
	}
	if why := table.Meta.Pairing.Why; len(why) != 1 || why[0].Kind != result.OtherRecordings {
		t.Errorf("%+v", why)
	}
	for _, r := range table.Rows {
		if strings.Contains(r.Right.File, ".16300000000000") {
			t.Errorf("%s is compared with an array of the other recording, %s", r.Tensor(), r.Right.File)
		}
	}
	job.RightTime = "16300000"
	table, _ = network(t, job)
	if table.Meta.Right.Recording != "1630000000000000" || table.Compared() > 2 {
		t.Errorf("%+v, %d compared", table.Meta.Right, table.Compared())
	}
	job.RightTime = "17"
	if _, err := job.Open(context.Background()); err == nil || !strings.Contains(err.Error(), "no recording of the time 17, found 1630000000000000, 1630003600000002") {
		t.Errorf("error %v", err)
	}
}

// A golden side of another batch is told once, and by its name.
func TestBatchesThatDiffer(t *testing.T) {
	for _, c := range []struct {
		left, right []int64
		want        []result.Kind
	}{
		{shape(8, 3), shape(1, 3), []result.Kind{result.BatchDiffers}},
		{shape(1, 3), shape(8, 3), []result.Kind{result.BatchDiffers}},
		{shape(8, 3), shape(5, 7), []result.Kind{result.ShapesMostly}},
		{shape(8, 3), shape(8, 3), nil},
	} {
		dir := t.TempDir()
		values := func(dims []int64) []byte {
			n, _ := nd.Count(dims...)
			return dumptest.Floats(ramp(int(n), 1))
		}
		for _, op := range []string{"a", "b", "c"} {
			d := dumptest.Dump{Outputs: []dumptest.Tensor{{Type: dumptest.Float32, Format: dumptest.ND, Shape: c.left, Data: values(c.left)}}}
			if err := os.MkdirAll(dir+"/npu", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/npu/Add."+op+".1.1.1630000000000000", d.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := dumptest.WriteNpy(dir+"/golden/"+op+".0.1630000000000000.npy", "<f4", c.right, values(c.right)); err != nil {
				t.Fatal(err)
			}
		}
		table, _ := network(t, Job{Left: dir + "/npu", Right: dir + "/golden"})
		why := table.Meta.Pairing.Why
		if !slices.Equal(kindsOf(why), c.want) {
			t.Errorf("%v against %v: %+v", c.left, c.right, why)
		}
		if len(why) == 1 && why[0].Kind == result.BatchDiffers && (why[0].Args[2] != count(c.left[0]) || why[0].Args[3] != count(c.right[0])) {
			t.Errorf("%v against %v: %+v", c.left, c.right, why)
		}
	}
}

// A graph that has next to nothing of what was dumped is that of another network: an error
// if it was named, and not taken if it only lies there.
func TestGraphOfAnotherNetwork(t *testing.T) {
	run, golden := t.TempDir(), sample+"/golden"
	copyTree(t, sample+"/npu", run+"/dump", nil)
	const graphFile = "ge_proto_00000001_graph_1_Build.txt"
	own, err := os.ReadFile(filepath.Join(sample, graphFile))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(run, "graph", graphFile)
	if err := os.Mkdir(run+"/graph", 0o755); err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^(\s*name: ")([^"]+)`)
	for _, c := range []struct {
		every int // every so many names are kept
		fits  bool
	}{{0, false}, {12, false}, {2, true}} {
		n := 0
		text := name.ReplaceAllFunc(own, func(b []byte) []byte {
			if n++; c.every > 0 && n%c.every == 0 {
				return b
			}
			return name.ReplaceAll(b, []byte("${1}other_$2"))
		})
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Job{Left: run + "/dump", Right: golden, Graph: file}.Open(context.Background())
		var strange *StrangeGraphError
		if errors.As(err, &strange) == c.fits || !c.fits && (strange.Known*ownShare >= strange.Of || strange.Of == 0) {
			t.Errorf("every %d: %v", c.every, err)
		}
		if c.every == 0 && (strange == nil || strange.Known != 0 || !strings.Contains(err.Error(), "does not belong to these dumps: 0 of ")) {
			t.Errorf("of another network: %v", err)
		}
		if c.fits {
			continue
		}
		s, err := Job{Left: run + "/dump", Right: golden}.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var left *NotTakenWarning
		if s.Graph != "" || !slices.ContainsFunc(s.Warnings, func(w error) bool { return errors.As(w, &left) }) || left.Err.Graph != file {
			t.Errorf("every %d, beside the dumps: took %q, warned %v", c.every, s.Graph, s.Warnings)
		}
	}
}
