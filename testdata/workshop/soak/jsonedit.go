package soak

import (
	"bytes"
	"encoding/json"
	"precision/internal/must"
	"slices"
)

// node is a value of a JSON text: where it is, and its name or place in what holds it.
type node struct {
	key      string // of an object
	from, to int
	inner    []*node
	keyFrom  int // where the key begins, or the value in a list
}

// parse finds the values of a JSON text, in order.
func parse(text []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value(d, text)
}

func value(d *json.Decoder, text []byte) (_ *node, err error) {
	defer must.Catch(&err)
	n := &node{from: begins(text, int(d.InputOffset()))}
	n.keyFrom = n.from
	token := must.Get(d.Token())
	if open, ok := token.(json.Delim); ok {
		for d.More() {
			at, key := begins(text, int(d.InputOffset())), ""
			if open == '{' {
				token := must.Get(d.Token())
				key, _ = token.(string)
			}
			v := must.Get(value(d, text))
			v.key, v.keyFrom = key, at
			n.inner = append(n.inner, v)
		}
		must.Get(d.Token())
	}
	n.to = int(d.InputOffset())
	return n, nil
}

// begins is where the next value or key begins.
func begins(text []byte, at int) int {
	for at < len(text) && bytes.IndexByte([]byte(" \t\r\n,:"), text[at]) >= 0 {
		at++
	}
	return at
}

// get is the value of a key, nil if there is none.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, v := range n.inner {
		if v.key == key {
			return v
		}
	}
	return nil
}

// edit is a piece of a text to replace.
type edit struct {
	from, to int
	by       string
}

// edited is the text with its pieces replaced, which do not overlap.
func edited(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	out := slices.Clone(text)
	for _, e := range edits {
		out = slices.Concat(out[:e.from], []byte(e.by), out[e.to:])
	}
	return out
}

// without is the edit that takes the i-th value out of its object or list.
func (n *node) without(i int) edit {
	v := n.inner[i]
	if i+1 < len(n.inner) {
		return edit{v.keyFrom, n.inner[i+1].keyFrom, ""}
	}
	if i > 0 {
		return edit{n.inner[i-1].to, v.to, ""}
	}
	return edit{v.keyFrom, v.to, ""}
}
