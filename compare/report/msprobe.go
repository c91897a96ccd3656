package report

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/dtype"
	"precision/internal/clean"
	"precision/internal/msg"
	"precision/internal/nd"
)

// Msprobe writes the table of a comparison of recordings with the columns of msprobe's
// own compare, for scripts that read those: the target is the left side, NPU there, the
// golden side is Bench. Result and Err_message are this program's verdict on the tensor:
// pass, warning where it is suspect, error where it is bad, N/A where nothing could be
// compared. The shares of elements within a thousandth and five thousandths are not
// computed and read "unsupported".
type Msprobe struct{ Lang msg.Lang }

// msprobeForm is which columns a table of msprobe has.
type msprobeForm uint8

const (
	ofStatistics msprobeForm = iota
	ofChecksums
	ofElements
)

var msprobeStatistics = []string{"max", "min", "mean", "l2norm"}

// Write writes the table.
func (m Msprobe) Write(w io.Writer, j *verdict.Judged) error {
	form := msprobeFormOf(j.Table)
	out := clean.NewCSV(w)
	head := []string{"NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape", "Bench Tensor Shape", "NPU Requires_grad", "Bench Requires_grad"}
	switch form {
	case ofStatistics:
		head = append(head, "Max diff", "Min diff", "Mean diff", "L2norm diff", "MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr")
	case ofChecksums:
		head = append(head, "NPU MD5", "BENCH MD5")
	case ofElements:
		head = append(head, "Cosine", "EucDist", "MaxAbsErr", "MaxRelativeErr", "One Thousandth Err Ratio", "Five Thousandths Err Ratio")
	}
	if form != ofChecksums {
		for _, side := range []string{"NPU ", "Bench "} {
			for _, s := range msprobeStatistics {
				head = append(head, side+s)
			}
		}
	}
	stacks := false
	for i := range j.Table.Rows {
		stacks = stacks || j.Table.Rows[i].Recorded != nil && j.Table.Rows[i].Recorded.Source != ""
	}
	head = append(head, "Requires_grad Consistent", "Result", "Err_message")
	if stacks {
		head = append(head, "NPU_Stack_Info")
	}
	if form == ofElements {
		head = append(head, "Data_name")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	judged := make([]*verdict.Tensor, len(j.Table.Rows))
	for i := range j.Operators {
		op := &j.Operators[i]
		for _, list := range [][]verdict.Tensor{op.Inputs, op.Outputs} {
			for k := range list {
				judged[list[k].Row] = &list[k]
			}
		}
	}
	for i := range j.Table.Rows {
		if err := out.Write(m.row(form, &j.Table.Rows[i], judged[i], stacks)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// msprobeFormOf is what the comparison went by: elements, checksums or statistics.
func msprobeFormOf(t *result.Table) msprobeForm {
	form := ofStatistics
	for i := range t.Rows {
		r := &t.Rows[i]
		switch {
		case r.Recorded == nil:
		case r.Left.File != "" && r.Right.File != "":
			return ofElements
		case r.Recorded.Left.Sum != "" && r.Recorded.Right.Sum != "":
			form = ofChecksums
		}
	}
	return form
}

const notApplicable = "N/A"

func (m Msprobe) row(form msprobeForm, r *result.Row, t *verdict.Tensor, stacks bool) []string {
	rec := r.Recorded
	if rec == nil {
		rec = &result.Recorded{Left: &result.Summary{}, Right: &result.Summary{}}
	}
	cells := []string{msprobeName(r.Left.Names, rec), msprobeName(r.Right.Names, rec)}
	for _, s := range []struct {
		summary *result.Summary
		o       *result.Operand
	}{{rec.Left, &r.Left}, {rec.Right, &r.Right}} {
		cells = append(cells, msprobeType(s.summary, s.o))
	}
	cells = append(cells, msprobeShape(rec.Left, &r.Left), msprobeShape(rec.Right, &r.Right), notApplicable, notApplicable)
	switch form {
	case ofStatistics:
		cells = append(cells, differences(rec)...)
	case ofChecksums:
		cells = append(cells, orNone(rec.Left.Sum), orNone(rec.Right.Sum))
	case ofElements:
		cells = append(cells, elementCells(r)...)
	}
	if form != ofChecksums {
		cells = append(append(cells, statisticCells(rec.Left, r.Left.DType)...), statisticCells(rec.Right, r.Right.DType)...)
	}
	verdictCell, texts := notApplicable, []string{}
	if t != nil {
		verdictCell = map[verdict.Verdict]string{verdict.Uncompared: notApplicable, verdict.Good: "pass", verdict.Suspect: "warning", verdict.Bad: "error", verdict.Damaged: notApplicable}[t.Verdict]
		for k := range t.Causes {
			texts = append(texts, CauseText(m.Lang, r, &t.Causes[k]))
		}
	}
	if verdictCell == notApplicable {
		for _, reason := range r.Reasons {
			texts = append(texts, Sentence(m.Lang, reason))
		}
	}
	message, _ := json.Marshal(texts) // texts always can be
	cells = append(cells, notApplicable, verdictCell, string(message))
	if stacks {
		cells = append(cells, orNone(rec.Source))
	}
	if form == ofElements {
		cells = append(cells, "['"+msprobeFile(r.Left.File)+"', '"+msprobeFile(r.Right.File)+"']")
	}
	for i := range cells {
		if _, err := strconv.ParseFloat(strings.TrimSuffix(cells[i], "%"), 64); err != nil {
			cells[i] = clean.Cell(clean.Line(cells[i]))
		}
	}
	return cells
}

func orNone(s string) string {
	return cmp.Or(s, notApplicable)
}

func msprobeFile(path string) string {
	if path == "" {
		return "-1"
	}
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// msprobeName is the name of a tensor: keyword arguments are inputs there, and gradients
// and saved values have no part of their own.
func msprobeName(call string, rec *result.Recorded) string {
	switch section, rest, _ := strings.Cut(rec.Place, "."); {
	case call == "" || call == "*":
		return notApplicable
	case rec.Place == "":
		return call
	case section == "kwargs":
		return call + ".input." + rest
	case section == "parameters_grad" || section == "debug":
		return strings.TrimSuffix(call+"."+rest, ".")
	}
	return call + "." + rec.Place
}

func msprobeType(s *result.Summary, o *result.Operand) string {
	switch {
	case s.Class == "":
		return notApplicable
	case o.Shape != nil && o.DType != dtype.Undefined:
		return "torch." + o.DType.String()
	case o.Shape == nil && s.Class != "None" && !strings.Contains(s.Class, "."):
		return "<class '" + s.Class + "'>"
	}
	return s.Class
}

func msprobeShape(s *result.Summary, o *result.Operand) string {
	switch {
	case s.Class == "":
		return notApplicable
	case o.Shape == nil && s.Class == "None":
		return "None"
	}
	return "[" + nd.Text(o.Shape, ", ") + "]"
}

// pythonNumber is a number as Python writes it in these tables.
func pythonNumber(v float64) string {
	switch {
	case math.IsNaN(v):
		return "Nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func statisticCells(s *result.Summary, t dtype.Type) (cells []string) {
	for _, x := range result.Statistics {
		v, known := x.In(s)
		switch {
		case s.Class == "":
			cells = append(cells, notApplicable)
		case s.Value != "":
			cells = append(cells, s.Value)
		case known && t.IsBool():
			cells = append(cells, map[bool]string{true: "True", false: "False"}[v != 0])
		case known:
			cells = append(cells, pythonNumber(v))
		default:
			cells = append(cells, "None")
		}
	}
	return cells
}

// differences are target minus golden, and that in percent of golden.
func differences(rec *result.Recorded) []string {
	diff, relative := make([]string, 4), make([]string, 4)
	for i, of := range result.Statistics {
		x, inLeft := of.In(rec.Left)
		y, inRight := of.In(rec.Right)
		d, r := notApplicable, notApplicable
		switch {
		case !inLeft || !inRight:
			// Texts that are equal, None and None too, are no difference there.
			if inLeft == inRight && rec.Left.Value == rec.Right.Value && rec.Left.Class != "" && rec.Right.Class != "" {
				d, r = "0", "0"
			}
		case x == y:
			d, r = "0", "0"
		default:
			d = pythonNumber(x - y)
			if r = pythonNumber(math.Abs((x-y)/y) * 100); !strings.ContainsAny(r, "fa") { // inf and Nan
				r += "%"
			}
		}
		diff[i], relative[i] = d, r
	}
	return append(diff, relative...)
}

func elementCells(r *result.Row) []string {
	const none = "unsupported"
	cells := []string{none, none, none, none, none, none}
	if !r.Compared {
		return cells
	}
	res := r.Result()
	put := func(i int, m metric.Metric, scale float64) {
		if v := res.Values[m]; v.OK() {
			cells[i] = pythonNumber(v.Float() * scale)
		}
	}
	put(0, metric.CosineSimilarity, 1)
	put(1, metric.RootMeanSquareError, math.Sqrt(float64(res.N)))
	put(2, metric.MaxAbsoluteError, 1)
	put(3, metric.MaxRelativeError, 1)
	return cells
}
