package oracle

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"precision/dump"
	"precision/graph"
	"precision/graph/read"
	"precision/testdata/workshop/dumptest"
)

// meet makes recordings of an operator that ranks ran together, and holds them against each other.
type meet struct {
	typ   string
	attrs string // of the graph, key value pairs; empty for no graph
	in    func(rank, i int) float32
	sizes [2]int // of input and output, -1 for none
	ranks int
	half  bool
	out   func(rank, step int, in func(rank, i int) float32) []float32
	// fault changes the output of the second step.
	fault func(rank int, out []float32, now, before func(rank, i int) float32, old []float32)
}

// attributes is an operator of a graph, nil for no attributes.
func attributes(t testing.TB, typ, attrs string) *graph.Op {
	t.Helper()
	if attrs == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "graph { name: \"net\"\n op { name: \"op\" type: %q id: 1\n", typ)
	words := strings.Fields(attrs)
	for i := 0; i < len(words); i += 2 {
		kind, value := "i", words[i+1]
		if value[0] > '9' {
			kind, value = "s", `"`+value+`"`
		}
		fmt.Fprintf(&b, " attr { key: %q value { %s: %s } }\n", words[i], kind, value)
	}
	m, err := read.Read(t.Context(), strings.NewReader(b.String()+" }\n}\n"), "graph.txt")
	if err != nil {
		t.Fatal(err)
	}
	return m.Graphs[0].Ops[0]
}

// recordedEnd writes what a rank recorded and finds it.
func recordedEnd(t testing.TB, dir, typ string, half bool, in, out []float32) *dump.Entry {
	t.Helper()
	d := dumptest.Dump{OpName: "op", Time: 1767268800000000}
	tensor := func(v []float32, address uint64) dumptest.Tensor {
		shape := []int64{int64(len(v))}
		x := dumptest.Tensor{Type: dumptest.Float32, Format: dumptest.ND, Shape: shape, Origin: shape, Address: address, Data: dumptest.Floats(v)}
		if half {
			x.Type, x.Data = dumptest.Float16, dumptest.Halves(v)
		}
		return x
	}
	if in != nil {
		d.Inputs = append(d.Inputs, tensor(in, 4096))
	}
	if out != nil {
		d.Outputs = append(d.Outputs, tensor(out, 8192))
	}
	if err := d.Write(filepath.Join(dir, typ+".op.1.7.1767268800000001")); err != nil {
		t.Fatal(err)
	}
	folder, err := dump.Scan(dir, dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return folder.Op("op").Newest()
}

func (x meet) check(t *testing.T) Meeting {
	t.Helper()
	dir := t.TempDir()
	inputs := [2]func(rank, i int) float32{func(r, i int) float32 { return x.in(r, i) + float32((i*3+r*5)%7)/4 - 0.875 }, x.in}
	var members []Member
	for r := range x.ranks {
		var entries [2]*dump.Entry
		var old []float32
		for step, in := range inputs {
			sent := make([]float32, x.sizes[0])
			for i := range sent {
				sent[i] = in(r, i)
			}
			out := x.out(r, step, in)
			if step == 1 && x.fault != nil {
				x.fault(r, out, inputs[1], inputs[0], old)
			}
			old = slices.Clone(out)
			entries[step] = recordedEnd(t, filepath.Join(dir, fmt.Sprint(step, "_", r)), x.typ, x.half, sent, out)
		}
		members = append(members, Member{Rank: r, Type: x.typ, Op: attributes(t, x.typ, x.attrs), Entry: entries[1], Before: entries[0]})
	}
	m, err := CheckMeeting(t.Context(), members)
	if err != nil {
		t.Fatal(err)
	}
	if x.attrs != "" {
		x.checkAsJob(t, dir, members)
	}
	return m
}

// checkAsJob has a check of all ranks say the same of each as their meeting, as far as one step tells.
func (x meet) checkAsJob(t *testing.T, dir string, members []Member) {
	t.Helper()
	job := Job{Graph: &graph.Model{Graphs: []*graph.Graph{{Ops: []*graph.Op{members[0].Op}}}}}
	for i := range members {
		members[i].Before, members[i].Op = nil, members[0].Op
		folder, err := dump.Scan(filepath.Join(dir, fmt.Sprint("1_", i)), dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		job.Devices = append(job.Devices, Device{Folder: folder, Rank: i, Step: 1})
	}
	m, err := CheckMeeting(t.Context(), slices.Clone(members))
	found, wrong := job.Run(t.Context())
	if err != nil || wrong != nil || len(found) != len(members) {
		t.Fatal(err, wrong, len(found))
	}
	for _, f := range found {
		want := m.Verdict
		if want == Wrong && !slices.ContainsFunc(m.Faults, func(x MetFault) bool { return x.Rank == f.Rank }) {
			want = OK
		}
		if f.Verdict != want || want != OK && len(f.Reasons) == 0 {
			t.Errorf("%s %s: a check calls rank %d %v %v, the meeting is %v: %+v", x.typ, x.attrs, f.Rank, f.Verdict, f.Reasons, want, m)
		}
	}
}

// values are multiples of 1/4, none of them 0: sums and products of few are exact.
func values(rank, i int) float32 {
	v := float32((i*7+rank*13+i*rank*3)%17-8) / 4
	if v == 0 {
		v = 2.5
	}
	return v
}

// reduceOf is what a reduction makes of the inputs of ranks.
func reduceOf(how string, ranks []int, i int, in func(rank, i int) float32) float32 {
	y := float64(in(ranks[0], i))
	for _, r := range ranks[1:] {
		v := float64(in(r, i))
		switch how {
		case "max":
			y = math.Max(y, v)
		case "min":
			y = math.Min(y, v)
		case "prod":
			y *= v
		default:
			y += v
		}
	}
	if how == "mean" {
		y /= float64(len(ranks))
	}
	return float32(y)
}

func allReduce(how string, n int, group func(rank int) []int) func(int, int, func(int, int) float32) []float32 {
	return func(r, _ int, in func(int, int) float32) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = reduceOf(how, group(r), i, in)
		}
		return out
	}
}

func span4(int) []int { return []int{0, 1, 2, 3} }

// Each reduction: right, a rank left out or taken twice, a rank's own input, old data.
func TestMeetReductions(t *testing.T) {
	const n = 96
	type reader = func(rank, i int) float32
	type fault = func(rank int, out []float32, now, before reader, old []float32)
	with := func(how string, ranks []int) fault {
		return func(_ int, out []float32, now, _ reader, _ []float32) {
			for i := range out {
				out[i] = reduceOf(how, ranks, i, now)
			}
		}
	}
	for _, how := range []string{"sum", "max", "min", "prod", "mean"} {
		old2 := func(_ int, out []float32, now, before reader, _ []float32) {
			for i := range out {
				out[i] = reduceOf(how, span4(0), i, func(r, i int) float32 {
					if r == 2 {
						return before(r, i)
					}
					return now(r, i)
				})
			}
		}
		for _, c := range []struct {
			name  string
			fault fault
			kind  string
			ranks []int
			other int
		}{
			{"right", nil, "", nil, 0},
			{"left out", with(how, []int{0, 2, 3}), MetLeftOut, inOrder(4), 1},
			{"twice", with(how, []int{0, 1, 2, 3, 3}), MetTwice, inOrder(4), 3},
			{"own input", func(r int, out []float32, now, _ reader, _ []float32) {
				for i := range out {
					if r == 2 {
						out[i] = now(r, i)
					}
				}
			}, MetOwnInput, []int{2}, -1},
			{"old result", func(r int, out []float32, _, _ reader, old []float32) {
				if r == 1 {
					copy(out, old)
				}
			}, MetStale, []int{1}, -1},
			{"old input", old2, MetStale, inOrder(4), 2},
			{"one element", func(r int, out []float32, _, _ reader, _ []float32) {
				if r == 0 {
					out[5] += 1000
				}
			}, MetBeyond, []int{0}, -1},
		} {
			if c.kind == MetTwice {
				switch how {
				case "max", "min": // the same
					c.kind = ""
				case "mean": // of five, where there are four
					c.fault = func(_ int, out []float32, now, _ reader, _ []float32) {
						for i := range out {
							out[i] = (reduceOf("sum", span4(0), i, now) + now(3, i)) / 4
						}
					}
				}
			}
			t.Run(how+" "+c.name, func(t *testing.T) {
				x := meet{typ: "HcomAllReduce", attrs: "reduction " + how + " group hccl_world_group", in: values, sizes: [2]int{n, n}, ranks: 4, out: allReduce(how, n, span4), fault: c.fault}
				for _, x.half = range []bool{false, how != "prod" && how != "mean"} {
					m := x.check(t)
					if c.kind == "" {
						if m.Verdict != OK || m.How != GroupAttribute || m.Reduction != how {
							t.Fatalf("%+v", m)
						}
						continue
					}
					var ranks []int
					for _, f := range m.Faults {
						if ranks = append(ranks, f.Rank); f.Kind != c.kind || f.Other != c.other {
							t.Errorf("%+v", f)
						}
					}
					if m.Verdict != Wrong || !slices.Equal(ranks, c.ranks) {
						t.Errorf("%+v", m)
					}
				}
			})
		}
	}
	// A maximum is one of its inputs, to the last bit, also in a narrow type.
	x := meet{typ: "HcomAllReduce", attrs: "reduction max group hccl_world_group", in: values, sizes: [2]int{n, n}, ranks: 4, half: true, out: allReduce("max", n, span4),
		fault: func(_ int, out []float32, _, _ func(int, int) float32, _ []float32) { out[3] *= 1 + 1.0/1024 }}
	if m := x.check(t); m.Verdict != Wrong {
		t.Errorf("%+v", m)
	}
}

// Groups that no graph names are found, and it is said how.
func TestMeetGroups(t *testing.T) {
	const n = 1024
	padded := func(r, i int) float32 { // the first and most elements tell nothing
		if i < 900 {
			return 0
		}
		return values(r, i)
	}
	groups := map[string][][]int{
		"all":     {inOrder(8)},
		"blocks":  {{0, 1, 2, 3}, {4, 5, 6, 7}},
		"strides": {{0, 4}, {1, 5}, {2, 6}, {3, 7}},
		"between": {{0, 2}, {1, 3}, {4, 6}, {5, 7}},
	}
	in := func(list [][]int) func(int) []int {
		return func(r int) []int {
			return list[slices.IndexFunc(list, func(g []int) bool { return slices.Contains(g, r) })]
		}
	}
	piece := func(scatter bool, list [][]int) func(int, int, func(int, int) float32) []float32 {
		return func(r, _ int, x func(int, int) float32) (out []float32) {
			g := in(list)(r)
			if scatter {
				lo := slices.Index(g, r) * n / len(g)
				for i := range n / len(g) {
					out = append(out, reduceOf("sum", g, lo+i, x))
				}
				return out
			}
			for _, s := range g {
				for i := range n {
					out = append(out, x(s, i))
				}
			}
			return out
		}
	}
	for name, list := range groups {
		size := len(list[0])
		for _, c := range []struct {
			x   meet
			how string
		}{
			{meet{typ: "HcomAllReduce", sizes: [2]int{n, n}, out: allReduce("sum", n, in(list))}, GroupValues},
			{meet{typ: "HcomAllReduce", attrs: "group tp reduction sum", sizes: [2]int{n, n}, out: allReduce("sum", n, in(list))}, GroupValues},
			{meet{typ: "HcomAllGather", sizes: [2]int{n, n * size}, out: piece(false, list)}, GroupValues},
			{meet{typ: "HcomReduceScatter", sizes: [2]int{n, n / size}, out: piece(true, list)}, GroupValues},
			{meet{typ: "HcomAllGather", attrs: fmt.Sprint("rank_size ", size), sizes: [2]int{n, n * size}, out: piece(false, list)}, GroupValues},
		} {
			t.Run(name+" "+c.x.typ+" "+c.x.attrs, func(t *testing.T) {
				c.x.ranks, c.x.in = 8, padded
				switch {
				case name == "all" && c.x.typ == "HcomAllReduce":
					c.how = GroupAll
				case name == "all":
					c.how = GroupShapes
				}
				if m := c.x.check(t); m.Verdict != OK || m.How != c.how || !reflect.DeepEqual(m.Groups, list) {
					t.Errorf("%+v, want %s %v", m, c.how, list)
				}
			})
		}
	}
	// One rank of a group that was found is wrong.
	x := meet{typ: "HcomAllReduce", sizes: [2]int{n, n}, ranks: 8, in: padded, out: allReduce("sum", n, in(groups["between"])),
		fault: func(r int, out []float32, _, _ func(int, int) float32, _ []float32) {
			if r == 3 {
				out[950] += 1000
			}
		}}
	if m := x.check(t); m.Verdict != Wrong || m.How != GroupValues || len(m.Faults) != 1 || m.Faults[0].Rank != 3 {
		t.Errorf("%+v", m)
	}
	// Groups of no order are not found, and nothing is blamed.
	x.fault, x.out = nil, allReduce("sum", n, in([][]int{{0, 3, 5}, {1, 2, 4, 6, 7}}))
	if m := x.check(t); m.Verdict != Unknown || m.Why != WhyGroups {
		t.Errorf("%+v", m)
	}
}

// The root of a broadcast is found where no graph names it.
func TestMeetRoot(t *testing.T) {
	const n = 64
	x := meet{typ: "HcomBroadcast", in: values, sizes: [2]int{n, n}, ranks: 4, out: func(_, _ int, in func(int, int) float32) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = in(2, i)
		}
		return out
	}}
	if m := x.check(t); m.Verdict != OK {
		t.Errorf("%+v", m)
	}
	x.attrs = "root_rank 1 group hccl_world_group"
	if m := x.check(t); m.Verdict != Wrong {
		t.Errorf("another root than the graph's: %+v", m)
	}
}

// A rank that has the piece of another.
func TestMeetOtherPiece(t *testing.T) {
	const n = 256
	x := meet{typ: "HcomReduceScatter", attrs: "group hccl_world_group reduction sum", in: values, sizes: [2]int{n, n / 4}, ranks: 4,
		out: func(r, step int, in func(int, int) float32) (out []float32) {
			if r == 1 && step == 1 {
				r = 3
			}
			for i := range n / 4 {
				out = append(out, reduceOf("sum", span4(0), r*n/4+i, in))
			}
			return out
		}}
	m := x.check(t)
	if len(m.Faults) != 1 || m.Faults[0].Kind != MetSwapped || m.Faults[0].Rank != 1 || m.Faults[0].Other != 3 {
		t.Errorf("%+v", m)
	}
}

// What both ranks have of two is the input of one: that of the other is lost, on both. A rank that has its own input in place of
// what the others sent it has not exchanged anything; the piece that was meant for another rank is told from that.
func TestMeetCauses(t *testing.T) {
	const n = 96
	exchanged := func(r, from int, in func(int, int) float32) (out []float32) {
		for i := range n {
			out = append(out, in(i/(n/4), r*n/4+i%(n/4)))
		}
		for i := range n / 4 * min(1, max(0, from)) {
			out[i] = in(0, from*n/4+i)
		}
		return out
	}
	one := func(list ...int) func(int) []int { return func(int) []int { return list } }
	for _, c := range []struct {
		x     meet
		fault func(r, step int, in func(int, int) float32) []float32 // of the second step
		want  []MetFault
	}{
		{meet{typ: "HcomAllReduce", ranks: 2, out: allReduce("sum", n, one(0, 1))}, allReduce("sum", n, one(0)),
			[]MetFault{{Kind: MetLeftOut, Rank: 0, Other: 1}, {Kind: MetLeftOut, Rank: 1, Other: 1}}},
		{meet{typ: "HcomAllToAll", ranks: 4, out: func(r, _ int, in func(int, int) float32) []float32 { return exchanged(r, 0, in) }},
			func(r, _ int, in func(int, int) float32) (out []float32) {
				if out = exchanged(r, 0, in); r == 2 {
					for i := range out {
						out[i] = in(r, i)
					}
				}
				return out
			}, []MetFault{{Kind: MetOwnInput, Rank: 2, Other: -1}}},
		{meet{typ: "HcomAllToAll", ranks: 4, out: func(r, _ int, in func(int, int) float32) []float32 { return exchanged(r, 0, in) }},
			func(r, _ int, in func(int, int) float32) []float32 {
				if r < 2 {
					return exchanged(r, 3, in)
				}
				return exchanged(r, 0, in)
			}, []MetFault{{Kind: MetSwapped, Rank: 0, Other: 3}, {Kind: MetSwapped, Rank: 1, Other: 3}}},
	} {
		c.x.attrs, c.x.in, c.x.sizes = "group hccl_world_group", values, [2]int{n, n}
		right := c.x.out
		c.x.out = func(r, step int, in func(int, int) float32) []float32 {
			if step == 1 {
				return c.fault(r, step, in)
			}
			return right(r, step, in)
		}
		m := c.x.check(t)
		var got []MetFault
		for _, f := range m.Faults {
			got = append(got, MetFault{Kind: f.Kind, Rank: f.Rank, Other: f.Other})
		}
		if m.Verdict != Wrong || !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, expected %+v", c.x.typ, got, c.want)
		}
	}
}

// Transfers: pairs by what the graphs say or what was sent, old data, those of another rank.
func TestTransfers(t *testing.T) {
	const n = 80
	sent := func(rank, step int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = values(rank, i+11*step)
		}
		return v
	}
	attr := func(graph bool, format string, args ...any) string {
		if !graph {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	// Rank 0 sends to 2, rank 1 to 3.
	for _, c := range []struct {
		name    string
		graph   bool
		got     []float32 // by rank 2 at step 1
		verdict Verdict
		how     string
		why     string
		kind    string
		other   int
	}{
		{"right", true, sent(0, 1), OK, GroupAttribute, "", "", 0},
		{"right, no graph", false, sent(0, 1), OK, GroupValues, "", "", 0},
		{"old", true, sent(0, 0), Wrong, GroupAttribute, "", MetStale, 0},
		{"of another", true, sent(1, 1), Wrong, GroupAttribute, "", MetSwapped, 1},
		{"unknown", true, sent(9, 4), Wrong, GroupAttribute, "", MetBeyond, 0},
		{"unknown, no graph", false, sent(9, 4), Unknown, "", WhyNoSender, "", 0},
		{"of another size", true, sent(0, 1)[:n/2], Unknown, "", WhyShapes, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var members []Member
			for r := range 4 {
				var entries [2]*dump.Entry
				typ, op := "HcomSend", attr(c.graph, "dest_rank %d sr_tag 5", r+2)
				if r > 1 {
					typ, op = "HcomReceive", attr(c.graph, "src_rank %d sr_tag 5", r-2)
				}
				for step := range entries {
					var in, out []float32
					switch {
					case r < 2:
						in = sent(r, step)
					case r == 2 && step == 1:
						out = c.got
					default:
						out = sent(r-2, step)
					}
					entries[step] = recordedEnd(t, filepath.Join(dir, fmt.Sprint(step, "_", r)), typ, false, in, out)
				}
				members = append(members, Member{Rank: r, Type: typ, Op: attributes(t, typ, op), Entry: entries[1], Before: entries[0]})
			}
			m, err := CheckTransfers(t.Context(), members)
			if err != nil {
				t.Fatal(err)
			}
			if m.Verdict != c.verdict || m.Why != c.why || c.how != "" && m.How != c.how {
				t.Errorf("%+v", m)
			}
			if c.verdict == OK && !reflect.DeepEqual(m.Groups, [][]int{{0, 2}, {1, 3}}) {
				t.Errorf("%+v", m.Groups)
			}
			if c.kind != "" && (len(m.Faults) != 1 || m.Faults[0].Kind != c.kind || m.Faults[0].Rank != 2 || m.Faults[0].Other != c.other) {
				t.Errorf("%+v", m.Faults)
			}
		})
	}
}

// The worst elements are those that a stable sort puts first, in the order of their places.
func TestWorstOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	for range 200 {
		j := &judge{}
		for i := range random.IntN(40) {
			ratio := float64(random.IntN(5))
			switch random.IntN(9) {
			case 0:
				ratio = math.Inf(1)
			case 1:
				ratio = math.NaN()
			}
			j.misses = append(j.misses, miss{i: int64(i), found: float64(100 + i), ratio: ratio})
		}
		most := 1 + random.IntN(30)
		sorted := slices.Clone(j.misses)
		slices.SortStableFunc(sorted, func(a, b miss) int { return cmp.Compare(b.ratio, a.ratio) })
		var want []int64
		for _, x := range sorted[:min(most, len(sorted))] {
			want = append(want, x.i)
		}
		slices.Sort(want)
		idx, found := worstOf(j, most)
		if !slices.Equal(idx, want) {
			t.Fatalf("%d of %+v are %v, expected %v", most, j.misses, idx, want)
		}
		for k, i := range idx {
			if found[k] != float64(100+i) {
				t.Fatalf("at %d stands %v", i, found[k])
			}
		}
	}
}
