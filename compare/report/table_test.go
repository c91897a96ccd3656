package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// parseTable reads a table in the small form of the files in testdata:
//
//	meta left=npu right=golden graph=g.txt how=graph found=similar-name why=KIND:ARG|ARG
//	warning TEXT
//	op NAME TYPE in=conv1:0,data:0 framework=a,b inserted constant feed final
//	out N n=20 distance=0.5 nan=1 inf=1 zero=left cosine=0.2 max=3 type=float16/int32 sat=2 small hi=9
//	out N missing=no-right-tensor:ARG|ARG
//	check ok|wrong|unknown golden=follows|differs|wrong why=golden-used:ARG|ARG,…
//	whole KIND ARG …
//
// Inputs get rows of their own, with what the output that feeds them has; "uncompared=0,1"
// on the op leaves some out, and "amiss=0" has some differ.
func parseTable(t *testing.T, text string) *result.Table {
	t.Helper()
	table := &result.Table{Meta: result.Meta{Left: result.Side{Dir: "npu"}, Right: result.Side{Dir: "golden"}, Numerics: "exact",
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Version: "1.0"}}
	outputs := map[result.Port]*metric.Result{}
	var base result.Row
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		keys := map[string]string{}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			keys[key] = value
		}
		has := func(key string) bool { _, ok := keys[key]; return ok }
		number := func(key string, none float64) float64 {
			if !has(key) {
				return none
			}
			v, err := strconv.ParseFloat(keys[key], 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			return v
		}
		list := func(key string) []string {
			if keys[key] == "" {
				return nil
			}
			return strings.Split(keys[key], ",")
		}
		switch words[0] {
		case "meta":
			parseMeta(&table.Meta, keys)
		case "warning":
			table.Meta.Warnings = append(table.Meta.Warnings, strings.Join(words[1:], " "))
		case "op":
			i := len(table.Ops)
			op := result.Operator{Name: words[1], Type: words[2], Index: i, Order: i, Framework: list("framework"), Inserted: has("inserted"),
				Constant: has("constant"), Feed: has("feed"), Final: has("final"), Dumped: true}
			base = result.Row{Index: i, Sequence: int64(i), Op: op.Name, Type: op.Type, Facts: result.Facts{Order: i},
				Left:  result.Operand{Names: op.Name, File: "npu/" + op.Type + "." + op.Name, DType: dtype.Float16},
				Right: result.Operand{Names: strings.Join(op.Framework, ","), DType: dtype.Float32}}
			skip := "," + keys["uncompared"] + ","
			for slot, from := range list("in") {
				name, number, _ := strings.Cut(from, ":")
				n, _ := strconv.Atoi(number)
				port := result.Port{Op: name, Index: n}
				op.Inputs = append(op.Inputs, port)
				row := base
				row.Role, row.Slot, row.Facts.Producer = result.Input, slot, port
				if res := outputs[port]; res != nil && !strings.Contains(skip, fmt.Sprintf(",%d,", slot)) {
					row.Compared, row.Metrics = true, res
				} else {
					row.Add(result.Because(result.NoRightTensor, op.Name, row.Tensor()))
					if has("sized") {
						row.Shape = []int64{64, 64}
					}
				}
				if strings.Contains(","+keys["amiss"]+",", fmt.Sprintf(",%d,", slot)) {
					row.Compared, row.Metrics, row.Reasons = true, pairOf(4096, 0.9, 0), nil
				}
				table.Rows = append(table.Rows, row)
			}
			table.Ops = append(table.Ops, op)
		case "out":
			row := base
			row.Slot, _ = strconv.Atoi(words[1])
			table.Ops[len(table.Ops)-1].Outputs = row.Slot + 1
			if kind, args, _ := strings.Cut(keys["missing"], ":"); kind != "" {
				row.Add(result.Because(result.Kind(kind), strings.Split(args, "|")...))
				table.Rows = append(table.Rows, row)
				continue
			}
			if left, right, ok := strings.Cut(keys["type"], "/"); ok {
				row.Left.DType, row.Right.DType = parseType(t, left), parseType(t, right)
			}
			n := int64(number("n", 4096))
			row.Compared, row.Shape = true, []int64{n}
			row.Metrics = pairOf(n, number("distance", 0), int64(number("nan", 0)))
			f := &row.Result().Facts
			switch {
			case has("inf"):
				f.Inf.X, f.Disagree, f.X.Inf = int64(number("inf", 0)), int64(number("inf", 0)), 1
				f.FirstDisagree = metric.Element{Index: 3, X: math.Inf(1), Y: 2}
				f.Finite -= f.Disagree
			case keys["zero"] == "left":
				f.X = metric.SideFacts{Zero: n}
			case keys["zero"] == "right":
				f.Y = metric.SideFacts{Zero: n}
			case has("small"):
				f.X.Lo, f.X.Hi, f.Y.Lo, f.Y.Hi = -1e-7, 1e-7, -1e-7, 1e-7
			}
			if has("both") { // the sides have it in different places
				f.NaN.Y, f.Inf.Y = f.NaN.X, f.Inf.X
			}
			if reason := keys["reason"]; reason != "" {
				row.Add(result.Because(result.Kind(reason), row.Op))
			}
			if has("swapped") { // it is the right side that has NaN or Inf
				f.NaN.X, f.NaN.Y, f.Inf.X, f.Inf.Y = f.NaN.Y, f.NaN.X, f.Inf.Y, f.Inf.X
				f.X.NaN, f.Y.NaN, f.X.Inf, f.Y.Inf = f.Y.NaN, f.X.NaN, f.Y.Inf, f.X.Inf
			}
			if has("scale") { // a factor is all that is wrong
				f.Scale, f.Unscaled = number("scale", 1), 0
			}
			if has("rms") { // a tensor of another size, with an error as much smaller
				size := number("rms", 1)
				f.X.RMS, f.Y.RMS, f.MaxAbs = size, size, f.MaxAbs*size
			}
			f.X.Hi = number("hi", f.X.Hi)
			if has("unknown") { // as in a table that was imported
				f.Known, f.Disagree = false, 0
			}
			f.Differ = int64(number("differ", float64(f.Differ)))
			f.Cosine, f.MaxAbs = number("cosine", f.Cosine), number("max", f.MaxAbs)
			if differ, of, ok := strings.Cut(keys["chosen"], "/"); ok { // choices that differ, of, explained
				c := &result.Chosen{}
				of, explained, _ := strings.Cut(of, "/")
				c.Differ, _ = strconv.ParseInt(differ, 10, 64)
				c.Choices, _ = strconv.ParseInt(of, 10, 64)
				c.Explained, _ = strconv.ParseInt(explained, 10, 64)
				c.Unknown = has("unordered")
				row.Chosen = c
			}
			if has("sat") {
				row.Saturated = &result.Saturated{Count: int64(number("sat", 0)), Result: *pairOf(n, 1e-4, 0)}
			}
			outputs[result.Port{Op: row.Op, Index: row.Slot}] = row.Result()
			table.Rows = append(table.Rows, row)
		case "check":
			c := result.Check{Op: base.Op, Known: words[1] != "unknown", Wrong: words[1] == "wrong", Ratio: 40, Golden: result.GoldenWord(keys["golden"]), Amplification: math.NaN()}
			for _, why := range list("why") {
				kind, args, _ := strings.Cut(why, ":")
				c.Why = append(c.Why, result.Because(result.Kind(kind), strings.Split(args, "|")...))
			}
			table.Checks = append(table.Checks, c)
		case "whole":
			row := base
			row.Role, row.Slot = result.Whole, -1
			row.Add(result.Because(result.Kind(words[1]), words[2:]...))
			table.Rows = append(table.Rows, row)
			table.Ops[len(table.Ops)-1].Dumped = false
		default:
			t.Fatalf("the line %q", line)
		}
	}
	return table
}

func parseMeta(m *result.Meta, keys map[string]string) {
	for key, value := range keys {
		switch key {
		case "left":
			m.Left.Dir = value
		case "right":
			m.Right.Dir = value
		case "graph":
			m.Graph, m.GraphHow, m.Pairing.How = value, cmp.Or(m.GraphHow, "given"), result.ByGraph
		case "how":
			m.Pairing.How = result.How(value)
		case "stored":
			m.Stored = true
		case "imported":
			m.Imported = true
		case "npu":
			m.Left.Kind, m.Right.Kind = "npu", "npu"
		case "found":
			m.GraphHow = strings.ReplaceAll(value, "-", " ")
		case "why":
			kind, args, _ := strings.Cut(value, ":")
			m.Pairing.Why = append(m.Pairing.Why, result.Because(result.Kind(kind), strings.Split(args, "|")...))
		}
	}
}

func parseType(t *testing.T, name string) dtype.Type {
	d, ok := dtype.Parse(name)
	if !ok {
		t.Fatalf("there is no dtype %q", name)
	}
	return d
}
