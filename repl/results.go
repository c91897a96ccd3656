package repl

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"precision/repl/workspace"
)

// cell is what a result table says about one tensor. Values that are missing
// are NaN.
type cell struct {
	slot           int
	cosine         float64
	maxAbs, maxRel float64
	reason         string
	oneSided       bool // NaN or Inf are not known to be on both sides
}

// diverged reports that NaN or Inf elements of the two sides disagree: then
// there is no cosine, and the largest error is infinite. Tables of msaccucmp
// have an error of nan instead.
func (c *cell) diverged() bool {
	return c.oneSided || math.IsNaN(c.cosine) && math.IsInf(c.maxAbs, 0)
}

// bad judges a tensor by its cosine. Scalars and all-zero tensors have none and
// are judged by their relative error.
func (c *cell) bad(threshold float64) bool {
	if math.IsNaN(c.cosine) {
		return c.maxRel > 1-threshold && !math.IsInf(c.maxRel, 0)
	}
	return c.cosine <= threshold
}

// opResult are the rows of an operator in a result table.
type opResult struct {
	index, op       string
	order           int64 // place in execution order
	left, right     []string
	inputs, outputs []cell
}

// inserted reports that the graph compiler added the operator: the framework has
// none like it, and its golden array is that of what feeds it.
func (o *opResult) inserted() bool { return len(o.right) == 1 && o.right[0] == "*" }

// worst is the output to judge the operator by: one that diverged, else a bad
// one, else nil.
func (o *opResult) worst(threshold float64) *cell {
	var bad *cell
	for i := range o.outputs {
		c := &o.outputs[i]
		if c.diverged() {
			return c
		}
		if bad == nil && c.bad(threshold) {
			bad = c
		}
	}
	return bad
}

// resultTable is a result file.
type resultTable struct {
	path string
	ops  []*opResult // in execution order
	// sequence: the order is that of the table's own column OpSequence.
	sequence bool
	// missing counts tensors without values by the reason given.
	missing map[string]int
}

// op finds the rows of an operator.
func (t *resultTable) op(name string) *opResult {
	for _, o := range t.ops {
		if o.op == name {
			return o
		}
	}
	return nil
}

// fields are the columns of a result table; -1 is a column it does not have.
type fields struct{ index, sequence, left, right, tensor, cosine, maxAbs, deviation, maxRel, reason int }

// noHeader are the columns of tables without a header.
var noHeader = fields{0, -1, 1, 2, 3, 4, 5, -1, -1, -1}

// findFields finds columns by the titles of any generation.
func findFields(header []string) (fields, error) {
	find := func(titles ...string) int {
		for i, h := range header {
			if slices.Contains(titles, strings.TrimSpace(h)) {
				return i
			}
		}
		return -1
	}
	f := fields{
		index: find("Index"), sequence: find("OpSequence"),
		left: find("NPUDump", "LeftOp"), right: find("GroundTruth", "RightOp"),
		tensor: find("TensorIndex"), cosine: find("CosineSimilarity"), maxAbs: find("MaxAbsoluteError"),
		deviation: find("StandardDeviation"),
		maxRel:    find("MaxRelativeError"), reason: find("CompareFailReason"),
	}
	if f.tensor < 0 || f.cosine < 0 {
		return f, errors.New("no column TensorIndex or CosineSimilarity, expected a result table")
	}
	return f, nil
}

// readResult reads a result table of any generation. Rows that cannot be used
// are dropped and returned as warnings.
func readResult(path string) (*resultTable, []error, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return parseResult(file, path)
}

// parseResult is readResult of an open file; path stands in errors.
func parseResult(from io.Reader, path string) (*resultTable, []error, error) {
	text := bufio.NewReader(from)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		text.Discard(3)
	}
	r := csv.NewReader(text)
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	t := &resultTable{path: path, missing: map[string]int{}}
	ops := map[string]*opResult{}
	at := noHeader
	var warnings []error
	rows, header := 0, false
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, warnings, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if strings.TrimSpace(row[0]) == "Index" {
			if at, err = findFields(row); err != nil {
				return nil, warnings, fmt.Errorf("%s: line %d: %w", path, line, err)
			}
			header = true
			continue
		}
		rows++
		if err := t.add(ops, row, at); err != nil && len(warnings) < 10 {
			warnings = append(warnings, fmt.Errorf("%s: line %d: %w", path, line, err))
		}
	}
	if !header && len(t.ops) == 0 {
		return nil, nil, fmt.Errorf("%s: none of its %d rows is a tensor's and no line begins with Index, expected a result table", path, rows)
	}
	if len(warnings) > 0 && len(t.ops) == 0 && len(t.missing) == 0 {
		return nil, warnings, fmt.Errorf("%s: none of its %d rows can be used", path, rows)
	}
	t.sequence = at.sequence >= 0
	for _, o := range t.ops {
		for _, list := range [][]cell{o.inputs, o.outputs} {
			slices.SortStableFunc(list, func(a, b cell) int { return cmp.Compare(a.slot, b.slot) })
		}
	}
	t.sort()
	return t, warnings, nil
}

func (t *resultTable) sort() {
	slices.SortStableFunc(t.ops, func(a, b *opResult) int { return cmp.Compare(a.order, b.order) })
}

// inGraphOrder sorts a table without the column OpSequence by the operators'
// places in the graph, if most of them are in it. Indexes are not the order of
// execution: they count groups of operators as the file lists them.
func (s *session) inGraphOrder(t *resultTable) {
	if t.sequence {
		return
	}
	for _, id := range s.data.IDs() {
		for _, f := range id.Graphs().Files {
			places := make(map[string]int64, len(f.Index.Ops))
			for _, op := range f.Index.Ops {
				if _, ok := places[op.Name]; !ok {
					places[op.Name] = op.ID
				}
			}
			known := 0
			for _, o := range t.ops {
				if _, ok := places[o.op]; ok {
					known++
				}
			}
			if 2*known <= len(t.ops) {
				continue
			}
			last := int64(0) // what the graph does not know stays where it is
			for _, o := range t.ops {
				if at, ok := places[o.op]; ok {
					last = at
				}
				o.order = last
			}
			t.sort()
			return
		}
	}
}

func (t *resultTable) add(ops map[string]*opResult, row []string, at fields) error {
	get := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	reason := get(at.reason)
	tensor := get(at.tensor)
	if tensor == "NaN" || tensor == "*" || tensor == "" {
		t.missing[strings.Clone(reason)]++
		return nil
	}
	op, input, slot, err := cutTensor(tensor)
	if err != nil {
		return err
	}
	o := ops[op]
	if o == nil {
		names := func(s string) []string {
			return strings.FieldsFunc(strings.Clone(s), func(r rune) bool { return r == ' ' || r == ',' })
		}
		o = &opResult{index: strings.Clone(get(at.index)), op: strings.Clone(op), left: names(get(at.left)), right: names(get(at.right))}
		o.order, _ = strconv.ParseInt(o.index, 10, 64)
		if seq, err := strconv.ParseInt(get(at.sequence), 10, 64); err == nil {
			o.order = seq
		}
		ops[o.op] = o
		t.ops = append(t.ops, o)
	}
	c := cell{slot: slot, cosine: value(get(at.cosine)), maxAbs: value(get(at.maxAbs)), maxRel: value(get(at.maxRel)), reason: strings.Clone(reason)}
	// nan is computed from NaN or Inf, NaN stands for what was not computed.
	if get(at.cosine) == "nan" || get(at.maxAbs) == "nan" {
		c.blame(get(at.deviation))
	}
	if !c.oneSided && math.IsNaN(c.cosine) && math.IsNaN(c.maxAbs) && math.IsNaN(c.maxRel) {
		t.missing[c.reason]++
	}
	if input {
		o.inputs = append(o.inputs, c)
	} else {
		o.outputs = append(o.outputs, c)
	}
	return nil
}

// blame tells on which side the NaN or Inf of a tensor are, from its cell
// StandardDeviation: (mean;deviation),(mean;deviation) of left and right.
func (c *cell) blame(deviation string) {
	left, right, known := strings.Cut(strings.ToLower(deviation), "),(")
	finite := func(s string) bool { return !strings.Contains(s, "nan") && !strings.Contains(s, "inf") }
	text := "The data hold NaN or Inf."
	switch {
	case !known || finite(left) && finite(right):
		c.oneSided = true
	case finite(right):
		c.oneSided, text = true, "Only the left data hold NaN or Inf."
	case finite(left):
		c.oneSided, text = true, "Only the right data hold NaN or Inf."
	default:
		text = "Both sides hold NaN or Inf."
	}
	if c.reason == "" {
		c.reason = text
	}
}

// cutTensor splits "op:output:0"; operator names may contain colons.
func cutTensor(s string) (op string, input bool, slot int, err error) {
	i := strings.LastIndexByte(s, ':')
	j := strings.LastIndexByte(s[:max(i, 0)], ':')
	if i >= 0 && j >= 0 && (s[j+1:i] == "input" || s[j+1:i] == "output") {
		if slot, err = strconv.Atoi(s[i+1:]); err == nil && slot >= 0 {
			return s[:j], s[j+1:i] == "input", slot, nil
		}
	}
	return "", false, 0, fmt.Errorf("found the tensor %q, expected operator:output:0", s)
}

func value(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// newestResults are the tables of the newest comparison, empty without any. It is
// an error if one cannot be read.
func (s *session) newestResults() (tables []*resultTable, code int) {
	dir, n := workspace.NewestResult(s.data.ResultsDir())
	if n == 0 && !workspace.IsDir(dir) {
		return nil, exitOK
	}
	tables, err := s.readResults(dir)
	if err != nil {
		code = exitError
	}
	return tables, code
}

// readResults reads the tables at or below a path and tells what is wrong with
// them; the error, told too, is that of the first that cannot be read.
func (s *session) readResults(path string) (tables []*resultTable, err error) {
	files, err := workspace.ResultFiles(path)
	if err != nil {
		s.Fail("error", err)
		return nil, err
	}
	for _, f := range files {
		t, warnings, failed := readResult(f)
		for _, w := range warnings {
			s.Warn("error", w)
		}
		if failed != nil {
			if err == nil {
				err = failed
			}
			s.Fail("error", failed)
			continue
		}
		s.inGraphOrder(t)
		tables = append(tables, t)
	}
	return tables, err
}
