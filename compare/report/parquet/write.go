package parquet

import (
	"io"

	pq "github.com/parquet-go/parquet-go"
)

// rowsPerGroup is how many rows are held before they are written: some 15 MB of a wide table, and enough for
// readers to skip by the statistics of a group.
const rowsPerGroup = 1 << 14

// batch is how many rows are handed on at once.
const batch = 256

// column is a column of a table of R: its name, what it holds and how a row gives its value.
type column[R any] struct {
	name string
	node pq.Node
	put  func(row R, to *cells)
}

func text[R any](name string, of func(R) string) column[R] {
	return column[R]{name, pq.Optional(pq.Encoded(pq.String(), &pq.RLEDictionary)), func(r R, to *cells) { to.text(of(r)) }}
}

func real[R any](name string, of func(R) (v float64, known bool)) column[R] {
	return column[R]{name, pq.Optional(pq.Leaf(pq.DoubleType)), func(r R, to *cells) {
		v, known := of(r)
		to.value(pq.DoubleValue(v), known)
	}}
}

func count[R any](name string, of func(R) (v int64, known bool)) column[R] {
	return column[R]{name, pq.Optional(pq.Leaf(pq.Int64Type)), func(r R, to *cells) {
		v, known := of(r)
		to.value(pq.Int64Value(v), known)
	}}
}

func flag[R any](name string, of func(R) (v, known bool)) column[R] {
	return column[R]{name, pq.Optional(pq.Leaf(pq.BooleanType)), func(r R, to *cells) {
		v, known := of(r)
		to.value(pq.BooleanValue(v), known)
	}}
}

func counts[R any](name string, of func(R) []int64) column[R] {
	return column[R]{name, pq.Optional(pq.List(pq.Leaf(pq.Int64Type))), func(r R, to *cells) {
		list := of(r)
		to.list(len(list), list != nil, func(i int) pq.Value { return pq.Int64Value(list[i]) })
	}}
}

func texts[R any](name string, of func(R) []string) column[R] {
	return column[R]{name, pq.Optional(pq.List(pq.Encoded(pq.String(), &pq.RLEDictionary))), func(r R, to *cells) {
		list := of(r)
		to.list(len(list), list != nil, func(i int) pq.Value { return pq.ByteArrayValue([]byte(list[i])) })
	}}
}

// cells are the values of a row, column by column.
type cells struct {
	row    pq.Row
	column int
}

func (c *cells) value(v pq.Value, known bool) {
	if known {
		v = v.Level(0, 1, c.column)
	} else {
		v = pq.NullValue().Level(0, 0, c.column)
	}
	c.row = append(c.row, v)
}

// text is a text; an empty one is none.
func (c *cells) text(s string) { c.value(pq.ByteArrayValue([]byte(s)), s != "") }

// list is a list of n values, of which there may be none, or no list.
func (c *cells) list(n int, known bool, at func(int) pq.Value) {
	switch {
	case !known:
		c.row = append(c.row, pq.NullValue().Level(0, 0, c.column))
	case n == 0:
		c.row = append(c.row, pq.NullValue().Level(0, 1, c.column))
	}
	for i := range n {
		c.row = append(c.row, at(i).Level(min(i, 1), 2, c.column))
	}
}

// ordered is a group whose fields are in the order of the columns; one of the library has them sorted.
type ordered struct {
	pq.Group
	fields []pq.Field
}

func (o ordered) Fields() []pq.Field { return o.fields }

// writer writes rows of R.
type writer[R any] struct {
	columns []column[R]
	to      *pq.GenericWriter[any]
	rows    []pq.Row
	n       int
}

// newWriter starts a table on w. about are pairs of names and texts that are kept beside it.
func newWriter[R any](w io.Writer, columns []column[R], about ...[2]string) *writer[R] {
	group := pq.Group{}
	for _, c := range columns {
		group[c.name] = c.node
	}
	byName := map[string]pq.Field{}
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	o := ordered{Group: group}
	for _, c := range columns {
		o.fields = append(o.fields, byName[c.name])
	}
	options := []pq.WriterOption{pq.NewSchema("precision", o), pq.Compression(&pq.Snappy), pq.MaxRowsPerRowGroup(rowsPerGroup)}
	for _, a := range about {
		options = append(options, pq.KeyValueMetadata(a[0], a[1]))
	}
	return &writer[R]{columns: columns, to: pq.NewGenericWriter[any](w, options...), rows: make([]pq.Row, batch)}
}

func (w *writer[R]) write(row R) error {
	c := cells{row: w.rows[w.n][:0]}
	for i := range w.columns {
		c.column = i
		w.columns[i].put(row, &c)
	}
	w.rows[w.n] = c.row
	if w.n++; w.n == batch {
		return w.flush()
	}
	return nil
}

func (w *writer[R]) flush() error {
	_, err := w.to.WriteRows(w.rows[:w.n])
	w.n = 0
	return err
}

func (w *writer[R]) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.to.Close()
}
