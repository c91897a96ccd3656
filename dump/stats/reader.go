package stats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/plainfile"
)

// File is the name that ATB and MindSpore give their table.
const File = "statistic.csv"

// Row is a line: what the table says of one tensor. Texts that the table does not
// have are empty.
type Row struct {
	// OpType and OpName are the operator's, OpID is ATB's path of numbers, 2_0.
	OpType, OpName, OpID string
	Task, Stream, Time   string
	// Output tells outputs from inputs, Slot is the tensor's number among them.
	Output bool
	Slot   string
	// DType is the type as the table has it, Elem what it means if it is Known.
	DType string
	Elem  dtype.Type
	Known bool
	// Shape is nil where it is not told.
	Shape []int64
	// The statistics; Absent without a column, Null for what was not computed.
	Max, Min, Mean, Norm, Sum msprobe.Number
	// Path is where the elements were written when they were recorded.
	Path string
	// Text is the line itself: it takes less room than what it says, which
	// [Reader.Parse] gives again.
	Text string
}

// A LineError tells of a line that cannot be read. The lines behind it can.
type LineError struct {
	File            string
	Line            int
	Found, Expected string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s: line %d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

// Pos is the file; of a line no offset is kept.
func (e *LineError) Pos() (file string, offset int64) { return e.File, -1 }

// Column is what a column of a table says.
type Column int

// The columns.
const (
	ColOpType Column = iota
	ColOpName
	ColOpID
	ColTask
	ColStream
	ColTime
	ColIO
	ColSlot
	ColDType
	ColFormat
	ColShape
	ColMax
	ColMin
	ColMean
	ColNorm
	ColSum
	ColPath
	ColNaN
	ColNegInf
	ColPosInf
	columns
)

// names leads from the heading of a column, without blanks and capitals, to it.
var names = map[string]Column{
	"optype": ColOpType, "opname": ColOpName, "opid": ColOpID, "taskid": ColTask, "streamid": ColStream, "timestamp": ColTime,
	"io": ColIO, "input/output": ColIO, "slot": ColSlot, "index": ColSlot, "datatype": ColDType, "dtype": ColDType, "format": ColFormat,
	"shape": ColShape, "maxvalue": ColMax, "max": ColMax, "minvalue": ColMin, "min": ColMin, "avgvalue": ColMean, "meanvalue": ColMean,
	"avg": ColMean, "mean": ColMean, "l2normvalue": ColNorm, "l2norm": ColNorm, "norm": ColNorm, "md5": ColSum, "md5value": ColSum,
	"tensorpath": ColPath, "nancount": ColNaN, "negativeinfcount": ColNegInf, "positiveinfcount": ColPosInf,
}

// Columns are the places of the columns that headings name; of two of one name the first one.
func Columns(headings []string) map[Column]int {
	at := map[Column]int{}
	for i, h := range slices.Backward(headings) {
		if c, ok := names[strings.ToLower(strings.NewReplacer(" ", "", "_", "").Replace(h))]; ok {
			at[c] = i
		}
	}
	return at
}

// Limits of a line. Real ones have some hundred bytes.
const (
	maxLine   = 1 << 16
	maxFields = 256
)

// Reader reads a table line by line, with one line in memory.
type Reader struct {
	in     *bufio.Reader
	name   string
	line   int
	header string
	at     [columns]int // field of a column, -1 without
	fields []string
	types  map[string]elem
	// fixed, loose and digits tell how numbers with decimals are written: how many
	// have six decimals, how many have not, and the most digits one has.
	fixed, loose, digits int
}

type elem struct {
	typ   dtype.Type
	known bool
}

// NewReader reads the headings of a table; name is for messages. It is an error if
// these are not those of a table of tensors.
func NewReader(in io.Reader, name string) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, maxLine), name: name, types: map[string]elem{}}
	text, err := r.text()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = &LineError{name, 1, "an empty file", "the headings of a table of statistics"}
		}
		return nil, err
	}
	r.header = text
	for i := range r.at {
		r.at[i] = -1
	}
	for c, i := range Columns(r.split(strings.TrimPrefix(text, "\ufeff"))) {
		r.at[c] = i
	}
	for _, c := range []Column{ColIO, ColSlot, ColDType, ColShape} {
		if r.at[c] < 0 {
			return nil, &LineError{name, 1, fmt.Sprintf("the headings %.200q", text), "those of inputs and outputs, index, type and shape"}
		}
	}
	return r, nil
}

// Next is the next line; io.EOF at the end. After a *LineError the reader goes on
// behind the line.
func (r *Reader) Next() (*Row, error) {
	for {
		text, err := r.text()
		if err != nil {
			return nil, err
		}
		if text == "" || text == r.header { // writers that share a file repeat the headings
			continue
		}
		return r.Parse(text)
	}
}

// text is a line without its end.
func (r *Reader) text() (string, error) {
	r.line++
	b, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.in.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = &LineError{r.name, r.line, fmt.Sprintf("more than %d bytes", maxLine), "a line of a table"}
		}
		return "", err
	}
	if err != nil && (len(b) == 0 || !errors.Is(err, io.EOF)) {
		return "", err
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// split cuts a line at its commas, those in quotes aside. Quotes end with the line.
func (r *Reader) split(text string) []string {
	r.fields = r.fields[:0]
	for len(r.fields) < maxFields {
		field, rest, more := text, "", false
		if strings.HasPrefix(text, `"`) {
			if end := strings.IndexByte(text[1:], '"'); end >= 0 {
				field, rest = text[1:end+1], text[end+2:]
				if rest, more = strings.CutPrefix(rest, ","); !more {
					rest = ""
				}
				r.fields = append(r.fields, strings.TrimSpace(field))
				if !more {
					break
				}
				text = rest
				continue
			}
		}
		field, rest, more = strings.Cut(text, ",")
		r.fields = append(r.fields, strings.TrimSpace(field))
		if !more {
			break
		}
		text = rest
	}
	return r.fields
}

// Again reads a line that was read before; nil if it is empty, or none of the table.
func (r *Reader) Again(text string) *Row {
	if text == "" {
		return nil
	}
	row, err := r.Parse(text)
	if err != nil {
		return nil
	}
	return row
}

// Parse reads a line that Next gave. Lines of a table that was read to its end, and
// closed, can be read, too.
func (r *Reader) Parse(text string) (*Row, error) {
	fields := r.split(text)
	bad := func(found, expected string) error { return &LineError{r.name, r.line, found, expected} }
	need := 0
	for _, at := range r.at {
		need = max(need, at+1)
	}
	if len(fields) < need {
		return nil, bad(fmt.Sprintf("%d fields", len(fields)), fmt.Sprintf("at least %d", need))
	}
	field := func(c Column) string {
		if r.at[c] < 0 || r.at[c] >= len(fields) {
			return ""
		}
		return fields[r.at[c]]
	}
	row := &Row{Text: text, OpType: field(ColOpType), OpName: field(ColOpName), OpID: field(ColOpID), Task: field(ColTask), Stream: field(ColStream),
		Time: field(ColTime), Slot: field(ColSlot), DType: field(ColDType), Path: field(ColPath)}
	if missing(row.Path) {
		row.Path = ""
	}
	switch io := field(ColIO); {
	case strings.EqualFold(io, "output"):
		row.Output = true
	case !strings.EqualFold(io, "input"):
		return nil, bad(fmt.Sprintf("%.40q", io), "input or output")
	}
	if _, ok := dump.Small(row.Slot); !ok {
		return nil, bad(fmt.Sprintf("the index %.40q", row.Slot), "a number")
	}
	var ok bool
	if row.Shape, ok = shape(field(ColShape)); !ok {
		return nil, bad(fmt.Sprintf("the shape %.40q", field(ColShape)), "numbers, as 2x3 or (2, 3)")
	}
	for _, x := range []struct {
		column Column
		to     *msprobe.Number
	}{{ColMax, &row.Max}, {ColMin, &row.Min}, {ColMean, &row.Mean}, {ColNorm, &row.Norm}} {
		if r.at[x.column] < 0 {
			continue
		}
		if *x.to, ok = value(field(x.column)); !ok {
			return nil, bad(fmt.Sprintf("%.40q", field(x.column)), "a number")
		}
		r.written(field(x.column))
	}
	if s := field(ColSum); s != "" && !missing(s) {
		row.Sum = msprobe.Number{Kind: msprobe.Text, S: s}
	}
	e, known := r.types[row.DType]
	if !known {
		e.typ, e.known = typeOf(row.DType)
		if len(r.types) < 1<<10 {
			r.types[row.DType] = e
		}
	}
	row.Elem, row.Known = e.typ, e.known
	for _, n := range []msprobe.Number{row.Max, row.Min, row.Mean, row.Norm} {
		if n.Kind == msprobe.Bool && e.known && !e.typ.IsBool() {
			return nil, bad("the statistic "+n.String()+" of a tensor of "+row.DType, "a number")
		}
	}
	row.extremes(field(ColNaN), field(ColNegInf), field(ColPosInf))
	return row, nil
}

// Open opens a table. The caller closes the file.
func Open(path string) (*Reader, io.Closer, error) {
	f, _, err := plainfile.Open(path, "a table of statistics")
	if err != nil {
		return nil, nil, err
	}
	r, err := NewReader(f, path)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, f, nil
}

// Table reads the table at path from front to back, if there is one: row takes each line, and remark what cannot be
// read of it. The reader can read lines again.
func Table(path string, row func(*Row) error, remark func(error)) (*Reader, error) {
	in, f, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		line, err := in.Next()
		if err == nil {
			err = row(line)
		} else if bad := (*LineError)(nil); !errors.As(err, &bad) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return in, err
		}
		if err != nil {
			remark(err)
		}
	}
}

// Is tells whether a file is a table of statistics, by its headings, and of what
// sort it is.
func Is(path string) (merged, tree, ok bool) {
	if !plainfile.IsFile(path) {
		return false, false, false
	}
	r, f, err := Open(path)
	if err != nil {
		return false, false, false
	}
	defer f.Close()
	return r.at[ColOpName] >= 0, r.at[ColOpID] >= 0, true
}

// Tell gives a value what a line of a table says of it.
func (r *Row) Tell(v *msprobe.Value) {
	v.DType, v.Elem, v.Known, v.Shape = r.DType, r.Elem, r.Known, r.Shape
	if r.Known {
		v.DType = r.Elem.String() // one name for what is called float, DT_FLOAT and float32
	}
	v.Max, v.Min, v.Mean, v.Norm, v.MD5 = r.Max, r.Min, r.Mean, r.Norm, r.Sum
}
