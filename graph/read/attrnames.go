package read

import "precision/graph"

// attrNames are the tables of a model whose attributes are compressed (om_compress_version 1): keys are stored as
// numbers into names, and the texts of some attributes as numbers into values.
type attrNames struct {
	names  [][]byte
	values [][]byte
	isText []bool // per name: its integers stand for texts
}

// readNames looks for the tables among the attributes of the model, which come after the graphs that need them.
// nil when the model is not compressed.
func (w *wireReader) readNames(p []byte) *attrNames {
	entry := modelDef.named([]byte("attr"))
	var x wireField
	for w.next(&p, &x) {
		if int(x.num) == entry.number && x.typ == bytesT {
			w.value(entry, &x)
		}
	}
	attrs := graph.Attrs(w.to.attrs)
	w.to.attrs = w.to.attrs[len(w.to.attrs):]
	if version, _ := attrs.Get(graph.KeyCompress).Int(); version != 1 {
		return nil
	}
	t := &attrNames{isText: attrs.Get(graph.KeyTextTable).Bools()}
	for _, s := range attrs.Get(graph.KeyNameTable).Strings() {
		t.names = append(t.names, []byte(s))
	}
	for _, s := range attrs.Get(graph.KeyValueTable).Strings() {
		t.values = append(t.values, []byte(s))
	}
	return t
}

// key returns the name a stored key stands for and whether the integers of its value stand for texts. Keys that
// are not encoded, or whose number means nothing, are returned as they are.
func (t *attrNames) key(k []byte) (name []byte, asText bool) {
	if t == nil || len(k) < 2 || k[0] != 0 {
		return k, false
	}
	// Base 127, lowest digit first, each digit plus one.
	n, factor := 0, 1
	for _, c := range k[1:] {
		if c == 0 || c > 127 || factor > 1<<30 {
			return k, false
		}
		n += int(c-1) * factor
		factor *= 127
	}
	if n >= len(t.names) || len(t.names[n]) > 0 && t.names[n][0] == 0 {
		return k, false
	}
	return t.names[n], n < len(t.isText) && t.isText[n]
}

// text turns the numbers of a value into the texts they stand for. Numbers outside the table stay.
func (t *attrNames) text(b *graph.Builder, v *graph.Value) *graph.Value {
	switch {
	case v.Kind() == graph.KindInt:
		if n, _ := v.Int(); n >= 0 && n < int64(len(t.values)) {
			return b.TextValue(t.values[n])
		}
	case v.Kind() == graph.KindList && v.Elem() == graph.KindInt:
		var l graph.List
		l.Reset()
		l.Is(graph.KindString)
		l.ValType = 1
		for _, n := range v.Ints() {
			if n < 0 || n >= int64(len(t.values)) {
				return v
			}
			l.Texts = append(l.Texts, b.Intern(t.values[n]))
		}
		return b.ListValue(&l)
	}
	return v
}
