package repl

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/repl/workspace"
)

// cell is what a result table says about one tensor. Values that are missing
// are NaN.
type cell struct {
	slot           int
	cosine         float64
	maxAbs, maxRel float64
	reasons        []result.Reason
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
	// ordered: the order is the table's own.
	ordered bool
	// missing are the reasons of tensors without values.
	missing [][]result.Reason
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

// readResult reads a result table of any generation. Rows that cannot be used
// are dropped and returned as warnings.
func readResult(path string) (*resultTable, []error, error) {
	t, warnings, err := report.OpenCSV(path)
	if err != nil {
		return nil, warnings, err
	}
	return newResultTable(t, path), warnings, nil
}

// newResultTable sorts the rows of a table by operators; path is where people
// find it.
func newResultTable(from *result.Table, path string) *resultTable {
	t := &resultTable{path: path, ordered: !from.Meta.Unordered && from.Meta.Pairing.How != result.ByName}
	ops := map[string]*opResult{}
	for i := range from.Rows {
		t.add(ops, &from.Rows[i])
	}
	for _, o := range t.ops {
		for _, list := range [][]cell{o.inputs, o.outputs} {
			slices.SortStableFunc(list, func(a, b cell) int { return cmp.Compare(a.slot, b.slot) })
		}
	}
	t.sort()
	return t
}

func (t *resultTable) sort() {
	slices.SortStableFunc(t.ops, func(a, b *opResult) int { return cmp.Compare(a.order, b.order) })
}

// inGraphOrder sorts a table that does not know its order by the operators'
// places in the graph, if most of them are in it. Indexes are not the order of
// execution: they count groups of operators as the file lists them.
func (s *session) inGraphOrder(t *resultTable) {
	if t.ordered {
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

func (t *resultTable) add(ops map[string]*opResult, r *result.Row) {
	if r.Role == result.Whole {
		t.missing = append(t.missing, r.Reasons)
		return
	}
	o := ops[r.Op]
	if o == nil {
		names := func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
		}
		o = &opResult{index: strconv.Itoa(r.Index), op: r.Op, order: int64(r.Facts.Order), left: names(r.Left.Names), right: names(r.Right.Names)}
		ops[o.op] = o
		t.ops = append(t.ops, o)
	}
	value := func(m metric.Metric) float64 { return r.Result.Values[m].Float() }
	c := cell{slot: r.Slot, cosine: value(metric.CosineSimilarity), maxAbs: value(metric.MaxAbsoluteError), maxRel: value(metric.MaxRelativeError), reasons: r.Reasons}
	for _, reason := range r.Reasons {
		switch reason.Kind {
		case result.NonFinite, result.LeftNonFinite, result.RightNonFinite:
			c.oneSided = true
		}
	}
	if !c.oneSided && math.IsNaN(c.cosine) && math.IsNaN(c.maxAbs) && math.IsNaN(c.maxRel) {
		t.missing = append(t.missing, c.reasons)
	}
	if r.Role == result.Input {
		o.inputs = append(o.inputs, c)
	} else {
		o.outputs = append(o.outputs, c)
	}
}

// reasonsOf says why a tensor has no values, or what to know when reading them.
func (s *session) reasonsOf(c *cell) string { return report.Sentences(s.Lang, c.reasons) }

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
