package sqlite

import "testing"

// FuzzOpen: whatever a database holds, reading all of its tables ends, and every row has a value a column.
func FuzzOpen(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := Open(written(t, b))
		if err != nil {
			return
		}
		defer db.Close()
		for _, name := range db.Tables() {
			table, err := db.Table(name)
			if err != nil {
				continue
			}
			cells := 0
			_ = table.Each(func(row []any) error {
				if len(row) != len(table.Columns) {
					t.Fatalf("%s: a row of %d values, of %d columns", name, len(row), len(table.Columns))
				}
				if cells++; cells > len(b) { // a cell takes bytes of its own, and no page is walked twice
					t.Fatalf("%s: more than %d rows in %d bytes", name, cells, len(b))
				}
				return nil
			})
		}
	})
}
