package msprobe

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unique"

	"precision/dump/dtype"
	"precision/internal/scan"
)

// reader reads the values of one entry.
type reader struct {
	*scan.JSON
	names   *names
	values  []Value
	shapes  []int64  // of all values, so that they need one piece of memory
	numbers []Number // of all Items
	extras  int      // how many keys were kept aside
	path    []byte
	section Section
	stats   []statistic // of the value that is read
	file    string
	entry   string          // its name
	types   map[string]elem // element types by their names in the file
}

type elem struct {
	typ   dtype.Type
	known bool
}

// What a call may have. A list of a million numbers is no argument that anyone
// compares, and its values would take fifty times the memory of the file.
const (
	maxValues = 1 << 14
	maxDepth  = 64
	maxExtras = 1 << 12
	maxItems  = 1 << 16
	maxDims   = 64      // of a tensor
	maxShapes = 1 << 18 // dims of all tensors
)

// value reads a value and all below it.
func (r *reader) value(depth int) {
	switch b := r.Peek(); {
	case depth > maxDepth:
		r.fail(fmt.Sprintf("values nested at most %d deep", maxDepth))
	case b == '[':
		r.Enter('[', "value")
		for i := 0; r.Elem(); i++ {
			back := len(r.path)
			r.path = strconv.AppendInt(r.point(), int64(i), 10)
			r.value(depth + 1)
			r.path = r.path[:back]
		}
	case b == '{':
		if r.leaf() {
			return
		}
		empty := true
		r.Enter('{', "value")
		for key := r.Key(); key != nil; key = r.Key() {
			empty = false
			back := len(r.path)
			r.path = append(r.point(), valid(key)...)
			r.value(depth + 1)
			r.path = r.path[:back]
		}
		if empty && r.section == Output && r.Err == nil { // a result of which nothing is told
			if v := r.add(); v != nil {
				v.Kind = Tensor
			}
		}
	default:
		n := r.number()
		if r.Err != nil {
			return
		}
		v := r.add()
		if v == nil {
			return
		}
		if v.Value = n; n.Kind != Null {
			v.Kind = Bare
		}
	}
}

// point returns the path with a point for what follows.
func (r *reader) point() []byte {
	if len(r.path) == 0 {
		return r.path
	}
	return append(r.path, '.')
}

// add makes room for a value at the current path; nil if there are too many.
func (r *reader) add() *Value {
	if len(r.values) == maxValues {
		r.fail(fmt.Sprintf("at most %d values in a call", maxValues))
		return nil
	}
	if len(r.values) < cap(r.values) {
		r.values = r.values[:len(r.values)+1]
	} else {
		r.values = append(r.values, Value{})
	}
	v := &r.values[len(r.values)-1]
	*v = Value{Section: r.section, Path: r.names.of(r.path)}
	return v
}

// leaf reads an object that is one value: one with a type that is a text, and a
// key that confirms it, as a dict of the user may have a key "type", too. It
// reads nothing and returns false for other objects.
func (r *reader) leaf() bool {
	if !r.typed() {
		return false
	}
	start := r.Here()
	r.stats = r.stats[:0]
	count, shapes, numbers := len(r.values), len(r.shapes), len(r.numbers)
	v := r.add()
	if v == nil {
		return true
	}
	confirmed, isText := false, false
	unsummed, summedAt := int64(-1), int64(-1)
	badKey, badAt := "", int64(0) // a dtype that is no text, or a shape that is no list of whole numbers
	var buf [32]byte
	r.Enter('{', "value")
	for key := r.Key(); key != nil; key = r.Key() {
		key = append(buf[:0], key...) // it outlives the value
		b := r.Peek()
		at := r.Offset()
		switch string(key) {
		case "type":
			if b == '"' {
				v.Type, isText = r.text(), true
			} else {
				r.Skip()
			}
			continue
		case "dtype":
			if b == '"' {
				v.DType, confirmed = r.text(), true
				e, ok := r.types[v.DType]
				if !ok {
					e.typ, e.known = dtype.FromFramework(v.DType)
					if len(r.types) < maxNames {
						r.types[v.DType] = e
					}
				}
				v.Elem, v.Known = e.typ, e.known
				continue
			}
			badKey, badAt = "dtype", at
		case "shape":
			confirmed = true
			if shape, ok := r.shape(); ok {
				v.Shape = shape
				continue
			}
			badKey, badAt = "shape", at
		case "Max":
			if r.statistic(v, &v.Max, "Max") {
				continue
			}
		case "Min":
			if r.statistic(v, &v.Min, "Min") {
				continue
			}
		case "Mean":
			if r.statistic(v, &v.Mean, "Mean") {
				continue
			}
		case "Norm":
			if r.statistic(v, &v.Norm, "Norm") {
				continue
			}
		case "md5":
			if r.bare(&v.MD5) {
				summedAt = at
				if none[v.MD5.S] && v.MD5.Kind == Text || v.MD5.Kind == Null {
					unsummed = at
					v.MD5 = Number{Kind: Null}
				}
				continue
			}
		case "requires_grad":
			var n Number
			if r.bare(&n) {
				if n.Kind == Bool {
					v.RequiresGrad = No + Tristate(n.I)
				}
				continue
			}
		case "data_name":
			var n Number
			if r.bare(&n) {
				v.DataName = n.S
				v.Raw = v.MD5.Kind == Text
				continue
			}
		case "value":
			confirmed = true
			if b == '[' && r.items(v) || r.bare(&v.Value) {
				continue
			}
		case "format":
			confirmed = true
			if r.bare(&v.Value) {
				continue
			}
		case "group_ranks":
			confirmed = true
			if b == '[' && r.items(v) {
				continue
			}
		}
		// How a tensor is spread over ranks decides what it is: all of a recording are kept, and
		// few differ.
		name, known := valid(key), string(key) == "placements" || string(key) == "device_mesh"
		if r.extras == maxExtras && !known {
			r.Skip()
			continue
		}
		if !known {
			r.extras++
		}
		json := r.json()
		if known {
			json = unique.Make(json).Value()
		}
		v.Extra = append(v.Extra, Extra{name, json})
	}
	if r.Err != nil {
		r.values = r.values[:count]
		return true
	}
	if !isText || !confirmed {
		r.values, r.shapes, r.numbers = r.values[:count], r.shapes[:shapes], r.numbers[:numbers]
		r.Back(start)
		return false
	}
	v.Kind = kindOf(v)
	if v.Kind == Unknown && badKey != "" && strings.HasSuffix(v.Type, "Tensor") && (v.DType != "" || v.Shape != nil || v.Max.Kind != Absent) {
		v.Kind = Tensor // what is left of one
		expected := "a text"
		if badKey == "shape" {
			expected = "a list of whole numbers"
		}
		r.oddity(v, badKey, badAt, "another kind of value", expected)
	}
	if len(r.stats) > 0 && (v.Kind == Tensor || v.Kind == Unknown && strings.HasSuffix(v.Type, "Tensor")) {
		v.Kind = Tensor
		switch { // without them nobody knows what the statistics are of
		case v.DType == "":
			r.oddity(v, "dtype", r.stats[0].at, "none", "a text")
		case v.Shape == nil:
			r.oddity(v, "shape", r.stats[0].at, "none", "a list of whole numbers")
		case slices.ContainsFunc(v.Shape, func(d int64) bool { return d < 0 }):
			r.oddity(v, "shape", r.stats[0].at, fmt.Sprint(v.Shape), "a list of whole numbers from 0 on")
		}
	}
	if len(v.Shape) > 0 && v.Kind == Tensor && summedAt > 0 && !digest(v.MD5) {
		unsummed, v.MD5 = summedAt, Number{Kind: Null}
	}
	for i := range r.stats {
		x := &r.stats[i]
		if x.n == nil {
			if v.Kind == Tensor { // anything else may have a member of this name
				r.oddity(v, x.key, x.at, "several values", "a number")
			}
			continue
		}
		if x.n.Kind == Bool && v.Known && !v.Elem.IsBool() {
			r.oddity(v, x.key, x.at, x.n.String(), "a number")
			*x.n = Number{Kind: Null}
		}
		if (x.key == "Max" || x.key == "Min") && v.Known && (v.Elem.IsInteger() || v.Elem.IsBool()) && !strings.Contains(v.DType, ".q") && x.n.Kind == Float && x.n.F-x.n.F == 0 && x.n.F != math.Trunc(x.n.F) {
			r.oddity(v, x.key, x.at, x.n.String(), "an integer, as elements of "+v.DType+" are")
		}
		// Where statistics were computed the checksum was, too.
		if _, ok := x.n.Value(); ok && unsummed >= 0 {
			r.oddity(v, "md5", unsummed, "none", "a checksum")
		}
	}
	return true
}

// digest tells whether a checksum is one, or none was recorded: digits to the base of 16. Of a tensor without
// dimensions recorders write its value.
func digest(n Number) bool {
	return n.Kind == Null || n.Kind == Text && strings.Trim(strings.TrimPrefix(n.S, "0x"), "0123456789abcdefABCDEF") == ""
}

// none are the words for a checksum that was not computed.
var none = map[string]bool{"": true, "N/A": true, "NA": true, "None": true, "null": true, "nan": true, "NaN": true}

// statistic is where in the entry a statistic of a tensor stands.
type statistic struct {
	key string
	at  int64
	n   *Number // nil for a list or an object, which was not read
}

// statistic reads a statistic; a number in quotes is a number, any other text is none and
// is noted. It returns false, with nothing read, if there is a container.
func (r *reader) statistic(v *Value, n *Number, key string) bool {
	b, at, before := r.Peek(), r.Offset(), n.Kind
	if b == '[' || b == '{' {
		r.stats = append(r.stats, statistic{key, at, nil})
		return false
	}
	*n = r.number()
	if before != Absent {
		r.oddity(v, key, at, "a second one", "one")
		*n = Number{Kind: Null}
	}
	if n.Kind == Text {
		text := strings.TrimSpace(n.S)
		quoted, ok := ParseNumber([]byte(text))
		if ok = ok && quoted.F-quoted.F == 0; !ok {
			r.oddity(v, key, at, strconv.Quote(short(n.S)), "a number")
			quoted = Number{Kind: Null}
		}
		*n = quoted
	}
	r.stats = append(r.stats, statistic{key, at, n})
	return true
}

// oddity notes that a statistic is no number, or a checksum none, of the first in each value.
func (r *reader) oddity(v *Value, key string, at int64, found, expected string) {
	if v.Odd == nil && r.Err == nil {
		place := v.Section.String()
		if v.Path != "" {
			place += "." + v.Path
		}
		v.Odd = &SyntaxError{File: r.file, Offset: at, Found: found, Expected: expected + " in " + strconv.Quote(r.entry) + ", " + place + "." + key}
	}
}

// typed looks ahead whether an object may be a value: whether its first key is a type, or a later one with a text.
func (r *reader) typed() (found bool) {
	start := r.Here()
	r.Enter('{', "value")
	first := true
	for key := r.Key(); key != nil; key = r.Key() {
		if found = string(key) == "type" && (first || r.Peek() == '"'); found {
			break
		}
		first = false
		r.Skip()
	}
	r.Back(start)
	return found
}

// bare reads a bare value; false, with nothing read, if there is a container.
func (r *reader) bare(n *Number) bool {
	if b := r.Peek(); b == '[' || b == '{' {
		return false
	}
	*n = r.number()
	return true
}

// shape reads a list of whole numbers; false, with nothing read, if there is
// something else.
func (r *reader) shape() ([]int64, bool) {
	if r.Peek() != '[' {
		return nil, false
	}
	start, from := r.Here(), len(r.shapes)
	whole := true
	r.Enter('[', "shape")
	for i := 0; r.Elem(); i++ {
		if b := r.Peek(); b == '[' || b == '{' || i == maxDims || len(r.shapes) == maxShapes {
			whole = false
			r.Skip()
			continue
		}
		n := r.number()
		whole = whole && n.Kind == Int
		r.shapes = append(r.shapes, n.I)
	}
	switch {
	case r.Err != nil:
		return nil, true
	case !whole:
		r.Back(start)
		return nil, false
	case r.shapes == nil:
		return []int64{}, true // a scalar, which has a shape
	}
	return r.shapes[from:len(r.shapes):len(r.shapes)], true
}

// items reads a list of bare values; false, with nothing read, if there is
// something else in it.
func (r *reader) items(v *Value) bool {
	start, from := r.Here(), len(r.numbers)
	plain := true
	r.Enter('[', "value")
	for r.Elem() {
		var n Number
		if len(r.numbers) == maxItems || !r.bare(&n) {
			plain = false
			r.Skip()
			continue
		}
		r.numbers = append(r.numbers, n)
	}
	if !plain && r.Err == nil {
		r.numbers = r.numbers[:from]
		r.Back(start)
		return false
	}
	if v.Items = r.numbers[from:len(r.numbers):len(r.numbers)]; v.Items == nil {
		v.Items = []Number{}
	}
	return true
}

var kinds = map[string]Kind{
	"numpy.ndarray": Array, "slice": Slice, "ellipsis": Ellipsis, "torch.Size": Size, "torch.dtype": DType, "torch.device": Device,
	"torch.memory_format": MemoryFormat, "torch.ProcessGroup": Group, "torch.distributed.ReduceOp": ReduceOp,
}

func kindOf(v *Value) Kind {
	if k, ok := kinds[v.Type]; ok {
		return k
	}
	switch {
	case v.DType != "" && v.Shape != nil:
		return Tensor
	case v.Value.Kind != Absent:
		return Scalar
	}
	return Unknown
}
