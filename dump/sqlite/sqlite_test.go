package sqlite

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables is a database that SQLite wrote: testdata/tables.py.
func tables(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "tables.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func written(t testing.TB, b []byte) string {
	path := filepath.Join(t.TempDir(), "tables.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTables: every value of both kinds of tables, over trees of several levels and records that go on in pages of their own.
func TestTables(t *testing.T) {
	db, err := Open(written(t, tables(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	numbers, err := db.Table("numbers", "id", "real")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := numbers.Each(func(row []any) error {
		n++
		whole := int64(1)
		for range 1 + n%5 {
			whole *= int64(n)
		}
		if n%2 == 1 {
			whole = -whole
		}
		var real any = float64(n) / 8
		if n%7 == 0 {
			real = nil
		}
		// SQLite stores fractions that are whole as integers.
		if f, ok := row[2].(int64); ok {
			row[2] = float64(f)
		}
		want := fmt.Sprint([]any{int64(n), whole, real, strings.Repeat("w", n*13%1900), bytes.Repeat([]byte{byte(n)}, n%5)})
		if got := fmt.Sprint(row); got != want {
			return fmt.Errorf("row %d: found %.80s, expected %.80s", n, got, want)
		}
		return nil
	}); err != nil || n != 400 {
		t.Fatal(n, err)
	}
	keyed, err := db.Table("keyed", "rank", "step", "value", "late")
	if err != nil {
		t.Fatal(err)
	}
	n = 0
	if err := keyed.Each(func(row []any) error {
		rank, step := int64(n/150), int64(n%150)
		n++
		value := row[2]
		if f, ok := value.(int64); ok {
			value = float64(f)
		}
		if row[0] != step || row[1] != rank || value != float64(step)*0.5-float64(rank) || row[3] != strings.Repeat("n", int(step%140)) || row[4] != nil {
			return fmt.Errorf("row %d: found %.80v", n, row)
		}
		return nil
	}); err != nil || n != 450 {
		t.Fatal(n, err)
	}
	if _, err := db.Table("numbers", "other"); err == nil || !strings.Contains(err.Error(), "found columns id, whole, real, word, raw in table numbers, expected other") {
		t.Error(err)
	}
	if _, err := db.Table("absent"); err == nil || !strings.Contains(err.Error(), "found tables keyed, numbers, sqlite_sequence, expected absent") {
		t.Error(err)
	}
}

// TestUnfinished: a database that is being written is an error, and so is one that is cut or none.
func TestUnfinished(t *testing.T) {
	whole := tables(t)
	for _, c := range []struct {
		name   string
		bytes  []byte
		beside string
		want   string
	}{
		{"log", whole, "-wal", "is being written, or its writer was killed: changes are in"},
		{"journal", whole, "-journal", "has to be restored from"},
		{"cut", whole[:len(whole)/2], "", "cut short: found"},
		{"none", []byte("step,name\n"), "", "found no header"},
		{"empty", nil, "", "found no header"},
	} {
		path := written(t, c.bytes)
		if c.beside != "" {
			if err := os.WriteFile(path+c.beside, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDamage: no byte that is changed makes it panic, or read without an end.
func TestDamage(t *testing.T) {
	whole := tables(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(20) {
			at := r.IntN(len(b))
			if r.IntN(3) == 0 {
				at = r.IntN(600)
			}
			b[at] = byte(r.Uint32())
		}
		db, err := Open(written(t, b))
		if err != nil {
			continue
		}
		rows := 0
		for _, name := range db.Tables() {
			table, err := db.Table(name)
			if err != nil {
				t.Fatal(err)
			}
			_ = table.Each(func([]any) error { rows++; return nil })
		}
		if rows > 100000 {
			t.Errorf("%d rows", rows)
		}
		db.Close()
	}
}
