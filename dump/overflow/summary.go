package overflow

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"precision/internal/clean"
	"precision/internal/each"
	"precision/internal/msg"
)

// SummaryName is the name of the report that was finished at a time.
func SummaryName(t time.Time) string {
	return "overflow_summary_" + t.Format("20060102150405") + ".txt"
}

// Summary is the text of a report: a block for each event, numbered from 1.
//
//	===[1]===
//	[Mul] scope/mul1
//	 [AI Core][TaskId:57][StreamId:563][Status:32]
//	 [timestamp:1671234567000002]
//	 Mul.scope_mul1.57.563.1671234567000005.input.0.npy
//	 -[Format: NCHW] [Shape: (2, 2)] [Dtype: float16] [Max: 2.0] [Min: 1.0] [Mean: 1.5]
//
// Without a dump of the operator there are only the detectors and the time.
// What could not be used has its reason in square brackets instead. With
// explain there are lines on what a status means and where to look for the cause,
// which msaccucmp.py does not write.
func Summary(events []Event, explain bool) string {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		fmt.Fprintf(&b, "%s[%d]%s\n", strings.Repeat("=", 49), i+1, strings.Repeat("=", 50))
		ops := e.Ops
		var first *Op
		if len(ops) > 0 {
			first, ops = &ops[0], ops[1:]
			first.head(&b)
		}
		for _, block := range e.Detected {
			fmt.Fprintf(&b, " [%s][TaskId:%d][StreamId:%d][Status:%s]\n", block.Detector, block.Task, block.Stream, statusText(block.Status))
			if explain {
				for _, m := range Explain(block) {
					fmt.Fprintf(&b, "  %s: %s\n", StatusLine.In(msg.English), m.In(msg.English))
				}
			}
		}
		if e.Err != nil {
			fmt.Fprintf(&b, " [%s]\n", line(e.Err.Error()))
		}
		fmt.Fprintf(&b, " [timestamp:%d]\n", e.Entry.Name.Time)
		if first != nil {
			first.body(&b, explain)
		}
		for j := range ops {
			ops[j].head(&b)
			ops[j].body(&b, explain)
		}
	}
	return b.String()
}

func (op *Op) head(b *strings.Builder) { fmt.Fprintf(b, "[%s] %s\n", op.Type, line(op.Name)) }

func statusText(status []uint64) string {
	all := each.Of(status, func(s uint64) string { return strconv.FormatUint(s, 10) })
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (op *Op) body(b *strings.Builder, explain bool) {
	if op.Err != nil {
		fmt.Fprintf(b, " [%s]\n", line(op.Err.Error()))
	}
	for i := range op.Tensors {
		op.Tensors[i].lines(b)
	}
	if explain {
		fmt.Fprintf(b, " %s\n", op.Advice().In(msg.English))
	}
}

func (t *Tensor) lines(b *strings.Builder) {
	fmt.Fprintf(b, " %s\n -[Format: %s] [Shape: %s] [Dtype: %s]", t.File, t.Format, formatShape(t.Shape), t.Type.Loaded())
	switch {
	case t.Err != nil:
		fmt.Fprintf(b, " [%s]", line(t.Err.Error()))
	case t.Stats.Max != "":
		fmt.Fprintf(b, " [Max: %s] [Min: %s] [Mean: %s]", t.Stats.Max, t.Stats.Min, t.Stats.Mean)
	}
	b.WriteByte('\n')
}

// line keeps a text from other places on one line.
func line(s string) string {
	return clean.Line(s)
}
