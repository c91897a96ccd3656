package report

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"

	"precision/compare/result"
)

// EncodeRows writes rows, with all that they hold, for [DecodeRows].
func EncodeRows(to io.Writer, rows []result.Row) error {
	w := &jsonWriter{to: to, fresh: true}
	s := rowSet(func(i int) *result.Row { return &rows[i] }, (*result.Row).Result)
	s.write(w, len(rows))
	w.flush()
	return w.err
}

// DecodeRows reads what [EncodeRows] wrote.
func DecodeRows(text []byte) (rows []result.Row, err error) {
	s := rowSet(func(i int) *result.Row { return &rows[i] }, (*result.Row).Measured)
	err = s.read(json.NewDecoder(bytes.NewReader(text)), func(n int) { rows = make([]result.Row, n) })
	dropEmpty(rows)
	return rows, err
}

// dropEmpty takes the metrics out of rows that have none: columns are there for all rows
// or none.
func dropEmpty(rows []result.Row) {
	for i := range rows {
		if m := rows[i].Metrics; m != nil && reflect.ValueOf(m).Elem().IsZero() {
			rows[i].Metrics = nil
		}
	}
}
