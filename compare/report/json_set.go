package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unsafe"

	"precision/internal/must"
	"precision/internal/order"
)

// set is all that is kept of a list of structs of one type: columns, and parts of
// which a struct has none, one or several. A field is kept under its name in lower case, no_kernel;
// one that goes by another has a tag `column:"name"`. Fields of a struct have its name before theirs,
// left_dtype, unless its tag lists a name for each. Lists and maps of structs are parts, and so are
// pointers to structs with a tag `part:"name"`.
type set struct {
	columns []column
	parts   []part
}

// part is a list of its own, whose column "row" says whose each item is.
type part struct {
	name string
	item reflect.Type
	tag  string // the names of the item's fields, or what stands before them
	list func(row int) reflect.Value
}

// setOf is what is kept of structs; of tells where one is, reading that what pointers lead to is to be made.
func setOf(t reflect.Type, of place, tag string, reading bool) (s set) {
	listed := strings.Split(tag, ",")
	for k := range t.NumField() {
		f := t.Field(k)
		own := f.Tag.Get("part")
		name, tagged := f.Tag.Lookup("column")
		switch {
		case len(listed) > 1:
			name = listed[k]
		case !tagged && own == "":
			name = snake(f.Name)
		}
		if len(listed) == 1 && tag != "" && !strings.Contains(name, ",") {
			name = strings.TrimSuffix(tag+"_"+name, "_")
		}
		s.field(f.Type, own, name, of.within(f.Offset), reading)
	}
	return s
}

// field adds what is kept of a field.
func (s *set) field(t reflect.Type, own, name string, of place, reading bool) {
	inner := set{}
	listed := func(item reflect.Type) {
		inner.parts = []part{{own, item, name, func(row int) reflect.Value { return reflect.NewAt(t, of.at(row)).Elem() }}}
	}
	switch kind := t.Kind(); {
	case formOf(t) != nil:
		inner.columns = []column{{name, formOf(t), of}}
	case kind == reflect.Array: // of a value for each metric
		for m := range t.Len() {
			inner.columns = append(inner.columns, column{metricNames[m], values, of.within(uintptr(m) * t.Elem().Size())})
		}
	case kind == reflect.Struct:
		inner = setOf(t, of, name, reading)
	case kind == reflect.Map:
		listed(reflect.StructOf([]reflect.StructField{{Name: "Key", Type: t.Key()}, {Name: "Value", Type: t.Elem()}}))
	case kind == reflect.Slice && own == "":
		own, name = name, ""
		listed(t.Elem())
	case own != "":
		listed(t.Elem())
	default:
		none := reflect.New(t.Elem()).UnsafePointer()
		inner = setOf(t.Elem(), place{begin: func(row int) unsafe.Pointer {
			to := (*unsafe.Pointer)(of.at(row))
			if *to == nil {
				if !reading {
					return none
				}
				*to = reflect.New(t.Elem()).UnsafePointer()
			}
			return *to
		}}, name, reading)
	}
	s.columns = append(s.columns, inner.columns...)
	s.parts = append(s.parts, inner.parts...)
}

// snake is a field's name as the file has it: NoKernel is no_kernel.
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// rowsOf is what is kept of a list.
func rowsOf[T any](list *[]T, reading bool) set {
	return setOf(reflect.TypeFor[T](), place{begin: func(i int) unsafe.Pointer { return unsafe.Pointer(&(*list)[i]) }}, "", reading)
}

// recordOf is what is kept of one struct.
func recordOf[T any](at *T, reading bool) set {
	return setOf(reflect.TypeFor[T](), place{begin: func(int) unsafe.Pointer { return unsafe.Pointer(at) }}, "", reading)
}

func writeRows[T any](w *jsonWriter, list []T) {
	s := rowsOf(&list, false)
	s.write(w, len(list))
}

func readRows[T any](dec *json.Decoder, list *[]T) {
	s := rowsOf(list, true)
	s.read(dec, func(n int) { *list = make([]T, n) })
}

// write writes the columns and parts as a JSON object. The first column is
// always there, so that one can tell how many rows there are.
func (s *set) write(w *jsonWriter, rows int) {
	w.open('{')
	s.members(w, rows, true)
	w.close('}')
}

// members writes them, the first column even if all is zero where it tells how many rows there are.
func (s *set) members(w *jsonWriter, rows int, tells bool) {
	for k, c := range s.columns {
		zero := k > 0 || !tells
		for i := 0; zero && i < rows; i++ {
			zero = c.zero(c.at(i))
		}
		if zero {
			continue
		}
		w.line()
		w.key(c.name)
		c.all(w, rows)
	}
	for _, p := range s.parts {
		p.write(w, rows)
	}
}

// writeRecord writes a set of one row as an object with its values, not lists of
// one.
func (s *set) writeRecord(w *jsonWriter) {
	w.open('{')
	for _, c := range s.columns {
		if at := c.at(0); !c.zero(at) {
			w.key(c.name)
			c.form.write(w, at)
		}
	}
	for _, p := range s.parts {
		p.write(w, 1)
	}
	w.close('}')
}

// readRecord reads what writeRecord wrote.
func (s *set) readRecord(dec *json.Decoder) {
	var members map[string]json.RawMessage
	at := dec.InputOffset()
	err := dec.Decode(&members)
	must.Not(err != nil, "offset %d: %w", at, err)
	for _, c := range s.columns {
		if raw, ok := members[c.name]; ok {
			within(c.name, func() { must.Do(c.parse(raw, c.at(0))) })
		}
	}
	s.readParts(members, 1)
}

func (s *set) readParts(members map[string]json.RawMessage, rows int) {
	for _, p := range s.parts {
		if raw, ok := members[p.name]; ok {
			within(p.name, func() { p.read(raw, rows) })
		}
	}
}

// read reads what write wrote. grow makes room for the rows as soon as it is known
// how many there are. What a later version adds is passed over.
func (s *set) read(dec *json.Decoder, grow func(rows int)) {
	expectDelim(dec, '{')
	rows := -1
	members := map[string]json.RawMessage{}
	seen := map[string]bool{}
	for dec.More() {
		name := key(dec)
		at := dec.InputOffset()
		var raw json.RawMessage
		err := dec.Decode(&raw)
		must.Not(err != nil, "%s: %w", name, err)
		must.Not(seen[name], "%s at offset %d: found twice, expected once", name, at)
		seen[name] = true
		k := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
		if k < 0 {
			members[name] = raw
		} else {
			err = s.columns[k].read(raw, &rows, grow)
			must.Not(err != nil, "%s at offset %d: %w", name, at, err)
		}
	}
	s.readParts(members, max(rows, 0))
	must.Not(!seen[s.columns[0].name], "found no %s, expected that column", s.columns[0].name)
	expectDelim(dec, '}')
}

// items is what is kept of the items of a part with their rows.
func (p *part) items(rows *[]int, items *[]unsafe.Pointer, reading bool) set {
	s := setOf(p.item, place{begin: func(i int) unsafe.Pointer { return (*items)[i] }}, p.tag, reading)
	row := column{"row", ints, place{begin: func(i int) unsafe.Pointer { return unsafe.Pointer(&(*rows)[i]) }}}
	s.columns = slices.Insert(s.columns, 0, row)
	return s
}

// write writes the part of so many rows, if any has an item.
func (p *part) write(w *jsonWriter, rows int) {
	var of []int
	var items []unsafe.Pointer
	for i := range rows {
		switch v := p.list(i); v.Kind() {
		case reflect.Slice:
			for k := range v.Len() {
				items = append(items, v.Index(k).Addr().UnsafePointer())
			}
		case reflect.Map:
			keys := v.MapKeys()
			order.Stable(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
			for _, key := range keys {
				item := reflect.New(p.item)
				item.Elem().Field(0).Set(key)
				item.Elem().Field(1).Set(v.MapIndex(key))
				items = append(items, item.UnsafePointer())
			}
		default:
			if !v.IsNil() {
				items = append(items, v.UnsafePointer())
			}
		}
		for len(of) < len(items) {
			of = append(of, i)
		}
	}
	if len(items) == 0 {
		return
	}
	w.line()
	w.key(p.name)
	s := p.items(&of, &items, false)
	s.write(w, len(items))
}

// read reads what write wrote.
func (p *part) read(raw []byte, rows int) {
	var of []int
	var items []unsafe.Pointer
	s := p.items(&of, &items, true)
	s.read(json.NewDecoder(bytes.NewReader(raw)), func(n int) {
		of, items = make([]int, n), make([]unsafe.Pointer, n)
		all := reflect.MakeSlice(reflect.SliceOf(p.item), n, n)
		for i := range items {
			items[i] = all.Index(i).Addr().UnsafePointer()
		}
	})
	for i, at := range items {
		if of[i] < 0 || of[i] >= rows { // as most are right, nothing is boxed for them
			must.Not(true, "row %d: found a row %d, expected one of %d", i, of[i], rows)
		}
		item := reflect.NewAt(p.item, at)
		switch v := p.list(of[i]); v.Kind() {
		case reflect.Slice:
			v.Set(reflect.Append(v, item.Elem()))
		case reflect.Map:
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(item.Elem().Field(0), item.Elem().Field(1))
		default:
			v.Set(item)
		}
	}
}

// expectDelim reads a bracket.
func expectDelim(dec *json.Decoder, want json.Delim) {
	at := dec.InputOffset()
	token, err := dec.Token()
	must.Not(err == io.EOF || err == io.ErrUnexpectedEOF, "offset %d: the file ends, expected %s", at, want)
	must.Not(err != nil, "offset %d: %w", at, err)
	must.Not(token != want, "offset %d: found %v, expected %s", at, token, want)
}

// key reads the name of a member.
func key(dec *json.Decoder) string {
	at := dec.InputOffset()
	token, err := dec.Token()
	must.Not(err != nil, "offset %d: %w", at, err)
	name, _ := token.(string) // the decoder takes nothing else here
	return name
}
