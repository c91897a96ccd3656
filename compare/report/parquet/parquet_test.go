package parquet

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"precision/compare/metric"
	"precision/compare/oracle"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
)

// opened is a file read back.
type opened struct {
	*pq.File
	columns map[string]int // leaves by the name of the column
	rows    []pq.Row
}

func open(t *testing.T, data []byte) *opened {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{File: f, columns: map[string]int{}}
	for i, path := range f.Schema().Columns() {
		o.columns[path[0]] = i
	}
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		for {
			buffer := make([]pq.Row, 64)
			n, err := rows.ReadRows(buffer)
			for _, r := range buffer[:n] {
				o.rows = append(o.rows, r.Clone())
			}
			if err != nil {
				break
			}
		}
		rows.Close()
	}
	return o
}

// at are the values of a column in a row; of a null none.
func (o *opened) at(t *testing.T, row int, name string) (list []pq.Value) {
	t.Helper()
	column, ok := o.columns[name]
	if !ok {
		t.Fatalf("no column %s", name)
	}
	for _, v := range o.rows[row] {
		if v.Column() == column && !v.IsNull() {
			list = append(list, v)
		}
	}
	return list
}

func (o *opened) text(t *testing.T, row int, name string) string {
	t.Helper()
	var list []string
	for _, v := range o.at(t, row, name) {
		list = append(list, v.String())
	}
	return strings.Join(list, ",")
}

// valued is a row that was compared, with one metric of that value.
func valued(op string, m metric.Metric, numbers ...float64) result.Row {
	r := result.Row{Op: op, Type: "Add", Compared: true, Shape: []int64{2, 3}}
	r.Left = result.Operand{Names: op, DType: dtype.Float16, Shape: []int64{2, 3}}
	r.Right = r.Left
	r.Measured().Values[m], _ = metric.ValueOf(numbers...)
	r.Metrics.Facts = metric.Facts{Known: true, N: 6, Finite: 6, Differ: 1, MaxAbs: 1, Cosine: numbers[0], Distance: 1}
	return r
}

func written(t *testing.T, rows ...result.Row) *opened {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, verdict.Judge(&result.Table{Rows: rows}, verdict.Options{})); err != nil {
		t.Fatal(err)
	}
	return open(t, b.Bytes())
}

// What was computed and is NaN is not what was not computed.
func TestNaNIsNotNull(t *testing.T) {
	missing := result.Row{Op: "d", Type: "Add", Reasons: []result.Reason{result.Because(result.Text, "no file")}}
	o := written(t, valued("a", metric.CosineSimilarity, 0.5), valued("b", metric.CosineSimilarity, math.NaN()), valued("c", metric.CosineSimilarity, math.Inf(-1)), missing)
	for row, want := range []string{"0.5", "NaN", "-Inf", ""} {
		if got := o.text(t, row, "CosineSimilarity"); got != want {
			t.Errorf("row %d: cosine %q, expected %q", row, got, want)
		}
		if got := o.text(t, row, "MaxAbsoluteError"); got != "" {
			t.Errorf("row %d: the largest error was not computed, found %q", row, got)
		}
	}
	if got := o.text(t, 3, "reason"); got != "no file" {
		t.Errorf("reason %q", got)
	}
	if a, d := o.text(t, 0, "shape"), o.text(t, 3, "shape"); a != "2,3" || d != "" {
		t.Errorf("shapes %q and %q, expected 2,3 and none", a, d)
	}
	if a, d := o.text(t, 0, "verdict"), o.text(t, 3, "verdict"); a != "bad" || d != "uncompared" {
		t.Errorf("verdicts %q and %q, expected bad and uncompared", a, d)
	}
	if got := o.text(t, 0, "causes"); got != "cosine,distance" {
		t.Errorf("causes %q, expected cosine,distance", got)
	}
}

// A scalar has a shape of no numbers, which is not no shape.
func TestScalarShape(t *testing.T) {
	r := valued("a", metric.CosineSimilarity, 1)
	r.Shape = []int64{}
	for _, row := range []struct {
		row  result.Row
		want int
	}{{r, 1}, {result.Row{Op: "a"}, 0}} {
		o := written(t, row.row)
		for _, v := range o.rows[0] {
			if v.Column() == o.columns["shape"] && v.DefinitionLevel() != row.want {
				t.Errorf("shape %v: definition level %d, expected %d", row.row.Shape, v.DefinitionLevel(), row.want)
			}
		}
	}
}

// Every metric of the registry has its column, of doubles; columns have the order of the table here.
func TestColumns(t *testing.T) {
	o := written(t)
	if len(o.rows) != 0 {
		t.Fatalf("%d rows of none", len(o.rows))
	}
	var names []string
	for _, f := range o.Schema().Fields() {
		names = append(names, f.Name())
	}
	var want []string
	for _, c := range columns() {
		want = append(want, c.name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("columns %v, expected %v", names, want)
	}
	lower := map[string]bool{}
	for _, n := range names {
		if l := strings.ToLower(n); lower[l] {
			t.Errorf("column %s twice for those who do not tell case", n)
		} else {
			lower[l] = true
		}
	}
	for m := range metric.Metric(metric.Count) {
		i, ok := o.columns[m.String()]
		if !ok || o.Schema().Columns()[i] == nil {
			t.Errorf("no column %s", m)
			continue
		}
		if leaf, _ := o.Schema().Lookup(m.String()); leaf.Node.Type().Kind() != pq.Double {
			t.Errorf("column %s is of %s", m, leaf.Node.Type())
		}
	}
}

// The manual names every column.
func TestDocs(t *testing.T) {
	names := []string{}
	for _, c := range columns() {
		names = append(names, c.name)
	}
	for _, c := range checkColumns(nil) {
		names = append(names, c.name)
	}
	for _, path := range []string{"../../../docs/parquet.md", "../../../docs/zh/parquet.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if side, of := strings.CutPrefix(name, "right_"); of && strings.Contains(string(text), "`left_"+side+"`") {
				continue
			}
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s does not name the column %s", path, name)
			}
		}
	}
}

// The same table gives the same bytes.
func TestSameBytes(t *testing.T) {
	var before []byte
	for range 8 {
		var b bytes.Buffer
		if err := Write(&b, verdict.Judge(&result.Table{Rows: []result.Row{valued("a", metric.CosineSimilarity, 0.5)}}, verdict.Options{})); err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, b.Bytes()) {
			t.Fatal("the same table gave other bytes")
		}
		before = b.Bytes()
	}
}

func TestFourNumbers(t *testing.T) {
	o := written(t, valued("a", metric.StandardDeviation, 1, 2, 3, 4))
	for name, want := range map[string]string{"StandardDeviationMean": "1", "StandardDeviation": "2", "StandardDeviationRightMean": "3", "StandardDeviationRight": "4"} {
		if got := o.text(t, 0, name); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// Of a large table no more is held than a group of rows.
func TestRowGroups(t *testing.T) {
	rows := make([]result.Row, 2*rowsPerGroup+3)
	for i := range rows {
		rows[i] = result.Row{Op: fmt.Sprint("op", i), Slot: i % 3}
	}
	var b bytes.Buffer
	table := NewTable(&b)
	if err := table.Add(&verdict.Judged{Table: &result.Table{Rows: rows}}, 2, 7); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	o := open(t, b.Bytes())
	for i, g := range o.RowGroups() {
		if g.NumRows() > rowsPerGroup {
			t.Errorf("group %d has %d rows, at most %d", i, g.NumRows(), rowsPerGroup)
		}
	}
	if len(o.rows) != len(rows) {
		t.Fatalf("%d rows, expected %d", len(o.rows), len(rows))
	}
	for _, i := range []int{0, rowsPerGroup, len(rows) - 1} {
		if got, want := o.text(t, i, "op")+o.text(t, i, "step")+o.text(t, i, "rank"), fmt.Sprintf("op%d27", i); got != want {
			t.Errorf("row %d: %s, expected %s", i, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	nan := math.NaN()
	findings := []oracle.Finding{
		{Op: "a", Type: "Relu", Rank: -1, Verdict: oracle.Wrong, Ratio: math.Inf(1), Worst: []int64{1, 0}, Expected: 2, Found: nan, Bound: 0, Shape: []int64{2, 2}, Elements: 4, Looked: 4, Beyond: 1, Largest: nan},
		{Op: "b", Type: "Sort", Rank: 3, Verdict: oracle.Unknown, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan, Reasons: []result.Reason{result.Because("x")}},
	}
	var b bytes.Buffer
	if err := WriteCheck(&b, findings, "bad", func(r result.Reason) string { return "why " + string(r.Kind) }); err != nil {
		t.Fatal(err)
	}
	o := open(t, b.Bytes())
	for i, want := range []map[string]string{
		{"rank": "", "op": "a", "verdict": "wrong", "ratio": "+Inf", "place": "1,0", "expected": "2", "found": "NaN", "shape": "2,2", "reason": ""},
		{"rank": "3", "op": "b", "verdict": "unknown", "ratio": "", "place": "", "expected": "", "found": "", "shape": "", "reason": "why x"},
	} {
		for name, text := range want {
			if got := o.text(t, i, name); got != text {
				t.Errorf("row %d: %s is %q, expected %q", i, name, got, text)
			}
		}
	}
}

// readers counts rows, nulls, NaN and types as four libraries see them.
const readers = `
import sys, math
path, empty = sys.argv[1:]
import pyarrow.parquet, pandas, duckdb, polars
t = pyarrow.parquet.read_table(path)
c = t.column("CosineSimilarity")
assert str(c.type) == "double" and c.null_count == 1, c
assert [v is None or math.isnan(v) for v in c.to_pylist()] == [False, True, False, True], c
assert t.column("shape").to_pylist() == [[2, 3]] * 3 + [None], t.column("shape")
d = pandas.read_parquet(path, dtype_backend="pyarrow")
assert d["CosineSimilarity"].isna().sum() >= 1 and d["op"].tolist() == ["a", "b", "c", "d"], d
row = duckdb.sql(f"select count(*), count(CosineSimilarity), sum(isnan(CosineSimilarity)::int) from '{path}'").fetchall()[0]
assert tuple(map(int, row)) == (4, 3, 1), row
p = polars.read_parquet(path)
assert p["CosineSimilarity"].null_count() == 1 and p["CosineSimilarity"].is_nan().sum() == 1, p
for n in (pyarrow.parquet.read_table(empty).num_columns, len(pandas.read_parquet(empty).columns), len(duckdb.sql(f"select * from '{empty}'").columns), len(polars.read_parquet(empty).columns)):
    assert n == t.num_columns, n
`

// The libraries people read it with agree. Without a Python that has them, PYTHON or python3, nothing is tested.
func TestReaders(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import pyarrow.parquet, pandas, duckdb, polars").Run(); err != nil {
		t.Skip("there is no Python with pyarrow, pandas, duckdb and polars")
	}
	dir := t.TempDir()
	path, empty := filepath.Join(dir, "some.parquet"), filepath.Join(dir, "none.parquet")
	for name, rows := range map[string][]result.Row{
		path:  {valued("a", metric.CosineSimilarity, 0.5), valued("b", metric.CosineSimilarity, math.NaN()), valued("c", metric.CosineSimilarity, 1), {Op: "d"}},
		empty: nil,
	} {
		var b bytes.Buffer
		if err := Write(&b, verdict.Judge(&result.Table{Rows: rows}, verdict.Options{})); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(python, "-c", readers, path, empty).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
