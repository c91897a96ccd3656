package compat

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strings"

	"precision/internal/plainfile"
)

// longestResult is the size from which on a result table is refused, 100 MiB:
// nobody's network has as many tensors.
const longestResult = 100 << 20

// ReadAdvice gives the verdict on a result table that was written before. inputs
// are the input nodes of the network in the order of the graph. Columns are
// found by name, so that tables of any set of options will do; lines that are
// not csv, or lack cells, are passed over. Errors are *[Error]: 24 for a
// file that is not named .csv, 33 for one that is too large or no result table,
// and 3 for one that cannot be read.
func ReadAdvice(path string, inputs []string) (Advice, error) {
	if !strings.HasSuffix(path, ".csv") {
		return Advice{}, errorf(codeFileType, "%s: expected a .csv file", path)
	}
	f, size, err := plainfile.Open(path, "a result table")
	if err != nil {
		return Advice{}, &Error{Code: codePath, Err: err}
	}
	defer f.Close()
	if size > longestResult {
		return Advice{}, errorf(codeFile, "%s: %d bytes, expected a result table of at most %d", path, size, longestResult)
	}
	return readAdvice(f, path, inputs)
}

func readAdvice(from io.Reader, path string, inputs []string) (Advice, error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return Advice{}, errorf(codeFile, "%s: %w", path, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets save with a byte order mark
	cells := len(header)
	column := map[string]int{}
	for i, name := range header {
		if _, double := column[name]; !double {
			column[name] = i
		}
	}
	for _, name := range []string{"Index", "NPUDump"} {
		if _, ok := column[name]; !ok {
			return Advice{}, errorf(codeFile, "%s: no column %s, expected a result table", path, name)
		}
	}
	a := newAdvisor(inputs)
	for {
		row, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return a.Advice(), nil
		case errors.As(err, &bad):
			continue
		case err != nil:
			return Advice{}, errorf(codePath, "%s: %w", path, err)
		case len(row) != cells:
			continue
		}
		cell := func(name string) string {
			if i, ok := column[name]; ok {
				return row[i]
			}
			return ""
		}
		cosine := math.NaN()
		if text := cell("CosineSimilarity"); text != "" {
			cosine = cellNumber(text)
		}
		// Names that a spreadsheet would run have a blank in front.
		mine := strings.TrimPrefix(cell("NPUDump"), " ")
		a.add(cell("Index"), mine, cell("OverFlow"), cosine)
	}
}
