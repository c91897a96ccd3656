package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"

	"precision/compare/result"
)

// EncodeRows writes rows, with all that they hold, for [DecodeRows].
func EncodeRows(to io.Writer, rows []result.Row) error {
	w := &jsonWriter{to: to, fresh: true}
	writeRows(w, rows)
	w.flush()
	return w.err
}

// DecodeRows reads what [EncodeRows] wrote.
func DecodeRows(text []byte) (rows []result.Row, err error) {
	err = readRows(json.NewDecoder(bytes.NewReader(text)), &rows)
	complete(rows)
	return rows, err
}

// complete takes the metrics out of rows that have none, as columns are there for all rows
// or none, and gives both sides of a recording something to say, as a column may be missing where all is empty.
func complete(rows []result.Row) {
	for i := range rows {
		row := &rows[i]
		if m := row.Metrics; m != nil && reflect.ValueOf(m).Elem().IsZero() {
			row.Metrics = nil
		}
		if r := row.Recorded; r != nil {
			r.Left, r.Right = cmp.Or(r.Left, &result.Said{}), cmp.Or(r.Right, &result.Said{})
		}
	}
}
