package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
	"precision/internal/clean"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/plainfile"
)

// mostWarnings is how many lines that cannot be used are told of.
const mostWarnings = 10

// mostForeign is how many lines with an unknown element type are remembered.
const mostForeign = 1000

// OpenCSV reads a result table from a file; see [ReadCSV]. The table's time is
// that of the file.
func OpenCSV(path string) (*result.Table, []error, error) {
	f, _, err := plainfile.Open(path, "a result table")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	t, warnings, err := ReadCSV(f, path)
	if info, failed := f.Stat(); err == nil && failed == nil {
		t.Meta.Time = info.ModTime()
	}
	return t, warnings, err
}

// ReadCSV reads a result table of any generation: of this program and of
// msaccucmp.py with any options, with the titles LeftOp and RightOp of older
// tools, or without titles. path stands in errors. It holds what the csv does:
// numbers in its six decimals, no edges, no facts. Lines that cannot be used
// are dropped and returned as warnings, the first ten of them.
//
// A file none of whose lines is one of a result table is an error.
func ReadCSV(from io.Reader, path string) (*result.Table, []error, error) {
	end := &lineEnd{from: from}
	text := bufio.NewReader(end)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		text.Discard(3) // spreadsheets save with a byte order mark
	}
	r := csv.NewReader(text)
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	in := &importer{fields: noTitles, table: &result.Table{}, common: map[common]stated{}}
	var warnings []error
	rows, bad, titles, recorded := 0, 0, false, false
	broken := func(line int, at int64, err error) {
		if bad++; bad <= mostWarnings {
			warnings = append(warnings, fmt.Errorf("%s: line %d: %w", path, line, err))
		}
		in.table.Meta.Damaged = append(in.table.Meta.Damaged, result.Damage{Name: fmt.Sprintf("%s:%d", filepath.Base(path), line), File: path, Offset: at,
			Reason: result.Because(result.FileDamaged, fmt.Sprintf("%s: line %d: %v", path, line, err))})
	}
	for {
		at := r.InputOffset()
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, warnings, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if strings.TrimSpace(row[0]) == "Index" {
			if in.fields, err = findFields(row); err != nil {
				return nil, warnings, fmt.Errorf("%s: line %d: %w", path, line, err)
			}
			titles, recorded, in.columns, in.common = true, slices.Contains(row, recordedHeader[0]), len(row), map[common]stated{}
			if found, expected := lostTitle(row); expected != "" {
				broken(line, at, fmt.Errorf("found the title %q, expected %q", found, expected))
			}
			continue
		}
		rows++
		in.line, in.at, in.prefixed = line, at, recorded
		if err := in.row(row); err != nil {
			broken(line, at, err)
		}
	}
	for _, f := range in.foreign {
		if in.types {
			broken(f.line, f.at, fmt.Errorf("found the element type %q, expected one as in other lines", f.text))
		}
	}
	if bad > mostWarnings {
		warnings = append(warnings, fmt.Errorf("%s: %d more warnings like these", path, bad-mostWarnings))
	}
	if !titles && in.tensors == 0 {
		return nil, nil, &NoTableError{path, rows}
	}
	if len(warnings) > 0 && len(in.table.Rows) == 0 {
		return nil, warnings, fmt.Errorf("%s: none of its %d rows can be used", path, rows)
	}
	if recorded {
		warnings = append(warnings, &RecordedCSVError{path})
	}
	in.finish()
	if end.last != '\n' {
		in.table.Meta.Damaged = append(in.table.Meta.Damaged, result.Damage{Name: filepath.Base(path), File: path, Offset: end.size,
			Reason: result.Because(result.RecordingCut, path+": found the end of the file within a line, expected the end of the line")})
	}
	return in.table, warnings, nil
}

// lineEnd knows the last byte of what was read: all that shows that a csv was cut short.
type lineEnd struct {
	from io.Reader
	size int64
	last byte
}

func (e *lineEnd) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if n > 0 {
		e.size, e.last = e.size+int64(n), p[n-1]
	}
	return n, err
}

// NoTableError says that a csv is no result table: no line begins with Index, and no row is
// that of a tensor.
type NoTableError struct {
	Path string
	Rows int
}

func (e *NoTableError) Error() string {
	return fmt.Sprintf("%s: none of its %d rows is a tensor's and no line begins with Index, expected a result table", e.Path, e.Rows)
}

// RecordedCSVError says that a csv is of recordings: it holds their statistics for people
// to read, but not what the judge needs of them, such as in which type they were
// summed. The verdict of such a table is inconclusive where no elements were compared.
type RecordedCSVError struct{ Path string }

func (e *RecordedCSVError) Error() string {
	return e.Path + ": a csv of recordings does not hold all that their verdict rests on; compare -json FILE writes a table that does"
}

// fields are the columns of a result table; -1 is a column it does not have.
type fields struct {
	index, sequence, typ, left, right, tensor, shape, overflow, reason int
	leftType, rightType                                                int
	values                                                             []int // by metric
}

// noTitles are the columns of tables without a line of titles.
var noTitles = fields{index: 0, sequence: -1, typ: -1, left: 1, right: 2, tensor: 3, shape: -1, overflow: -1, reason: -1, leftType: -1, rightType: -1,
	values: noValues(metric.CosineSimilarity, 4, metric.MaxAbsoluteError, 5)}

// noValues are columns of metrics of which only the given ones are there.
func noValues(a metric.Metric, atA int, b metric.Metric, atB int) []int {
	list := slices.Repeat([]int{-1}, metric.Count)
	list[a], list[b] = atA, atB
	return list
}

// findFields finds columns by the titles of any generation.
func findFields(titles []string) (fields, error) {
	find := func(names ...string) int {
		for i, h := range titles {
			if slices.Contains(names, strings.TrimSpace(h)) {
				return i
			}
		}
		return -1
	}
	f := fields{
		index: find("Index"), sequence: find("OpSequence"), typ: find("OpType"),
		left: find("NPUDump", "LeftOp"), right: find("GroundTruth", "RightOp"),
		tensor: find("TensorIndex"), shape: find("Shape"), overflow: find("OverFlow"), reason: find(reasonTitle),
		leftType: -1, rightType: -1,
	}
	for i, h := range titles { // of each side, behind its operators
		switch {
		case strings.TrimSpace(h) != "DataType":
		case i > f.right && f.right >= 0:
			f.rightType = i
		case i > f.left && f.left >= 0:
			f.leftType = i
		}
	}
	for m := range metric.Metric(metric.Count) {
		f.values = append(f.values, find(m.String()))
	}
	if f.tensor < 0 || f.values[metric.CosineSimilarity] < 0 {
		return f, errors.New("no column TensorIndex or CosineSimilarity, expected a result table")
	}
	return f, nil
}

// lostTitle finds an unknown title that stands where one of the metrics is missing between its neighbours, or behind
// the last of them where that of the reasons is missing, which ends every table. Anywhere else an unknown title is a
// column of somebody's own.
func lostTitle(titles []string) (found, expected string) {
	at := func(i int) int { // -1 for what is none
		if i < 0 || i >= len(titles) {
			return -1
		}
		return slices.Index(metricNames, strings.TrimSpace(titles[i]))
	}
	for i, title := range titles {
		if before := at(i - 1); at(i) < 0 && before >= 0 && at(i+1) == before+2 {
			return title, metricNames[before+1]
		}
	}
	if last := len(titles) - 1; !slices.Contains(titles, reasonTitle) && at(last) < 0 && at(last-1) >= 0 {
		return titles[last], reasonTitle
	}
	return "", ""
}

// importer makes a table of lines.
type importer struct {
	fields
	columns  int // of titles, 0 without them
	line     int
	at       int64
	prefixed bool // the step and rank of a call stand before it, but not before what was recorded
	table    *result.Table
	tensors  int
	metrics  [metric.Count]bool
	common   map[common]stated
	// types tells that an element type was known, foreign are the lines with others.
	types   bool
	foreign []stated
}

// common is what rows of an index or of an operator have in common, and stated the line that tells it first.
type (
	common struct {
		index    int // -1 for what an operator has
		op, what string
	}
	stated struct {
		text string
		line int
		at   int64
	}
)

// fits tells whether what a row says of its operators is what its tensor says, and what other rows of
// its index and its operator do.
func (in *importer) fits(r *result.Row, index, tensor string) error {
	dump := r.Left.Names
	if tensor != "" && dump != "" && dump != "*" {
		among := func(list, one string) bool {
			list, one = strings.ReplaceAll(list, " ", ","), strings.ReplaceAll(one, " ", ",")
			return strings.Contains(","+list+",", ","+one+",")
		}
		if !among(dump, r.Op) && !(in.prefixed && strings.HasSuffix(r.Op, "/"+dump)) {
			return fmt.Errorf("found the tensor %q, expected one of %q", tensor, dump)
		}
	}
	var same []common
	if _, err := strconv.Atoi(index); err == nil {
		same = []common{{index: r.Index, what: "operator"}, {index: r.Index, what: "golden operator"}}
	}
	if tensor != "" {
		same = append(same, common{-1, r.Op, "operator type"})
	}
	for _, of := range same {
		text := map[string]string{"operator": dump, "golden operator": r.Right.Names, "operator type": r.Type}[of.what]
		was, known := in.common[of]
		if !known {
			in.common[of] = stated{text, in.line, in.at}
		} else if was.text != text {
			return fmt.Errorf("found the %s %q, expected %q as in line %d", of.what, text, was.text, was.line)
		}
	}
	return nil
}

// row adds a line.
func (in *importer) row(cells []string) error {
	if n := len(cells); in.columns > 0 && n != in.columns {
		if n > 0 && n == in.columns-1 && n == in.reason { // spreadsheets drop an empty one at the end, behind a number
			last := strings.TrimSpace(cells[n-1])
			if _, number := metric.ParseValue(last); number && last != "" {
				return in.entry(cells)
			}
		}
		return fmt.Errorf("found %d cells, expected %d as in the line of titles", n, in.columns)
	}
	return in.entry(cells)
}

// entry adds a line that has all cells.
func (in *importer) entry(cells []string) (err error) {
	defer must.Catch(&err)
	get := func(i int) string {
		if i < 0 || i >= len(cells) {
			return ""
		}
		return strings.TrimSpace(cells[i])
	}
	text := func(i int) string {
		if s := get(i); s != "NaN" {
			return strings.Clone(clean.Original(s))
		}
		return ""
	}
	r := result.Row{Role: result.Whole, Slot: -1, Type: text(in.typ), Overflow: text(in.overflow)}
	if s := get(in.overflow); s == "NaN" && in.overflow >= 0 {
		r.Overflow = s
	}
	r.Left.Names, r.Right.Names = text(in.left), text(in.right)
	r.Index, _ = strconv.Atoi(get(in.index))
	r.Sequence = int64(r.Index)
	if n, err := strconv.ParseInt(get(in.sequence), 10, 64); err == nil {
		r.Sequence = n
	}
	r.Facts.Order = int(r.Sequence)
	r.Reasons = ParseReasons(get(in.reason))
	name := get(in.tensor)
	if name != "NaN" && name != "*" && name != "" {
		op, role, slot, err := result.ParseTensor(name)
		must.Do(err)
		r.Op, r.Role, r.Slot = strings.Clone(clean.Original(op)), role, slot
		in.tensors++
	} else {
		name = ""
		r.Op, _, _ = strings.Cut(r.Left.Names, ",")
	}
	must.Do(in.fits(&r, get(in.index), name))
	if r.Shape = parseShape(get(in.shape)); r.Shape == nil && strings.HasPrefix(get(in.shape), "[") {
		return fmt.Errorf("found the shape %q, expected a list of dims", get(in.shape))
	}
	for m, at := range in.values {
		v, ok := metric.ParseValue(get(at))
		if text := get(at); !ok && strings.Trim(text, "0123456789.+-eE();,\"") == "" { // other words of other tables say why there is none
			return fmt.Errorf("found %q, expected a number", text)
		}
		if at >= 0 {
			in.metrics[m] = true
		}
		if ok && v.OK() && r.Role != result.Whole {
			r.Compared, r.Measured().Values[m] = true, v
		}
	}
	in.typed(get(in.leftType), &r, &r.Left)
	in.typed(get(in.rightType), &r, &r.Right)
	r.Facts.Scalar = r.Shape != nil && nd.Single(r.Shape)
	if r.Compared && r.Shape != nil {
		n, fits := nd.Count(r.Shape...)
		if !fits {
			n = math.MaxInt64
		}
		r.Measured().N = n
	}
	must.Do(follows(&r, get(in.values[metric.StandardDeviation])))
	blame(&r, get(in.values[metric.StandardDeviation]))
	in.table.Rows = append(in.table.Rows, r)
	return nil
}

// typed reads the element type of a side. Another tool may have other words for all of them; a word among those of
// [dtype.Type] is a damaged one.
func (in *importer) typed(text string, r *result.Row, side *result.Operand) {
	t, ok := dtype.Parse(text)
	switch {
	case ok:
		in.types = true
		if r.Shape != nil {
			side.DType, side.Shape = t, r.Shape
		}
	case text != "" && text != "NaN" && len(in.foreign) < mostForeign:
		in.foreign = append(in.foreign, stated{strings.Clone(text), in.line, in.at})
	}
}

// follows tells whether the metrics of a row can be of one tensor: no mean error is larger than the square mean, and
// that not larger than the largest error; nor are the means of the sides further apart than the mean error.
func follows(r *result.Row, deviation string) error {
	// What is printed in so many decimals, of sums of float32, may be off by that.
	const share, decimals, meanDecimals = 2e-3, 2e-6, 2e-3
	value := func(m metric.Metric) (float64, bool) {
		v := r.Result().Values[m]
		return v.Float(), v.OK() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0)
	}
	for _, x := range [...][2]metric.Metric{{metric.MeanAbsoluteError, metric.RootMeanSquareError}, {metric.RootMeanSquareError, metric.MaxAbsoluteError},
		{metric.MeanAbsoluteError, metric.MaxAbsoluteError}, {metric.MeanRelativeError, metric.MaxRelativeError}} {
		less, known := value(x[0])
		more, both := value(x[1])
		if known && both && !(less <= more*(1+share)+decimals) {
			return fmt.Errorf("found %s %g, expected at most %s, %g", x[0], less, x[1], more)
		}
	}
	left, right, ok := means(deviation)
	mean, known := value(metric.MeanAbsoluteError)
	if apart := math.Abs(left - right); ok && known && apart > mean*(1+share)+meanDecimals+share*max(math.Abs(left), math.Abs(right)) {
		return fmt.Errorf("found means %g apart, expected at most %s, %g", apart, metric.MeanAbsoluteError, mean)
	}
	return nil
}

// means are those of both sides in a cell StandardDeviation, where they are finite.
func means(deviation string) (left, right float64, ok bool) {
	a, b, _ := strings.Cut(deviation, "),(")
	a, _, one := strings.Cut(strings.TrimPrefix(a, "("), ";")
	b, _, two := strings.Cut(b, ";")
	left, err := strconv.ParseFloat(a, 64)
	right, err2 := strconv.ParseFloat(b, 64)
	return left, right, one && two && err == nil && err2 == nil && !math.IsInf(left, 0) && !math.IsInf(right, 0) && !math.IsNaN(left-right)
}

// blame tells on which side the NaN or Inf of a tensor are, from its cell
// StandardDeviation: (mean;deviation),(mean;deviation) of left and right. In
// tables of msaccucmp.py nan is computed from them, where NaN stands for what
// was not computed.
func blame(r *result.Row, deviation string) {
	computed := func(m metric.Metric) bool { v := r.Result().Values[m]; return v.OK() && math.IsNaN(v.Float()) }
	if !computed(metric.CosineSimilarity) && !computed(metric.MaxAbsoluteError) {
		return
	}
	left, right, known := strings.Cut(strings.ToLower(deviation), "),(")
	finite := func(s string) bool { return !strings.Contains(s, "nan") && !strings.Contains(s, "inf") }
	kind := result.NonFinite
	switch {
	case !known || finite(left) && finite(right):
	case finite(right):
		kind = result.LeftNonFinite
	case finite(left):
		kind = result.RightNonFinite
	default:
		kind = result.BothNonFinite
	}
	r.Add(result.Because(kind))
}

// finish fills in what is known of the whole table.
func (in *importer) finish() {
	t := in.table
	for m, has := range in.metrics {
		if has {
			t.Meta.Metrics = append(t.Meta.Metrics, metric.Metric(m).String())
		}
	}
	t.Meta.Unordered = in.sequence < 0
	t.Meta.Imported = true
}

// parseShape reads the cell Shape, [1,3,224,224].
func parseShape(s string) []int64 {
	s, open := strings.CutPrefix(s, "[")
	s, closed := strings.CutSuffix(s, "]")
	if !open || !closed {
		return nil
	}
	dims := []int64{}
	if s == "" {
		return dims
	}
	for _, d := range strings.Split(s, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(d), 10, 64)
		if err != nil || n < 0 {
			return nil
		}
		dims = append(dims, n)
	}
	return dims
}
