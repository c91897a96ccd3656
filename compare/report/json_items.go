package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// eachItem calls f with every item of a JSON list that is known to be valid JSON.
func eachItem(raw []byte, f func(item []byte) error) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' {
		return unexpected(raw, "a list")
	}
	raw = raw[1 : len(raw)-1]
	depth, begin, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			if err := f(bytes.TrimSpace(raw[begin:i])); err != nil {
				return err
			}
			begin = i + 1
		}
	}
	if last := bytes.TrimSpace(raw[begin:]); len(last) > 0 {
		return f(last)
	}
	return nil
}

// parseNumber reads a number as [result.Number] is written.
func parseNumber(item []byte) (float64, error) {
	switch string(item) {
	case `"NaN"`:
		return math.NaN(), nil
	case `"Infinity"`:
		return math.Inf(1), nil
	case `"-Infinity"`:
		return math.Inf(-1), nil
	}
	if c := item[0]; c != '-' && (c < '0' || c > '9') { // ParseFloat knows more words
		return 0, unexpected(item, "a number")
	}
	v, err := strconv.ParseFloat(string(item), 64)
	if err != nil {
		return 0, unexpected(item, "a number")
	}
	return v, nil
}

// parseBytes reads a text as jsonWriter.bytes writes it.
func parseBytes(item []byte) (s string, err error) {
	if n := len(item); n >= 2 && item[0] == '"' && bytes.IndexByte(item, '\\') < 0 {
		return string(item[1 : n-1]), nil
	}
	if json.Unmarshal(item, &s) == nil && item[0] == '"' {
		return s, nil
	}
	var coded struct{ Base64 *string }
	if json.Unmarshal(item, &coded) == nil && coded.Base64 != nil {
		if b, err := base64.StdEncoding.DecodeString(*coded.Base64); err == nil {
			return string(b), nil
		}
	}
	return "", unexpected(item, `a text, or {"base64": …}`)
}

// unexpected is the error of an item that is something else than expected.
func unexpected(item []byte, expected string) error {
	if len(item) == 0 {
		return errors.New("found nothing, expected " + expected)
	}
	const most = 40
	if len(item) > most {
		return fmt.Errorf("found %s…, expected %s", bytes.ToValidUTF8(item[:most], nil), expected)
	}
	return fmt.Errorf("found %s, expected %s", item, expected)
}
