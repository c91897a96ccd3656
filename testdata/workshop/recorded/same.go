package recorded

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"precision/internal/must"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Same compares the content of a file with the recorded one: tables cell by
// cell (text exactly, numbers within 1e-6 plus 1e-6 relative, fail reasons by
// presence), arrays by type, shape, order and bytes, json by value, other text
// line by line, the rest byte by byte. how is "varies" for content that is not
// compared and "unordered" where lines may come in another order.
func Same(path, want, got, how string) error {
	if how == "varies" {
		return nil
	}
	switch filepath.Ext(path) {
	case ".csv":
		return sameTable(want, got, how == "unordered")
	case ".json":
		return sameJSON(want, got)
	case ".txt", ".log":
		return sameLines(want, got, how == "unordered")
	case ".npy":
		return sameArray(want, got)
	}
	if want != got {
		return fmt.Errorf("bytes differ: %d, expected %d", len(got), len(want))
	}
	return nil
}

func readTable(text string) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	return r.ReadAll()
}

func sameTable(wantText, gotText string, unordered bool) (err error) {
	defer must.Catch(&err)
	want, err := readTable(wantText)
	must.Not(err != nil, "recorded table: %w", err)
	got := must.Get(readTable(gotText))
	if unordered {
		slices.SortFunc(want, slices.Compare[[]string])
		slices.SortFunc(got, slices.Compare[[]string])
	}
	must.Not(len(want) != len(got), "%d rows, expected %d", len(got), len(want))
	var bad []string
	for i := range want {
		if len(want[i]) != len(got[i]) {
			return fmt.Errorf("row %d has %d cells, expected %d: %q", i, len(got[i]), len(want[i]), got[i])
		}
		for k, w := range want[i] {
			name := want[0][min(k, len(want[0])-1)]
			same := closeText(w, got[i][k])
			if name == "CompareFailReason" && i > 0 {
				same = (w == "") == (got[i][k] == "")
			}
			if !same {
				bad = append(bad, fmt.Sprintf("row %d %s: %q, expected %q", i, name, got[i][k], w))
			}
		}
	}
	if bad != nil {
		return fmt.Errorf("%d cells differ\n\t%s", len(bad), strings.Join(bad[:min(len(bad), 12)], "\n\t"))
	}
	return nil
}

func sameJSON(want, got string) error {
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return fmt.Errorf("recorded json: %w", err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		return err
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Errorf("json %s, expected %s", got, want)
	}
	return nil
}

func sameLines(wantText, gotText string, unordered bool) error {
	want, got := lines(wantText), lines(gotText)
	if unordered {
		slices.Sort(want)
		slices.Sort(got)
	}
	for i := range min(len(want), len(got)) {
		if !closeText(want[i], got[i]) {
			return fmt.Errorf("line %d: %q, expected %q", i+1, got[i], want[i])
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d lines, expected %d", len(got), len(want))
	}
	return nil
}

func lines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

var number = regexp.MustCompile(`[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)`)

// closeText tells whether two texts are equal around numbers that are close.
func closeText(a, b string) bool {
	if closeNumber(a, b) {
		return true
	}
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	return slices.EqualFunc(x, y, closeNumber)
}

func closeNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	if err != nil {
		return false
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.IsNaN(x) && math.IsNaN(y) && (a == "NaN") == (b == "NaN")
	}
	return x == y || math.Abs(x-y) <= 1e-6+1e-6*math.Abs(x)
}

var npyHeader = regexp.MustCompile(`'descr': *('[^']*').*'fortran_order': *(\w+).*'shape': *(\([^)]*\))`)

func sameArray(want, got string) (err error) {
	defer must.Catch(&err)
	w, wd, err := splitArray(want)
	must.Not(err != nil, "recorded array: %w", err)
	g, gd, err := splitArray(got)
	must.Do(err)
	must.Not(w != g, "array %s, expected %s", g, w)
	must.Not(wd != gd, "array values differ (%d bytes, expected %d)", len(gd), len(wd))
	return nil
}

// splitArray returns the header facts and the payload of a version 1 npy file.
func splitArray(s string) (facts, data string, err error) {
	if !strings.HasPrefix(s, "\x93NUMPY\x01") || len(s) < 10 {
		return "", "", fmt.Errorf("not a npy file of version 1: %q", s[:min(len(s), 10)])
	}
	end := 10 + int(s[8]) + int(s[9])<<8
	if end > len(s) {
		return "", "", fmt.Errorf("header ends at %d of %d bytes", end, len(s))
	}
	m := npyHeader.FindSubmatch(bytes.ReplaceAll([]byte(s[10:end]), []byte("\n"), nil))
	if m == nil {
		return "", "", fmt.Errorf("header %q", s[10:end])
	}
	return fmt.Sprintf("%s fortran=%s %s", m[1], m[2], m[3]), s[end:], nil
}
