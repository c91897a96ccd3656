package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode/utf8"

	"precision/compare/result"
	"precision/internal/must"
)

// Bounds of an answer. A client gets it twice, as structured content and as text for models that are shown nothing
// else, where quotes are escaped: a list may have listBytes, and about as much is said beside it.
const (
	mostBytes = 20_000
	listBytes = 6_000
	mostText  = 900 // of one sentence
	mostName  = 600 // of one name; they are longer only where somebody means harm
	mostNames = 12  // of one list of names
)

// known is a number, nil where it stands for none.
func known(v float64) *result.Number {
	if math.IsNaN(v) {
		return nil
	}
	n := result.Number(v)
	return &n
}

// clip cuts a text that is too long for an answer.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// one refuses several operators that have a part of a name.
func one(names []string, part string) {
	must.Not(len(names) > 1, "%d operators have %q in their names: %s", len(names), clip(part, 200), strings.Join(clipped(names, mostNames, 120), ", "))
}

// clipped cuts a list of texts and each of them.
func clipped(list []string, most, each int) (out []string) {
	for i, s := range list {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(list)-most))
		}
		out = append(out, clip(s, each))
	}
	return out
}

// Page says where in a list an answer stands.
type Page struct {
	Total int    `json:"total" jsonschema:"how many there are"`
	Next  string `json:"next_cursor,omitempty" jsonschema:"give this as cursor, with the other arguments as they were, to get the ones that follow"`
}

// position is what a cursor holds: the list it belongs to and a place in it.
type position struct {
	List uint64 `json:"l"`
	At   int    `json:"a"`
}

// listKey tells lists apart: what was asked, of which state of a table.
func listKey(parts ...any) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return h.Sum64()
}

var (
	errCursor = errors.New("unknown cursor: give one that an answer had as next_cursor, or none to begin at the first")
	errStale  = errors.New("stale cursor: it belongs to other arguments, or the table has changed since; ask again without a cursor")
)

// start is where a cursor of a list with so many items stands.
func start(cursor string, list uint64, items int) int {
	if cursor == "" {
		return 0
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var p position
	if err != nil || json.Unmarshal(text, &p) != nil || p.At <= 0 {
		must.Do(errCursor)
	}
	if p.List != list || p.At >= items {
		must.Do(errStale)
	}
	return p.At
}

func cursorOf(list uint64, at int) string {
	text, _ := json.Marshal(position{list, at})
	return base64.RawURLEncoding.EncodeToString(text)
}

// fill makes a page: items from the cursor on, as many as there is room for, at least one.
func fill[T any](cursor string, list uint64, items, room int, item func(int) T) (page Page, out []T) {
	page.Total = items
	at := start(cursor, list, items)
	out = []T{}
	for used := 0; at < items; at++ {
		one := item(at)
		text := must.Get(json.Marshal(one))
		if used += len(text) + 1; used > room && len(out) > 0 {
			page.Next = cursorOf(list, at)
			break
		}
		out = append(out, one)
	}
	return page, out
}
