// Package sqlite reads tables of SQLite databases, as far as recorders of monitors write them: the rows of tables with and without
// rowids, in UTF-8. It does not write, knows no SQL but the columns of CREATE TABLE, and uses no index.
//
// With a full engine the program would be beyond its 32 MB. The format is that of https://www.sqlite.org/fileformat2.html.
package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"precision/internal/must"
	"precision/internal/plainfile"
)

// DB is an open database.
type DB struct {
	path   string
	file   io.ReaderAt
	close  func() error
	size   int64 // of a page
	usable int64
	pages  int64
	tables map[string]*Table
}

// Table is a table of a database.
type Table struct {
	Name    string
	Columns []string

	db    *DB
	root  int64
	rowid int   // the column that is the rowid, -1 if none
	order []int // of a table without rowids: the columns in the order of its records
}

// Error says what is wrong with a database.
type Error struct {
	Path   string
	Offset int64 // of the page, -1 if it is the file as a whole
	What   string
}

func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Path + ": " + e.What
	}
	return fmt.Sprintf("%s: at byte %d: %s", e.Path, e.Offset, e.What)
}

// magic is what every database begins with.
const magic = "SQLite format 3\x00"

// Is tells whether a file begins as a database does.
func Is(path string) bool { return string(plainfile.Front(path, len(magic))) == magic }

// Open opens a database and reads which tables it has. One that a program is about to write, or was killed while it wrote, is an
// error: what is in its other files would be missing.
func Open(path string) (*DB, error) {
	f, size, err := plainfile.Open(path, "a database")
	if err != nil {
		return nil, err
	}
	db := &DB{path: path, file: f, close: f.Close, tables: map[string]*Table{}}
	if err := must.Try(func() { db.open(size) }); err != nil {
		f.Close()
		return nil, err
	}
	return db, nil
}

// Close closes the file.
func (db *DB) Close() error { return db.close() }

func (db *DB) fault(page int64, format string, args ...any) error {
	at := int64(-1)
	if page > 0 {
		at = (page - 1) * db.size
	}
	return &Error{db.path, at, fmt.Sprintf(format, args...)}
}

// end ends the reading where something is bad.
func (db *DB) end(bad bool, page int64, format string, args ...any) {
	if bad {
		must.Do(db.fault(page, format, args...))
	}
}

func (db *DB) open(size int64) {
	head := make([]byte, 100)
	if n, err := db.file.ReadAt(head, 0); n < len(head) || string(head[:16]) != magic {
		if err != io.EOF {
			must.Do(err)
		}
		db.end(true, 0, "found no header of a database of SQLite, expected %q", magic[:15])
	}
	db.size = int64(binary.BigEndian.Uint16(head[16:]))
	if db.size == 1 {
		db.size = 65536
	}
	db.end(db.size < 512 || db.size&(db.size-1) != 0, 0, "found pages of %d bytes, expected a power of two from 512", db.size)
	db.usable = db.size - int64(head[20])
	encoding := binary.BigEndian.Uint32(head[56:])
	db.end(encoding > 1, 0, "found text encoding %d, expected 1 (UTF-8)", encoding)
	db.end(db.usable < 480, 0, "found pages of which %d bytes are used, expected 480 at least", db.usable)
	for _, beside := range []struct{ suffix, what string }{
		{"-wal", "is being written, or its writer was killed: changes are in %s and not yet in it (sqlite3 FILE 'pragma wal_checkpoint' brings them in)"},
		{"-journal", "is being written, or its writer was killed: it has to be restored from %s (sqlite3 FILE 'pragma integrity_check' does)"},
	} {
		info, err := os.Stat(db.path + beside.suffix)
		db.end(err == nil && info.Size() > 0, 0, beside.what, db.path+beside.suffix)
	}
	db.pages = size / db.size
	// The count of pages holds where its writer was one that keeps it.
	pages := int64(binary.BigEndian.Uint32(head[28:]))
	db.end(bytes.Equal(head[24:28], head[92:96]) && pages > db.pages, 0, "cut short: found %d pages of %d bytes, expected %d", db.pages, db.size, pages)
	schema := &Table{Name: "sqlite_schema", Columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}, db: db, root: 1, rowid: -1}
	must.Do(schema.Each(func(row []any) error {
		if kind, _ := row[0].(string); kind != "table" {
			return nil
		}
		name, _ := row[1].(string)
		root, _ := row[3].(int64)
		sql, _ := row[4].(string)
		if t := tableOf(sql); t != nil && root > 0 {
			t.Name, t.db, t.root = name, db, root
			db.tables[name] = t
		}
		return nil
	}))
}

// Tables are the names of all tables.
func (db *DB) Tables() (names []string) {
	for name := range db.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Table is a table with some columns, or an error that names what is missing.
func (db *DB) Table(name string, columns ...string) (*Table, error) {
	t := db.tables[name]
	if t == nil {
		return nil, db.fault(0, "found tables %s, expected %s", strings.Join(db.Tables(), ", "), name)
	}
	for _, c := range columns {
		if !slices.Contains(t.Columns, c) {
			return nil, db.fault(0, "found columns %s in table %s, expected %s", strings.Join(t.Columns, ", "), name, c)
		}
	}
	return t, nil
}

// tableOf reads the columns from the text that made a table; nil if they are not found.
func tableOf(sql string) *Table {
	from := strings.IndexByte(sql, '(')
	to := strings.LastIndexByte(sql, ')')
	if from < 0 || to < from {
		return nil
	}
	t := &Table{rowid: -1}
	var key []string
	depth, start := 0, from+1
	for i := from + 1; i <= to; i++ {
		switch c := sql[i]; {
		case c == '(':
			depth++
		case c == ')' && i < to:
			depth--
		case (c == ',' || i == to) && depth == 0:
			words := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ", ",", " , ").Replace(sql[start:i]))
			start = i + 1
			if len(words) == 0 {
				continue
			}
			upper := strings.ToUpper(strings.Join(words, " "))
			switch strings.ToUpper(words[0]) {
			case "PRIMARY":
				if a, b := slices.Index(words, "("), slices.Index(words, ")"); a >= 0 && b > a {
					for _, w := range words[a+1 : b] {
						if w != "," {
							key = append(key, unquoted(w))
						}
					}
				}
				continue
			case "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT":
				continue
			}
			if strings.Contains(upper, "PRIMARY KEY") {
				key = []string{unquoted(words[0])}
				if len(words) > 1 && strings.ToUpper(words[1]) == "INTEGER" {
					t.rowid = len(t.Columns)
				}
			}
			t.Columns = append(t.Columns, unquoted(words[0]))
		}
	}
	if strings.Contains(strings.ToUpper(strings.Join(strings.Fields(sql[to+1:]), " ")), "WITHOUT ROWID") {
		t.rowid = -1
		for _, name := range key {
			if i := slices.Index(t.Columns, name); i >= 0 {
				t.order = append(t.order, i)
			}
		}
		for i := range t.Columns {
			if !slices.Contains(t.order, i) {
				t.order = append(t.order, i)
			}
		}
	}
	return t
}

func unquoted(s string) string { return strings.Trim(s, "\"`[]'") }

// kinds of pages.
const (
	indexInner, tableInner = 2, 5
	indexLeaf, tableLeaf   = 10, 13
)

// Each calls f with all rows, in the order of their keys: nil, int64, float64, string or []byte for each column. The row is
// used again for the next one.
func (t *Table) Each(f func(row []any) error) error {
	visited := make([]bool, t.db.pages+1)
	row := make([]any, len(t.Columns))
	return must.Try(func() { t.walk(t.root, visited, 0, row, f) })
}

// deepest bounds how deep a tree is: pages have four children at least.
const deepest = 64

func (t *Table) walk(page int64, visited []bool, depth int, row []any, f func(row []any) error) {
	db := t.db
	db.end(page < 1 || page > db.pages || visited[page] || depth > deepest, page,
		"found a way to page %d of table %s, expected one of %d pages that was not read before", page, t.Name, db.pages)
	visited[page] = true
	b := make([]byte, db.size)
	_, err := db.file.ReadAt(b, (page-1)*db.size)
	db.end(err != nil, page, "%v", err)
	at := 0
	if page == 1 {
		at = 100
	}
	kind, cells := b[at], int(binary.BigEndian.Uint16(b[at+3:]))
	index, inner := kind == indexInner || kind == indexLeaf, kind == indexInner || kind == tableInner
	head := at + 8
	if inner {
		head += 4
	}
	db.end(!inner && kind != indexLeaf && kind != tableLeaf || index != (t.order != nil), page,
		"found a page of kind %d in table %s, expected that of %s", kind, t.Name, map[bool]string{true: "an index", false: "a table"}[t.order != nil])
	db.end(int64(head+2*cells) > db.usable, page, "found %d cells in a page of %d bytes", cells, db.usable)
	for i := range cells {
		p := int64(binary.BigEndian.Uint16(b[head+2*i:]))
		if inner {
			db.end(p+4 > db.usable, page, "found a cell at %d, expected it before %d", p, db.usable)
			t.walk(int64(binary.BigEndian.Uint32(b[p:])), visited, depth+1, row, f)
			p += 4
		}
		if kind == tableInner {
			continue
		}
		t.cell(page, b[:db.usable], p, index, row)
		must.Do(f(row))
	}
	if inner {
		t.walk(int64(binary.BigEndian.Uint32(b[at+8:])), visited, depth+1, row, f)
	}
}

// varint reads a number of up to nine bytes; n is 0 where it is cut.
func varint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 9; i++ {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// cell reads the record of a cell into a row.
func (t *Table) cell(page int64, b []byte, p int64, index bool, row []any) {
	db := t.db
	t.whole(p < int64(len(b)), page)
	length, n := varint(b[p:])
	p += int64(n)
	var rowid uint64
	most := db.usable - 35 // of what a leaf keeps of a record
	if index {
		most = (db.usable-12)*64/255 - 23
	} else if n > 0 {
		var k int
		rowid, k = varint(b[p:])
		t.whole(k > 0, page)
		p += int64(k)
	}
	t.whole(n > 0 && length <= uint64(db.pages*db.size), page)
	local := int64(length)
	if local > most {
		least := (db.usable-12)*32/255 - 23
		if local = least + (int64(length)-least)%(db.usable-4); local > most {
			local = least
		}
	}
	t.whole(p+local <= int64(len(b)), page)
	record := b[p : p+local]
	if local < int64(length) {
		t.whole(p+local+4 <= int64(len(b)), page)
		rest := db.overflow(page, int64(binary.BigEndian.Uint32(b[p+local:])), int64(length)-local)
		record = append(slices.Clone(record), rest...)
	}
	t.record(page, record, int64(rowid), row)
}

// whole ends the reading where a record is not.
func (t *Table) whole(ok bool, page int64) {
	t.db.end(!ok, page, "found a record of table %s that is cut", t.Name)
}

// overflow reads what of a record lies in pages of its own.
func (db *DB) overflow(of, page, n int64) (out []byte) {
	for steps := int64(0); int64(len(out)) < n; steps++ {
		db.end(page < 1 || page > db.pages || steps > db.pages, of, "found a record that goes on in page %d of %d", page, db.pages)
		b := make([]byte, db.usable)
		_, err := db.file.ReadAt(b, (page-1)*db.size)
		db.end(err != nil, page, "%v", err)
		page = int64(binary.BigEndian.Uint32(b))
		out = append(out, b[4:min(db.usable, 4+n-int64(len(out)))]...)
	}
	return out
}

// record reads the values of a record.
func (t *Table) record(page int64, b []byte, rowid int64, row []any) {
	head, n := varint(b)
	t.whole(n > 0 && head <= uint64(len(b)) && head >= uint64(n), page)
	types, values := b[n:head], b[head:]
	clear(row)
	for i := 0; len(types) > 0; i++ {
		serial, k := varint(types)
		t.whole(k > 0, page)
		types = types[k:]
		size := uint64(0)
		switch {
		case serial <= 4:
			size = serial
		case serial == 5:
			size = 6
		case serial == 6 || serial == 7:
			size = 8
		case serial >= 12:
			size = (serial - 12) / 2
		}
		t.whole(size <= uint64(len(values)), page)
		v := values[:size]
		values = values[size:]
		column := i
		if t.order != nil && i < len(t.order) {
			column = t.order[i]
		}
		if column >= len(row) {
			continue // a column of a later schema
		}
		switch {
		case serial == 0:
			if column == t.rowid {
				row[column] = rowid
			}
		case serial <= 6:
			x := int64(int8(v[0]))
			for _, c := range v[1:] {
				x = x<<8 | int64(c)
			}
			row[column] = x
		case serial == 7:
			row[column] = math.Float64frombits(binary.BigEndian.Uint64(v))
		case serial == 8 || serial == 9:
			row[column] = int64(serial - 8)
		case serial >= 12 && serial%2 == 0:
			row[column] = slices.Clone(v)
		case serial >= 13:
			row[column] = string(v)
		default:
			t.db.end(true, page, "found a value of type %d in table %s", serial, t.Name)
		}
	}
}
