package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/internal/msg"
)

func readText(text string) (*result.Table, []error, error) {
	return ReadCSV(strings.NewReader(text), "x.csv")
}

// What is written can be read back, but for what csv has no room for.
func TestReadWhatIsWritten(t *testing.T) {
	cols := result.Columns{LeftAddress: true, Sequence: true, Overflow: true,
		Values: result.ColumnsOf([]metric.Metric{metric.CosineSimilarity, metric.StandardDeviation})}
	row := result.Row{Index: 3, Sequence: 9, Type: "Conv2D", Op: "a:b", Role: result.Input, Slot: 2, Shape: []int64{1, 3}, Overflow: "NO", Compared: true,
		Left: result.Operand{Names: "x,a:b"}, Right: result.Operand{Names: "*"}, Reasons: []result.Reason{result.Because(result.StorageOrder, "(3, 1)", "(1, 3)")}}
	row.Measured().Values[metric.CosineSimilarity], _ = metric.ParseValue("0.500000")
	row.Measured().Values[metric.StandardDeviation], _ = metric.ParseValue("(0.100;1.000),(0.000;2.000)")
	whole := result.Row{Index: 4, Sequence: 10, Type: "Add", Op: "s", Role: result.Whole, Slot: -1, Left: result.Operand{Names: "s"}, Right: result.Operand{Names: "t"},
		Reasons: []result.Reason{result.Because(result.NoLeftDump, "s", "Add")}}
	var b strings.Builder
	if err := WriteRows(&b, cols, []result.Row{row, whole}, nil); err != nil {
		t.Fatal(err)
	}
	table, warnings, err := readText(b.String())
	if err != nil || len(warnings) > 0 || len(table.Rows) != 2 {
		t.Fatalf("%+v %v %v", table, warnings, err)
	}
	if !slices.Equal(table.Meta.Metrics, []string{"CosineSimilarity", "StandardDeviation"}) || table.Meta.Unordered {
		t.Errorf("%+v", table.Meta)
	}
	var again strings.Builder
	if err := WriteRows(&again, cols, table.Rows, nil); err != nil {
		t.Fatal(err)
	}
	// Addresses and element types that are not known.
	if again.String() != b.String() {
		t.Errorf("became\n%s\nwas\n%s", again.String(), b.String())
	}
	r := table.Rows[0]
	if r.Op != "a:b" || r.Role != result.Input || r.Slot != 2 || !r.Inserted() || r.Facts.Order != 9 || r.Reasons[0].Kind != result.StorageOrder {
		t.Errorf("%+v", r)
	}
	if w := table.Rows[1]; w.Role != result.Whole || w.Op != "s" || w.Class() != result.NoDump {
		t.Errorf("%+v", w)
	}
}

// Tables of msaccucmp have nan where a metric was computed from NaN or Inf, and
// NaN for what was not computed. The side is that of the StandardDeviation.
func TestReadNaN(t *testing.T) {
	const header = "\ufeff\"Index\",OpType,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,MaxAbsoluteError,StandardDeviation,MaxRelativeError,CompareFailReason\n"
	for _, c := range []struct {
		row    string
		reason string
	}{
		{`nan,nan,"(nan;nan),(0.1;1.2)",nan,`, "Only the left data hold NaN or Inf."},
		{`nan,nan,"(0.1;1.2),(nan;nan)",0.000000,`, "Only the right data hold NaN or Inf."},
		{`nan,nan,"(nan;nan),(nan;nan)",0.000316,`, "Both sides hold NaN or Inf."},
		{`nan,inf,"(-inf;nan),(inf;nan)",nan,`, "Both sides hold NaN or Inf."},
		{`nan,NaN,NaN,NaN,`, "The data hold NaN or Inf."},
		{`1.000000,nan,"(nan;0.0),(1.0;0.0)",nan,This tensor is scalar.`, "This tensor is scalar.,Only the left data hold NaN or Inf."},
		{`NaN,NaN,NaN,NaN,`, ""},
		{`NaN,1.000000,"(0;0),(1;0)",1.0,zero`, "zero"},
	} {
		table, warnings, err := readText(header + "4,Op,a,b,a:output:0," + c.row + "\r\n")
		if err != nil || len(warnings) > 0 || len(table.Rows) != 1 || table.Rows[0].Index != 4 {
			t.Fatalf("%s: %+v %v %v", c.row, table, warnings, err)
		}
		if got := Sentences(msg.English, table.Rows[0].Reasons); got != c.reason {
			t.Errorf("%s: %q, want %q", c.row, got, c.reason)
		}
	}
}

// Files that are no result tables are told from empty tables.
func TestReadForeign(t *testing.T) {
	const head = "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity\n"
	for text, ok := range map[string]bool{
		"":                     false,
		"hello\nworld":         false,
		head:                   true,
		"Index,a,b\n":          false,
		head + "0,a,b,foo,1\n": false,
		"x,y\n" + head + "1,a,b,a:output:0,0.5\n": true,
		"1,a,b,a:output:0,0.5,0.1\n":              true,
	} {
		if _, _, err := readText(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	table, warnings, err := readText(head + "0,a,b,foo,0.5\n1,a,b,a:output:0,0.5\n")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "x.csv: line 2: found the tensor \"foo\"") || len(table.Rows) != 1 {
		t.Errorf("%v, %v", warnings, err)
	}
	if v := table.Rows[0].Result().Values[metric.CosineSimilarity].Float(); v != 0.5 || !table.Meta.Unordered {
		t.Errorf("cosine %g, %+v", v, table.Meta)
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, name := range []string{"result_20260102030405.csv", "old.csv", "bare.csv"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "repl", "testdata", "results", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, _, err := readText(text)
		if err != nil {
			return
		}
		for i := range table.Rows {
			r := &table.Rows[i]
			if r.Compared && r.Role == result.Whole {
				t.Errorf("values without a tensor: %+v", r)
			}
			Sentences(msg.Chinese, r.Reasons)
			for _, v := range r.Result().Values {
				_ = math.IsNaN(v.Float())
			}
		}
	})
}

// Names that the table writes escaped are read as they were.
func TestReadCSVGivesNamesBack(t *testing.T) {
	const name = "conv\x1b[31m\xff\u202e\\x41"
	var b strings.Builder
	rows := []result.Row{{Op: name, Role: result.Output, Left: result.Operand{Names: name}, Right: result.Operand{Names: name}}}
	if err := WriteRows(&b, result.Columns{Values: result.ColumnsOf([]metric.Metric{metric.CosineSimilarity})}, rows, nil); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") || !utf8.ValidString(b.String()) {
		t.Errorf("the table is %q", b.String())
	}
	table, warnings, err := ReadCSV(strings.NewReader(b.String()), "t.csv")
	if err != nil || len(warnings) > 0 || len(table.Rows) != 1 {
		t.Fatalf("%v, %v", err, warnings)
	}
	if r := table.Rows[0]; r.Op != name || r.Left.Names != name || r.Right.Names != name {
		t.Errorf("read %q, %q and %q, expected %q", r.Op, r.Left.Names, r.Right.Names, name)
	}
}

// Of many lines that cannot be used the first are told, and the rest is counted.
func TestBadLinesAreCounted(t *testing.T) {
	text := "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity\n0,a,a,a:output:0,1.0\n" +
		strings.Repeat("1,a,a,a:output,1.0\n", mostWarnings+7)
	_, warnings, err := readText(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(warnings); n != mostWarnings+1 || !strings.HasSuffix(warnings[n-1].Error(), ": 7 more warnings like these") {
		t.Errorf("%d warnings: %v", n, warnings)
	}
}

// TestDamagedLines: a line that cannot be used, or has other cells than its titles, is damage; an empty last cell may be missing.
func TestDamagedLines(t *testing.T) {
	const titles, good = "Index,NPUDump,GroundTruth,TensorIndex,Shape,CosineSimilarity,CompareFailReason\n", "0,a,a,a:output:0,\"[1,6]\",1.000000,\n"
	for line, damaged := range map[string]int{
		"1,b,b,b:output:0,\"[1,6]\",1.000000,\n":         0,
		"1,b,b,b:output:0,\"[1,6]\",1.000000\n":          0,
		"1,b,b,b:output:0,NaN,1.000000,\n":               0,
		"1,b,b,b:output:0,1.000000,\n":                   1,
		"1,b,b,bput:0,\"[1,6]\",1.000000,\n":             1,
		"1,b,b,b:output:0,\"[1,6[1,6]\",1.000000,\n":     1,
		"1,b,b,b:output:0,\"[1,6]\",1.000000,,0.1,2,3\n": 1,
	} {
		table, _, err := ReadCSV(strings.NewReader(titles+good+line), "r.csv")
		if err != nil {
			t.Fatal(line, err)
		}
		if d := table.Meta.Damaged; len(d) != damaged || damaged == 1 && (d[0].Name != "r.csv:3" || d[0].Offset != int64(len(titles+good))) {
			t.Errorf("%q: %+v", line, d)
		}
	}
}

// TestCSVOfRecordings: it can be read, and says that a verdict needs more.
func TestCSVOfRecordings(t *testing.T) {
	text := "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,Shape,Place,Paired,LeftMax,CosineSimilarity\n" +
		`0,linear,f.linear.0,float32,f.linear.0,float32,f.linear.0:input:0,"[8,16]",input.0,names,0.5,NaN` + "\n"
	table, warnings, err := ReadCSV(strings.NewReader(text), "r.csv")
	if err != nil || len(table.Rows) != 1 {
		t.Fatal(table, err)
	}
	var recorded *RecordedCSVError
	if len(warnings) != 1 || !errors.As(warnings[0], &recorded) || recorded.Path != "r.csv" {
		t.Errorf("warnings %v", warnings)
	}
}

// A csv that ends within a line was cut short, which the count of its fields need not show.
func TestCutCSV(t *testing.T) {
	const whole = "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,CompareFailReason\r\n0,a,a,a:output:0,1.000000,\r\n1,b,b,b:output:0,1.000000,\r\n"
	for _, c := range []struct {
		text    string
		damaged int
	}{{whole, 0}, {whole[:len(whole)-2], 1}, {whole[:len(whole)-10], 1}} {
		table, _, err := ReadCSV(strings.NewReader(c.text), "x.csv")
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Meta.Damaged; len(got) != c.damaged || len(got) > 0 && got[0].Offset != int64(len(c.text)) {
			t.Errorf("%q: damaged %v, expected %d", c.text, got, c.damaged)
		}
	}
}

// TestTornLines: a line of a csv that was made of two, where a block between them is lost, is none.
func TestTornLines(t *testing.T) {
	const titles = "Index,OpType,NPUDump,GroundTruth,TensorIndex,Shape,CosineSimilarity,StandardDeviation,CompareFailReason\n"
	for line, whole := range map[string]bool{
		`1,Relu,a/op6,a/op6,a/op6:output:0,"[2]",0.999000,"(0.1;0.2),(0.1;0.2)",`:                true,
		`1,Relu,a/op6,a/op6,a/op7:output:0,"[2]",0.999000,"(0.1;0.2),(0.1;0.2)",`:                false,
		`1,Relu,a/op6,a/op6,a/op6:output:0,"[2]",0.9990.999000,"(0.1;0.2),(0.1;0.2)",`:           false,
		`1,Relu,a/op6,a/op6,a/op6:output:0,"[2]",0.999000,"(0.1;0.2,0.99""(0.1;0.2),(0.1;0.2)",`: false,
	} {
		table, warnings, err := ReadCSV(strings.NewReader(titles+`0,Relu,a/op5,a/op5,a/op5:output:0,"[2]",1.000000,"(0.1;0.2),(0.1;0.2)",`+"\n"+line+"\n"), "x.csv")
		if err != nil || (len(warnings) == 0) != whole || len(table.Rows) == 2 != whole {
			t.Errorf("%s: %d rows, %v, %v", line, len(table.Rows), warnings, err)
		}
	}
}

// TestTornNumbers: a number that lost digits is one that the others of its row exclude.
func TestTornNumbers(t *testing.T) {
	const titles = "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,MaxAbsoluteError,StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError\n"
	for line, says := range map[string]string{
		`0.999000,0.300000,"(-0.076;1.146),(-0.066;1.146)",0.020000,0.030000,inf,0.100000`:   "",
		`0.999000,nan,"(nan;nan),(-0.066;1.146)",nan,nan,0.100000,0.100000`:                  "",
		`0.999000,0.300000,"(-0.076;1.146),(6;1.146)",0.020000,0.030000,0.200000,0.100000`:   "found means 6.076 apart, expected at most MeanAbsoluteError, 0.02",
		`0.999000,0.3,"(-0.076;1.146),(-0.066;1.146)",0.020000,30000,0.200000,0.100000`:      "found RootMeanSquareError 30000, expected at most MaxAbsoluteError, 0.3",
		`0.999000,0.300000,"(-0.076;1.146),(-0.066;1.146)",0.020000,0.030000,0.002,0.100000`: "found MeanRelativeError 0.1, expected at most MaxRelativeError, 0.002",
	} {
		table, warnings, err := ReadCSV(strings.NewReader(titles+"0,a,a,a:output:0,"+line+"\n1,b,b,b:output:0,1,0,,0,0,0,0\n"), "x.csv")
		if err != nil || len(table.Rows) == 2 != (says == "") || says != "" && !strings.HasSuffix(fmt.Sprint(warnings), says+"]") {
			t.Errorf("%s: %v, %v", line, warnings, err)
		}
	}
}

// TestTornNames: what the rows of an operator say of it is the same in all of them; a name, a type or an
// element type that lost letters is none.
func TestTornNames(t *testing.T) {
	const titles = "Index,OpType,NPUDump,DataType,GroundTruth,DataType,TensorIndex,Shape,CosineSimilarity\n"
	const input, output = "7,Relu,layer1/op7,float16,gold/op7,float32,layer1/op7:input:0,[2],1.000000\n", "7,Relu,layer1/op7,float16,gold/op7,float32,layer1/op7:output:0,[2],1.000000\n"
	for _, x := range []struct{ was, is, says string }{
		{"", "", ""},
		{"7,Relu,layer1", "7,Relu,1", `found the tensor "layer1/op7:output:0", expected one of "1/op7"`},
		{"gold", "g", `found the golden operator "g/op7", expected "gold/op7" as in line 2`},
		{"7,", "8,", ""}, // another group may have the same names
		{"Relu", "Rlu", `found the operator type "Rlu", expected "Relu" as in line 2`},
		{"float16", "flo16", `found the element type "flo16", expected one as in other lines`},
	} {
		table, warnings, err := ReadCSV(strings.NewReader(titles+input+strings.Replace(output, x.was, x.is, 1)), "x.csv")
		switch {
		case err != nil:
			t.Error(err)
		case x.says == "":
			if len(warnings)+len(table.Meta.Damaged) > 0 {
				t.Errorf("%s for %s: %v", x.is, x.was, warnings)
			}
		case len(warnings) != 1 || len(table.Meta.Damaged) != 1 || !strings.HasSuffix(warnings[0].Error(), "line 3: "+x.says) || table.Meta.Damaged[0].Offset != int64(len(titles+input)):
			t.Errorf("%s for %s: %v, %+v, expected %s", x.is, x.was, warnings, table.Meta.Damaged, x.says)
		}
	}
	// Another tool may have other words for all element types.
	if _, warnings, err := ReadCSV(strings.NewReader(strings.NewReplacer("float16", "half", "float32", "single").Replace(titles+input+output)), "x.csv"); err != nil || len(warnings) > 0 {
		t.Errorf("other words for types: %v, %v", warnings, err)
	}
}

// TestTornTitles: a title that lost letters is no column of somebody's own.
func TestTornTitles(t *testing.T) {
	const before, behind = "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,", ",AccumulatedRelativeError,CompareFailReason\n0,a,a,a:output:0,1.000000,0.1,0.000000,\n"
	for title, damaged := range map[string]int{"MaxAbsoluteError": 0, "MaxAbsrror": 1} {
		table, warnings, err := ReadCSV(strings.NewReader(before+title+behind), "x.csv")
		if err != nil || len(table.Meta.Damaged) != damaged || len(warnings) != damaged {
			t.Errorf("%s: %v, %v, %v", title, table.Meta.Damaged, warnings, err)
		}
	}
	const last = "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,Compareeason\n0,a,a,a:output:0,1.000000,\n"
	if table, _, err := ReadCSV(strings.NewReader(last), "x.csv"); err != nil || len(table.Meta.Damaged) != 1 {
		t.Errorf("half the title of the reasons: damaged %v, %v", table.Meta.Damaged, err)
	}
	const own = "Index,NPUDump,GroundTruth,TensorIndex,CosineSimilarity,Mine,MaxAbsoluteError,CompareFailReason\n0,a,a,a:output:0,1.000000,x,0.1,\n"
	if table, warnings, err := ReadCSV(strings.NewReader(own), "x.csv"); err != nil || len(table.Meta.Damaged)+len(warnings) > 0 {
		t.Errorf("a column of its own: %v, %v", warnings, err)
	}
}
