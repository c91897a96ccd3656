package read

import (
	"strconv"

	"precision/graph"
	"precision/internal/scan"
)

// plainAttrs reads an attribute map as a plain object, in which the JSON type of a value stands for its branch.
func (j *jsonReader) plainAttrs() {
	j.Enter('{', "attr")
	for key := j.Key(); key != nil; key = j.Key() {
		k := j.to.AttrKey(key)
		j.to.begin(attrEntry, 0)
		j.to.attr.key, j.to.attr.value = k, j.plainValue()
		attrEntry.end(j.to)
	}
}

func (j *jsonReader) plainValue() *graph.Value {
	to := j.to
	switch c := j.Peek(); c {
	case '"':
		return to.TextValue(j.Str())
	case 't', 'f':
		return to.BoolValue(string(j.Word()) == "true")
	case 'n':
		j.Word()
		return to.Empty
	case '{':
		j.object(attrEntry.named([]byte("value")), "attribute value")
		return to.attr.value
	case '[':
		return j.plainList()
	}
	w := string(j.Word())
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		return to.IntValue(n)
	}
	f, _ := strconv.ParseFloat(w, 32)
	return to.FloatValue(float32(f))
}

func (j *jsonReader) plainList() *graph.Value {
	var l graph.List
	var rows [][]int64
	l.Reset()
	j.Enter('[', "attribute value")
	for j.Elem() {
		c := j.Peek()
		number := c == '-' || c >= '0' && c <= '9'
		switch {
		case c == '"' && l.Is(graph.KindString):
			l.Texts = append(l.Texts, j.to.Intern(j.Str()))
		case (c == 't' || c == 'f') && l.Is(graph.KindBool):
			l.Bools = append(l.Bools, string(j.Word()) == "true")
		case c == '[':
			rows = append(rows, j.plainRow())
		case number && l.Elem != graph.KindFloat && j.isInt() && l.Is(graph.KindInt):
			if n, ok := j.int(thing{"an attribute value", true}); ok {
				l.Ints = append(l.Ints, n)
			}
		case number && (l.Elem == graph.KindFloat || l.Elem == graph.KindEmpty || l.Elem == graph.KindInt):
			if l.Elem == graph.KindInt { // 1, 0.5: numbers written without a point
				for _, n := range l.Ints {
					l.Floats = append(l.Floats, float32(n))
				}
				l.Ints = l.Ints[:0]
			}
			l.Elem = graph.KindFloat
			f, _ := j.parseFloat()
			l.Floats = append(l.Floats, f)
		default:
			j.Skip()
		}
	}
	if rows != nil {
		return j.to.IntRows(rows)
	}
	return j.to.ListValue(&l)
}

func (j *jsonReader) plainRow() []int64 {
	var row []int64
	j.Enter('[', "row of an attribute value")
	for j.Elem() {
		if c := j.Peek(); (c == '-' || c >= '0' && c <= '9') && j.isInt() {
			n, _ := j.int(thing{"row of an attribute value", true})
			row = append(row, n)
			continue
		}
		j.to.Warn(j.warning(graph.Messagef("%s is %s, skipped", thing{"row of an attribute value", true}.argument(), scan.DescribeJSON(j.Peek()))))
		j.Skip()
	}
	return j.to.IntList(row)
}
