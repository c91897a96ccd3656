package verdict

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump/dtype"
)

// The files of testdata/ are cases: a network line by line, "----", what the
// judge says of it, and an empty line before the next case. Lines are
//
//	op NAME TYPE [INPUT,…] [const] [feed] [final] [skipped] [order=N]
//	out NAME SLOT VALUES…    an output that was compared, or none=KIND
//	in NAME SLOT VALUES…     an input
//	whole NAME KIND          a row about an operator
//	check NAME ok|wrong|unknown [golden=follows|differs|wrong]
//	                         an oracle's word on output 0, and on the golden side
//	profile KEY=LIMIT        a limit
//	side left|right KIND     what a side was recorded on
//
// with VALUES n= cos= dist= max= rms= nan= (on the left alone) inf= sat= dtype=
// right= x= (a left and a right number of a single element) zero=left|right same.
// Values not given are those of an output that agrees to a few roundoffs.

var update = os.Getenv("UPDATE") != ""

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, c := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			input, want, _ := strings.Cut(c+"\n", "----\n")
			table, opts := parseNetwork(t, file, input)
			got := describe(Judge(table, opts))
			if strings.TrimSpace(got) != strings.TrimSpace(want) && !update {
				t.Errorf("%s:\n%s----\n%s\nexpected\n%s", file, input, got, want)
			}
			out.WriteString(input + "----\n" + strings.TrimSpace(got) + "\n\n")
		}
		if update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// describe is a judged table in a few lines.
func describe(j *Judged) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, compared %d of %d\n", j.Verdict, j.Coverage.Compared, j.Coverage.Expected)
	for _, r := range j.Roots {
		fmt.Fprintf(&b, "root %s %s", j.Operators[r.Operator].Op.Name, r.Certainty)
		for _, c := range r.Causes {
			fmt.Fprintf(&b, " %s", c.Kind)
		}
		if r.Kind != RootDiffers || r.Followed {
			fmt.Fprintf(&b, ", kind %s", r.Kind)
		}
		if len(r.Uncompared) > 0 {
			fmt.Fprintf(&b, ", not compared %s", strings.Join(r.Uncompared, " "))
		}
		if len(r.Region) > 0 {
			fmt.Fprintf(&b, ", or %s", strings.Join(r.Region, " "))
		}
		if r.Edge {
			b.WriteString(", its input is not what was produced")
		}
		if r.FreshNaN {
			b.WriteString(", not finite for the first time")
		}
		fmt.Fprintf(&b, ", inherited by %d", r.Inherited)
		if len(r.Reaches) > 0 {
			fmt.Fprintf(&b, ", reaches %s", strings.Join(r.Reaches, " "))
		}
		b.WriteByte('\n')
	}
	for _, op := range j.Operators {
		if op.State != StateGood && op.State != StateUncompared {
			fmt.Fprintf(&b, "%s %s", op.Op.Name, op.State)
			for _, t := range op.Outputs {
				for _, c := range t.Causes {
					fmt.Fprintf(&b, " %s", c.Kind)
					if c.Waived {
						b.WriteString(" (waived)")
					}
				}
			}
			b.WriteByte('\n')
		}
	}
	if j.Bits != nil {
		fmt.Fprintf(&b, "bits: %d equal, %d differ", j.Bits.Equal, j.Bits.Differing)
		for _, i := range j.Bits.First {
			fmt.Fprintf(&b, ", from %s on", j.Operators[i].Op.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func parseNetwork(t *testing.T, file, text string) (*result.Table, Options) {
	table := &result.Table{Meta: result.Meta{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Left: result.Side{Kind: "npu"}, Right: result.Side{Kind: "numpy"}}}
	opts := Options{}
	index := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		switch f[0] {
		case "op":
			o := result.Operator{Name: f[1], Type: f[2], Index: len(table.Ops), Order: len(table.Ops), Dumped: true, Outputs: 1, Framework: []string{f[1]}}
			for _, w := range f[3:] {
				switch w {
				case "const":
					o.Constant = true
				case "feed":
					o.Feed = true
				case "final":
					o.Final = true
				case "skipped":
					o.Skipped = true
				default:
					for _, p := range strings.Split(w, ",") {
						name, slot, _ := strings.Cut(p, ":")
						n, _ := strconv.Atoi(slot)
						o.Inputs = append(o.Inputs, result.Port{Op: name, Index: n})
					}
				}
			}
			index[o.Name] = len(table.Ops)
			table.Ops = append(table.Ops, o)
		case "out", "in", "whole":
			at, ok := index[f[1]]
			r := result.Row{Op: f[1], Slot: -1, Role: result.Whole}
			if ok {
				r.Type, r.Index, r.Facts.Order = table.Ops[at].Type, at, at
			} else {
				r.Type, r.Index, r.Facts.Order = "Unknown", len(table.Rows), len(table.Rows)
			}
			if f[0] == "whole" {
				r.Add(result.Because(result.Kind(f[2])))
			} else {
				r.Role = result.Output
				if f[0] == "in" {
					r.Role = result.Input
				}
				r.Slot, _ = strconv.Atoi(f[2])
				fillRow(t, &r, f[3:])
			}
			table.Rows = append(table.Rows, r)
		case "profile":
			if opts.Profile == nil {
				opts.Profile = Default()
			}
			key, value, _ := strings.Cut(f[1], "=")
			limit, err := strconv.ParseFloat(value, 64)
			if err == nil {
				opts.Profile, err = opts.Profile.WithLimit(Kind(key), limit)
			}
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
		case "waiver":
			p := *Default()
			expires, _ := time.Parse(time.DateOnly, f[3])
			p.Waivers = []Waiver{{Tensor: f[1], Cause: Kind(f[2]), Expires: expires}}
			opts.Profile = &p
		case "check":
			c := result.Check{Op: f[1], Known: f[2] != "unknown", Wrong: f[2] == "wrong", Ratio: 50, Amplification: math.NaN()}
			if len(f) > 3 {
				_, word, _ := strings.Cut(f[3], "=")
				c.Golden = result.GoldenWord(word)
			}
			table.Checks = append(table.Checks, c)
		case "side":
			if f[1] == "left" {
				table.Meta.Left.Kind = f[2]
			} else {
				table.Meta.Right.Kind = f[2]
			}
		default:
			t.Fatalf("%s: found %q", file, line)
		}
	}
	return table, opts
}

// fillRow makes up facts that go together: an output of 1000 numbers with a root
// mean square of 1, in float16 against float32.
func fillRow(t *testing.T, r *result.Row, values []string) {
	r.Compared = true
	r.Left.DType, r.Right.DType = dtype.Float16, dtype.Float32
	f := metric.Facts{Known: true, N: 1000, Cosine: 1, Distance: 3e-4, MaxAbs: 1e-3, Scale: 1,
		FirstDisagree: metric.Element{Index: -1}, FirstDiffer: metric.Element{Index: -1}, Worst: metric.Element{Index: 7}}
	f.Y = metric.SideFacts{Lo: -4, Hi: 4, RMS: 1, Deviation: 1}
	f.X = f.Y
	dist := false
	for _, v := range values {
		key, text, _ := strings.Cut(v, "=")
		num, _ := strconv.ParseFloat(text, 64)
		switch key {
		case "none":
			r.Compared = false
			r.Add(result.Because(result.Kind(text)))
		case "n":
			f.N = int64(num)
		case "cos":
			f.Cosine = num
			if !dist {
				f.Distance = math.Sqrt(2 * (1 - num))
				f.MaxAbs = 4 * f.Distance
			}
		case "dist":
			f.Distance, dist = num, true
			f.MaxAbs = 4 * num
		case "max":
			f.MaxAbs = num
		case "rms":
			f.Y = metric.SideFacts{Lo: -4 * num, Hi: 4 * num, RMS: num, Deviation: num}
			f.X = f.Y
			f.MaxAbs *= num
		case "nan":
			f.NaN.X, f.X.NaN, f.Disagree = int64(num), int64(num), f.Disagree+int64(num)
			f.FirstDisagree.Index, f.Cosine, f.Distance = 3, math.NaN(), math.NaN()
		case "inf":
			f.Inf.X, f.X.Inf, f.Disagree = int64(num), int64(num), f.Disagree+int64(num)
			f.FirstDisagree.Index = 3
		case "bothnan":
			f.NaN.Both, f.Agree = int64(num), int64(num)
		case "sat":
			second := f
			second.Known = true
			r.Saturated = &result.Saturated{Count: int64(num), Result: metric.Result{N: f.N, Facts: second}}
		case "differ":
			f.Differ = int64(num)
			f.FirstDiffer.Index = 5
		case "x":
			a, b, _ := strings.Cut(text, ",")
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			f.N, f.MaxAbs, f.MaxRel = 1, math.Abs(x-y), math.Abs(x-y)/math.Abs(y)
			f.X, f.Y = metric.SideFacts{Lo: x, Hi: x, RMS: math.Abs(x)}, metric.SideFacts{Lo: y, Hi: y, RMS: math.Abs(y)}
			if x == 0 {
				f.X.Zero = 1
			}
			if y == 0 {
				f.Y.Zero = 1
				f.MaxRel = math.NaN()
			}
		case "zero":
			if text == "left" {
				f.X = metric.SideFacts{Zero: f.N}
				f.Cosine, f.Distance = math.NaN(), 1
			} else {
				f.Y = metric.SideFacts{Zero: f.N}
				f.Cosine, f.Distance = math.NaN(), math.Inf(1)
			}
		case "lo":
			f.X.Lo = num
		case "glo":
			f.Y.Lo = num
		case "dtype", "right":
			d, ok := dtype.Parse(text)
			if !ok {
				t.Fatalf("dtype %q", text)
			}
			if key == "dtype" {
				r.Left.DType = d
			} else {
				r.Right.DType = d
			}
		case "same":
			f.BitEqual, f.Differ, f.Distance, f.MaxAbs, f.Cosine = true, 0, 0, 0, 1
		default:
			t.Fatalf("found %q", v)
		}
	}
	f.Finite = f.N - f.Disagree - f.Agree
	if f.Differ == 0 && !f.BitEqual && f.MaxAbs > 0 {
		f.Differ = f.N
	}
	r.Metrics = &metric.Result{N: f.N, Facts: f, Disagree: f.Disagree}
}
