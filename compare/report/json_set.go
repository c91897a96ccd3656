package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// set is all that is kept of a list of things of one type: columns, and parts of
// which a thing has none, one or several.
type set struct {
	columns []column
	parts   []part
}

// part is a list of its own, whose column "row" says whose each item is.
type part struct {
	name  string
	write func(w *jsonWriter, rows int)
	parse func(raw []byte, rows int) error
}

// write writes the columns and parts as a JSON object. The first column is
// always there, so that one can tell how many rows there are.
func (s *set) write(w *jsonWriter, rows int) {
	w.open('{')
	for k, c := range s.columns {
		zero := k > 0
		for i := 0; zero && i < rows; i++ {
			zero = c.zero(i)
		}
		if zero {
			continue
		}
		w.line()
		w.key(c.name)
		c.write(w, rows)
	}
	for _, p := range s.parts {
		p.write(w, rows)
	}
	w.close('}')
}

// read reads such an object. grow makes room for the rows as soon as it is known
// how many there are. What a later version adds is passed over.
func (s *set) read(dec *json.Decoder, grow func(rows int)) error {
	if err := expectDelim(dec, '{'); err != nil {
		return err
	}
	rows := -1
	parts := map[string]json.RawMessage{}
	seen := map[string]bool{}
	for dec.More() {
		name, err := key(dec)
		if err != nil {
			return err
		}
		at := dec.InputOffset()
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if seen[name] {
			return fmt.Errorf("%s at offset %d: found twice, expected once", name, at)
		}
		seen[name] = true
		c := s.column(name)
		if c == nil {
			parts[name] = raw
			continue
		}
		n, set, err := c.parse(raw)
		switch {
		case err != nil:
			return fmt.Errorf("%s at offset %d: %w", name, at, err)
		case rows < 0:
			rows = n
			grow(n)
		case n != rows:
			return fmt.Errorf("%s at offset %d: found %d rows, expected %d as in the columns before", name, at, n, rows)
		}
		set()
	}
	for _, p := range s.parts {
		if raw, ok := parts[p.name]; ok {
			if err := p.parse(raw, max(rows, 0)); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	if len(s.columns) > 0 && !seen[s.columns[0].name] {
		return fmt.Errorf("found no %s, expected that column", s.columns[0].name)
	}
	return expectDelim(dec, '}')
}

func (s *set) column(name string) *column {
	for i := range s.columns {
		if s.columns[i].name == name {
			return &s.columns[i]
		}
	}
	return nil
}

// sparse is a part of items of type T. each yields those of a row, attach gives
// a row one more, and of makes what is kept of the items.
func sparse[T any](name string, each func(row int, yield func(*T)), attach func(row int, item T), of func(at func(int) *T) set) part {
	type owned struct {
		row  int
		item *T
	}
	// with is what is kept of a list of items with their rows.
	with := func(list *[]owned) set {
		s := of(func(i int) *T { return (*list)[i].item })
		rows := integers("row", func(i int) *int { return &(*list)[i].row })
		s.columns = append([]column{rows}, s.columns...)
		return s
	}
	return part{
		name: name,
		write: func(w *jsonWriter, rows int) {
			var list []owned
			for i := range rows {
				each(i, func(item *T) { list = append(list, owned{i, item}) })
			}
			if len(list) == 0 {
				return
			}
			w.line()
			w.key(name)
			s := with(&list)
			s.write(w, len(list))
		},
		parse: func(raw []byte, rows int) error {
			var list []owned
			s := with(&list)
			if err := s.read(json.NewDecoder(bytes.NewReader(raw)), func(n int) {
				list = make([]owned, n)
				items := make([]T, n)
				for i := range items {
					list[i].item = &items[i]
				}
			}); err != nil {
				return err
			}
			for i := range list {
				if list[i].row < 0 || list[i].row >= rows {
					return fmt.Errorf("row %d: found a row %d, expected one of %d", i, list[i].row, rows)
				}
				attach(list[i].row, *list[i].item)
			}
			return nil
		},
	}
}

// expectDelim reads a bracket.
func expectDelim(dec *json.Decoder, want json.Delim) error {
	at := dec.InputOffset()
	token, err := dec.Token()
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("offset %d: the file ends, expected %s", at, want)
	case err != nil:
		return fmt.Errorf("offset %d: %w", at, err)
	case token != want:
		return fmt.Errorf("offset %d: found %v, expected %s", at, token, want)
	}
	return nil
}

// key reads the name of a member.
func key(dec *json.Decoder) (string, error) {
	at := dec.InputOffset()
	token, err := dec.Token()
	if err != nil {
		return "", fmt.Errorf("offset %d: %w", at, err)
	}
	name, _ := token.(string) // the decoder takes nothing else here
	return name, nil
}
