package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Saved is what a JSON file holds.
type Saved struct {
	// Table is what was compared, with an oracle's words if one was asked;
	// [verdict.Judge] comes to the same verdict again.
	Table *result.Table
	// ProfileName and Hash name the profile the table was judged by, Verdict
	// is what it came to.
	ProfileName, Hash string
	Verdict           string

	profile savedProfile
}

// savedProfile is the text of a profile and the limits set in front of it.
type savedProfile struct {
	Source  string
	Changes []verdict.Limit
}

// Profile is the profile the table was judged by. It is an error if the file does
// not hold it as it was.
func (s *Saved) Profile() (*verdict.Profile, error) {
	if s.profile.Source == "" {
		return nil, fmt.Errorf("found no text of the profile %q, expected it in table.profile", s.ProfileName)
	}
	p, err := verdict.ParseProfile([]byte(s.profile.Source), "table.profile")
	for _, l := range s.profile.Changes {
		if err == nil {
			p, err = p.WithLimit(l.Cause, l.Value)
		}
	}
	if err != nil {
		return nil, err
	}
	if p.Hash() != s.Hash {
		return nil, fmt.Errorf("table.profile: found a profile of the sha256 %s, expected %s", p.Hash(), s.Hash)
	}
	return p, nil
}

// ReadJSON reads what [WriteJSON] wrote. Errors tell the offset or the member,
// what was found and what was expected.
func ReadJSON(from io.Reader) (_ *Saved, err error) {
	defer must.Catch(&err)
	whole := &sealed{from: from}
	dec := json.NewDecoder(whole)
	expectDelim(dec, '{')
	s := &Saved{}
	schema := false
	for dec.More() {
		name := key(dec)
		switch name {
		case "schema":
			var found string
			decode(dec, name, &found)
			must.Not(found != Schema && found != schemaBefore, "schema: found %q, expected %q", found, Schema)
			schema = true
		case "profile":
			var p struct{ Name, SHA256 string }
			decode(dec, name, &p)
			s.ProfileName, s.Hash = p.Name, p.SHA256
		case "verdict":
			decode(dec, name, &s.Verdict)
		case "table":
			must.Not(s.Table != nil, "table: found twice, expected once")
			s.Table = &result.Table{}
			within(name, func() { s.readTable(dec) })
		default:
			within(name, func() { skip(dec) })
		}
		must.Not(!schema, "found the member %q first, expected \"schema\": %q", name, Schema)
	}
	expectDelim(dec, '}')
	must.Not(s.Table == nil, `found no member "table", expected the rows of the comparison`)
	at := dec.InputOffset()
	must.Not(!ended(dec), "offset %d: the text goes on, expected its end", at)
	must.Do(whole.broken())
	return s, nil
}

// within does a piece of work, whose error says in what it is.
func within(place string, work func()) {
	err := must.Try(work)
	must.Not(err != nil, "%s: %w", place, err)
}

func (s *Saved) readTable(dec *json.Decoder) {
	expectDelim(dec, '{')
	t := s.Table
	seen := map[string]bool{}
	for dec.More() {
		name := key(dec)
		must.Not(seen[name], "%s: found twice, expected once", name)
		seen[name] = true
		within(name, func() {
			switch name {
			case "meta":
				meta := recordOf(&t.Meta, true)
				meta.readRecord(dec)
			case "profile":
				profile := recordOf(&s.profile, true)
				profile.readRecord(dec)
			case "operators":
				readRows(dec, &t.Ops)
			case "rows":
				readRows(dec, &t.Rows)
				complete(t.Rows)
			case "checks":
				readRows(dec, &t.Checks)
			case "looks":
				readRows(dec, &t.Looks)
			default:
				skip(dec)
			}
		})
	}
	must.Not(!seen["rows"], `found no member "rows", expected those of the comparison`)
	expectDelim(dec, '}')
}

// decode reads a member.
func decode(dec *json.Decoder, name string, into any) {
	at := dec.InputOffset()
	err := dec.Decode(into)
	must.Not(err != nil, "%s at offset %d: %w", name, at, err)
}

// skip passes over a value, holding one item or member of it at a time.
func skip(dec *json.Decoder) {
	at := dec.InputOffset()
	token, err := dec.Token()
	must.Not(err != nil, "offset %d: %w", at, err)
	open, ok := token.(json.Delim)
	if !ok {
		return
	}
	for dec.More() {
		if open == '{' {
			key(dec)
		}
		at = dec.InputOffset()
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil { // as there are many, nothing is boxed for those that are right
			must.Not(true, "offset %d: %w", at, err)
		}
	}
	expectDelim(dec, open+2) // ] and } come two after [ and {
}

// ended tells whether nothing but blanks is left.
func ended(dec *json.Decoder) bool {
	_, err := dec.Token()
	return err == io.EOF
}

// OpenJSON reads what [WriteJSON] wrote from a file.
func OpenJSON(path string) (*Saved, error) {
	file, _, err := plainfile.Open(path, "what -json wrote")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	saved, err := ReadJSON(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return saved, nil
}

// seal ends a table with the checksum of all that stands before it. A block that is lost can leave JSON, whose missing
// columns are those of zeros. No other program writes this line so: who writes a table in another form breaks no seal.
func seal(sum uint32) string { return fmt.Sprintf(", \"crc32\": \"%08x\" }\n", sum) }

var sealLength = len(seal(0))

// sealed reads a table and sees that it is as it was written.
type sealed struct {
	from io.Reader
	sum  uint32 // of all but the tail
	tail []byte // the last bytes that were read, as many as a seal has
}

func (s *sealed) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	// What cannot be the end any more goes first, so that nothing of the size of p is kept.
	if n >= sealLength {
		s.sum = crc32.Update(s.sum, crc32.IEEETable, s.tail)
		s.sum = crc32.Update(s.sum, crc32.IEEETable, p[:n-sealLength])
		s.tail = append(s.tail[:0], p[n-sealLength:n]...)
		return n, err
	}
	if s.tail = append(s.tail, p[:n]...); len(s.tail) > sealLength {
		more := len(s.tail) - sealLength
		s.sum = crc32.Update(s.sum, crc32.IEEETable, s.tail[:more])
		s.tail = append(s.tail[:0], s.tail[more:]...)
	}
	return n, err
}

// broken is an error if there is a seal, and it is that of other bytes. It is asked at the end.
func (s *sealed) broken() error {
	start, _, _ := bytes.Cut([]byte(seal(0)), []byte("00000000"))
	if !bytes.HasPrefix(s.tail, start) || string(s.tail) == seal(s.sum) {
		return nil
	}
	return fmt.Errorf("found the checksum %08x, expected %s: it is not as it was written", s.sum, bytes.Trim(s.tail[len(start):], "\" }\n"))
}

// EncodeRows writes rows, with all that they hold, for [DecodeRows].
func EncodeRows(to io.Writer, rows []result.Row) error {
	w := &jsonWriter{to: to, fresh: true}
	writeRows(w, rows)
	w.flush()
	return w.err
}

// DecodeRows reads what [EncodeRows] wrote.
func DecodeRows(text []byte) (rows []result.Row, err error) {
	err = must.Try(func() { readRows(json.NewDecoder(bytes.NewReader(text)), &rows) })
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
			r.Left, r.Right = cmp.Or(r.Left, &result.Summary{}), cmp.Or(r.Right, &result.Summary{})
		}
	}
}
