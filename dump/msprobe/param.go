package msprobe

import "encoding/json"

// Param is an argument of an operation, by the JSON of its value.
func Param(key, text string) Value {
	v := Value{Section: Kwargs, Path: key, Kind: Scalar, Type: "param"}
	var s string
	switch {
	case text == "null":
		v.Kind = None
	case text == "true" || text == "false":
		v.Value = Number{Kind: Bool}
		if text == "true" {
			v.Value.I, v.Value.F = 1, 1
		}
	case json.Unmarshal([]byte(text), &s) == nil:
		v.Value = Number{Kind: Text, S: s}
	default:
		n, ok := ParseNumber([]byte(text))
		if !ok {
			n = Number{Kind: Text, S: text} // a list
		}
		v.Value = n
	}
	return v
}
