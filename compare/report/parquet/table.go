// Package parquet writes tables as Parquet files, for pandas, DuckDB, polars and what else reads columns: one row a
// tensor, one typed column a fact. What is not known is null; a number that was computed and is NaN is NaN.
package parquet

import (
	"io"
	"math"
	"strings"

	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/msg"
)

// Form names the columns of a comparison in the file, under the key "precision".
const Form = "precision/table/1"

// tensor is a row of a comparison.
type tensor struct {
	*result.Row
	op         *verdict.Operator
	judged     *verdict.Tensor // nil where the row speaks of no tensor
	place      int             // of the operator in execution order, -1 where there is none
	root       bool
	from       []string // the roots it inherits from
	step, rank int      // -1 where there are none
}

// Table is a Parquet file of one comparison or more.
type Table struct{ *writer[tensor] }

// NewTable starts a table on w. about says what was compared.
func NewTable(w io.Writer, about ...[2]string) *Table {
	return &Table{newWriter(w, columns(), append([][2]string{{"precision", Form}}, about...)...)}
}

// Write writes a judged table as Parquet.
func Write(w io.Writer, j *verdict.Judged) error {
	m := &j.Table.Meta
	t := NewTable(w, [2]string{"verdict", j.Verdict.String()}, [2]string{"profile", j.Profile.Name}, [2]string{"left", m.Left.Dir}, [2]string{"right", m.Right.Dir})
	if err := t.Add(j, -1, -1); err != nil {
		return err
	}
	return t.Close()
}

// Close writes what is left, and what ends the file.
func (t *Table) Close() error { return t.close() }

// Add adds the rows of a judged table. step and rank are those of the job's part, below 0 where the table may tell.
func (t *Table) Add(j *verdict.Judged, step, rank int) error {
	rows := make([]tensor, len(j.Table.Rows))
	for i := range rows {
		rows[i] = tensor{Row: &j.Table.Rows[i], place: -1, step: step, rank: rank}
	}
	for i := range j.Operators {
		op := &j.Operators[i]
		var from []string
		for _, k := range op.From {
			from = append(from, j.Operators[j.Roots[k].Operator].Op.Name)
		}
		of := func(row int) *tensor {
			r := &rows[row]
			r.op, r.place, r.from = op, i, from
			return r
		}
		for _, list := range [][]verdict.Tensor{op.Inputs, op.Outputs} {
			for k := range list {
				if x := &list[k]; !x.Seen {
					of(x.Row).judged = x
				}
			}
		}
		for _, row := range op.Whole {
			of(row)
		}
	}
	root := map[int]bool{}
	for i := range j.Roots {
		root[j.Roots[i].Operator] = true
	}
	for i := range rows {
		r := &rows[i]
		r.root = root[r.place]
		if j.Table.Meta.Recorded && step < 0 && rank < 0 {
			r.step, r.rank = verdict.PlaceOf(r.Op)
		}
		if err := t.write(*r); err != nil {
			return err
		}
	}
	return nil
}

// columns are those of a comparison, in order. Metrics follow the registry.
func columns() []column[tensor] {
	known := func(n int) (int64, bool) { return int64(n), n >= 0 }
	list := []column[tensor]{
		count("step", func(r tensor) (int64, bool) { return known(r.step) }),
		count("rank", func(r tensor) (int64, bool) { return known(r.rank) }),
		count("index", func(r tensor) (int64, bool) { return int64(r.Index), true }),
		count("order", func(r tensor) (int64, bool) { return known(r.place) }),
		text("op", func(r tensor) string { return r.Op }),
		text("type", func(r tensor) string { return r.Type }),
		text("tensor", func(r tensor) string { return r.Tensor() }),
		text("role", func(r tensor) string { return r.Role.String() }),
		count("slot", func(r tensor) (int64, bool) { return known(r.Slot) }),
		text("left", func(r tensor) string { return named(r.Left.Names) }),
		text("right", func(r tensor) string { return named(r.Right.Names) }),
		text("left_dtype", func(r tensor) string { return typeOf(&r.Left) }),
		text("right_dtype", func(r tensor) string { return typeOf(&r.Right) }),
		counts("shape", func(r tensor) []int64 { return r.Shape }),
		counts("left_shape", func(r tensor) []int64 { return r.Left.Shape }),
		counts("right_shape", func(r tensor) []int64 { return r.Right.Shape }),
		text("left_file", func(r tensor) string { return r.Left.File }),
		text("right_file", func(r tensor) string { return r.Right.File }),
		flag("compared", func(r tensor) (bool, bool) { return r.Compared, true }),
		text("verdict", func(r tensor) string {
			switch {
			case r.judged != nil:
				return r.judged.Verdict.String()
			case r.Damage != nil:
				return verdict.Damaged.String()
			}
			return verdict.Uncompared.String()
		}),
		text("state", func(r tensor) string {
			if r.op == nil {
				return ""
			}
			return r.op.State.String()
		}),
		flag("root", func(r tensor) (bool, bool) { return r.root, true }),
		texts("from", func(r tensor) []string { return r.from }),
		texts("causes", func(r tensor) (list []string) {
			if r.judged == nil {
				return nil
			}
			list = []string{}
			for _, c := range r.judged.Causes {
				list = append(list, string(c.Kind))
			}
			return list
		}),
		text("reason", func(r tensor) string { return report.Sentences(msg.English, r.Reasons) }),
	}
	list = append(list, metrics()...)
	list = append(list, facts()...)
	for _, side := range []struct {
		name    string
		summary func(*result.Recorded) *result.Summary
		facts   func(*metric.Facts) *metric.SideFacts
	}{
		{"left_", func(r *result.Recorded) *result.Summary { return r.Left }, func(f *metric.Facts) *metric.SideFacts { return &f.X }},
		{"right_", func(r *result.Recorded) *result.Summary { return r.Right }, func(f *metric.Facts) *metric.SideFacts { return &f.Y }},
	} {
		list = append(list, statistics(side.name, side.summary, side.facts)...)
	}
	return list
}

// metrics are the columns of the metrics, under their names; the one of four numbers has four, of which its own name is
// the deviation of the left side.
func metrics() (list []column[tensor]) {
	value := func(r tensor, m metric.Metric) metric.Value {
		if !r.Compared {
			return metric.Value{}
		}
		return r.Result().Values[m]
	}
	for m := range metric.Metric(metric.Count) {
		if m != metric.StandardDeviation {
			list = append(list, real(m.String(), func(r tensor) (float64, bool) {
				v := value(r, m)
				return v.Float(), v.OK()
			}))
			continue
		}
		for side, name := range []string{"", "Right"} {
			list = append(list,
				real(m.String()+name+"Mean", func(r tensor) (float64, bool) {
					v := value(r, m)
					mean, _ := v.Moments(metric.Side(side))
					return mean, v.OK()
				}),
				real(m.String()+name, func(r tensor) (float64, bool) {
					v := value(r, m)
					_, deviation := v.Moments(metric.Side(side))
					return deviation, v.OK()
				}))
		}
	}
	return list
}

// facts are the columns of what was counted of both sides together.
func facts() (list []column[tensor]) {
	for _, c := range []struct {
		name string
		of   func(*metric.Facts) int64
	}{
		{"elements", func(f *metric.Facts) int64 { return f.N }},
		{"differ", func(f *metric.Facts) int64 { return f.Differ }},
		{"disagree", func(f *metric.Facts) int64 { return f.Disagree }},
	} {
		list = append(list, count(c.name, func(r tensor) (int64, bool) {
			f := &r.Result().Facts
			return c.of(f), r.Compared && f.Known
		}))
	}
	return append(list, flag("bit_equal", func(r tensor) (bool, bool) {
		f := &r.Result().Facts
		return f.BitEqual, r.Compared && f.Known
	}))
}

// statistics are the columns of one side: what was recorded of it, or what its elements came to.
func statistics(name string, summary func(*result.Recorded) *result.Summary, of func(*metric.Facts) *metric.SideFacts) (list []column[tensor]) {
	side := func(r tensor) (*metric.SideFacts, bool) {
		f := &r.Result().Facts
		return of(f), r.Compared && f.Known
	}
	for i, x := range result.Statistics {
		list = append(list, real(name+strings.ToLower(x.Name), func(r tensor) (float64, bool) {
			if r.Recorded != nil {
				if v, known := x.In(summary(r.Recorded)); known {
					return v, true
				}
			}
			f, known := side(r)
			if x.Bit == result.KnownNorm || !known {
				return 0, false
			}
			v := [...]float64{f.Hi, f.Lo, f.Mean}[i]
			return v, !math.IsNaN(v) // of finite elements, of which there may be none
		}))
	}
	for _, c := range []struct {
		name string
		of   func(*metric.SideFacts) int64
	}{{"nan", func(f *metric.SideFacts) int64 { return f.NaN }}, {"inf", func(f *metric.SideFacts) int64 { return f.Inf }}} {
		list = append(list, count(name+c.name, func(r tensor) (int64, bool) {
			f, known := side(r)
			return c.of(f), known
		}))
	}
	return list
}

// named is what a side has in a group; "*" is nothing.
func named(names string) string {
	if names == "*" {
		return ""
	}
	return names
}

func typeOf(o *result.Operand) string {
	if o.Shape == nil {
		return ""
	}
	return o.DType.String()
}
