package oracle

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/npy"
)

// ringed is a collective on some ranks, as numbers: what each brings in and has afterwards.
type ringed struct {
	api  string
	args func(rank int) (given []any, kwargs map[string]any) // of []float32, [][]float32, int, string
	out  func(rank int) []any                                // the same, when it is done
}

// onLanes are numbers whose squares are added up in float32, on eight lanes, as a CPU does.
type onLanes []float32

func (v onLanes) squares() float64 {
	var lanes [8]float32
	for i, x := range v {
		lanes[i%len(lanes)] += x * x
	}
	total := float32(0)
	for _, x := range lanes {
		total += x
	}
	return float64(total)
}

// TestRingsOfMany: the norm of what was gathered is not that of its parts to the last digit, since half a million squares are added
// up in float32; a part that is another is told all the same.
func TestRingsOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 11))
	for name, next := range map[string]func() float64{"many sizes": func() float64 { return math.Exp(2 * random.NormFloat64()) }, "one number": func() float64 { return 0.37 }} {
		var in [2]onLanes
		for r := range in {
			in[r] = make(onLanes, 1<<18)
			for i := range in[r] {
				in[r][i] = float32(next())
			}
		}
		for scale, want := range map[float32]Verdict{1: Unknown, 0.9: Wrong} {
			all, hi, lo := slices.Concat(in[0], in[1]), slices.Max(in[0]), slices.Min(in[0])
			for i := range all[:1<<17] { // half of the first part, without its extremes
				if x := all[i]; x != hi && x != lo || name == "one number" {
					all[i] *= scale
				}
			}
			found := ringOf(t, 2, false, []ringed{{"all_gather_into_tensor", func(r int) ([]any, map[string]any) {
				return []any{make([]float32, len(all)), in[r]}, map[string]any{"group": []int{0, 1}}
			}, func(int) []any { return []any{all} }}})
			findings, _, err := RecordingJob{Recordings: found, Workers: 1}.Run(t.Context())
			if err != nil || len(findings) != 2 || findings[0].Verdict != want {
				t.Errorf("%s, scaled by %g: %v, %+v, expected %v", name, scale, err, findings, want)
			}
		}
	}
}

// ringOf writes recordings of collectives on ranks, with their elements if told to.
func ringOf(t testing.TB, ranks int, elements bool, list []ringed) []msprobe.Recording {
	dir := t.TempDir()
	for rank := range ranks {
		at := filepath.Join(dir, "step0", fmt.Sprintf("rank%d", rank))
		if err := os.MkdirAll(filepath.Join(at, msprobe.TensorFolder), 0o700); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		var entries []string
		for _, c := range list {
			name := fmt.Sprintf("Distributed.%s.%d.forward", c.api, count[c.api])
			count[c.api]++
			files := 0
			var value func(x any) string
			value = func(x any) string {
				switch x := x.(type) {
				case nil:
					return "null"
				case int:
					return fmt.Sprintf(`{"type":"int","value":%d}`, x)
				case bool:
					return fmt.Sprintf(`{"type":"bool","value":%v}`, x)
				case string:
					return fmt.Sprintf(`{"type":"torch.distributed.ReduceOp","value":"RedOpType.%s"}`, x)
				case []int:
					var text []string
					for _, r := range x {
						text = append(text, fmt.Sprint(r))
					}
					return fmt.Sprintf(`{"type":"torch.ProcessGroup","group_ranks":[%s],"group_id":"a"}`, strings.Join(text, ","))
				case [][]float32:
					var text []string
					for _, v := range x {
						text = append(text, value(v))
					}
					return "[" + strings.Join(text, ",") + "]"
				case []any:
					var text []string
					for _, v := range x {
						text = append(text, value(v))
					}
					return "[" + strings.Join(text, ",") + "]"
				case p2p:
					return fmt.Sprintf(`{"class_type":"torch.distributed.P2POp","tensor":%s,"op":%q,"peer":%d,"tag":0,"group_id":"a"}`, value(x.tensor), x.op, x.peer)
				}
				v, many := x.([]float32)
				if !many {
					v = x.(onLanes)
				}
				hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
				var raw []byte
				for _, e := range v {
					hi, lo, sum, squares = math.Max(hi, float64(e)), math.Min(lo, float64(e)), sum+float64(e), squares+float64(e)*float64(e)
					raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(e))
				}
				if !many {
					squares = x.(onLanes).squares()
				}
				text := fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.float32","shape":[%d],"Max":%v,"Min":%v,"Mean":%v,"Norm":%v`, len(v), hi, lo, sum/float64(len(v)), math.Sqrt(squares))
				if elements {
					file := fmt.Sprintf("%s.%d.npy", name, files)
					files++
					f, err := os.Create(filepath.Join(at, msprobe.TensorFolder, file))
					if err != nil {
						t.Fatal(err)
					}
					if err := npy.Write(f, dtype.Float32, []int64{int64(len(v))}, raw); err != nil {
						t.Fatal(err)
					}
					if err := f.Close(); err != nil {
						t.Fatal(err)
					}
					text += `,"data_name":"` + file + `"`
				}
				return text + "}"
			}
			given, kwargs := c.args(rank)
			var keys []string
			for k := range kwargs {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for i, k := range keys {
				keys[i] = fmt.Sprintf("%q:%s", k, value(kwargs[k]))
			}
			entries = append(entries, fmt.Sprintf(`"%s":{"input_args":%s,"input_kwargs":{%s},"output":%s}`, name, value(given), strings.Join(keys, ","), value(c.out(rank))))
		}
		text := `{"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{` + strings.Join(entries, ",\n") + "}}"
		if err := os.WriteFile(filepath.Join(at, msprobe.DumpFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := msprobe.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// numbersOf are some numbers that belong to a rank and a piece.
func numbersOf(rank, piece, n int) []float32 {
	r := rand.New(rand.NewPCG(uint64(rank)+7, uint64(piece)+3))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
}

func added(list ...[]float32) []float32 {
	y := slices.Clone(list[0])
	for _, x := range list[1:] {
		for i := range y {
			y[i] += x[i]
		}
	}
	return y
}

// ring are collectives of three ranks that do as they should. change may spoil what a rank has
// of one of them.
func ring(change func(api string, rank int, out []any)) (list []ringed) {
	const n = 3
	all := func(piece int) [][]float32 {
		return [][]float32{numbersOf(0, piece, 12), numbersOf(1, piece, 12), numbersOf(2, piece, 12)}
	}
	add := func(api string, args func(rank int) ([]any, map[string]any), out func(rank int) []any) {
		list = append(list, ringed{api, args, func(rank int) []any {
			x := out(rank)
			change(api, rank, x)
			return x
		}})
	}
	pieces := func(rank, at int) [][]float32 {
		return [][]float32{numbersOf(rank, at, 5), numbersOf(rank, at+1, 5), numbersOf(rank, at+2, 5)}
	}
	add("all_reduce", func(r int) ([]any, map[string]any) {
		return []any{numbersOf(r, 0, 12)}, map[string]any{"op": "SUM"}
	}, func(int) []any { return []any{added(all(0)...), "SUM"} })
	add("reduce", func(r int) ([]any, map[string]any) { return []any{numbersOf(r, 1, 12), 2}, nil }, func(r int) []any {
		if r == 2 {
			return []any{added(all(1)...), 2}
		}
		return []any{numbersOf(r, 1, 12), 2}
	})
	add("broadcast", func(r int) ([]any, map[string]any) { return []any{numbersOf(r, 2, 12)}, map[string]any{"src": 1} },
		func(int) []any { return []any{numbersOf(1, 2, 12), 1} })
	add("all_gather", func(r int) ([]any, map[string]any) { return []any{nil, numbersOf(r, 3, 12)}, nil },
		func(r int) []any { return []any{all(3), numbersOf(r, 3, 12)} })
	add("all_gather_into_tensor", func(r int) ([]any, map[string]any) { return []any{nil, numbersOf(r, 4, 12)}, nil },
		func(r int) []any { return []any{slices.Concat(all(4)...), numbersOf(r, 4, 12)} })
	add("reduce_scatter", func(r int) ([]any, map[string]any) { return []any{nil, pieces(r, 10)}, nil },
		func(r int) []any {
			return []any{added(pieces(0, 10)[r], pieces(1, 10)[r], pieces(2, 10)[r]), pieces(r, 10)}
		})
	add("reduce_scatter_tensor", func(r int) ([]any, map[string]any) { return []any{nil, slices.Concat(pieces(r, 20)...)}, nil },
		func(r int) []any {
			return []any{added(pieces(0, 20)[r], pieces(1, 20)[r], pieces(2, 20)[r]), slices.Concat(pieces(r, 20)...)}
		})
	add("all_to_all", func(r int) ([]any, map[string]any) { return []any{nil, pieces(r, 30)}, nil },
		func(r int) []any {
			return []any{[][]float32{pieces(0, 30)[r], pieces(1, 30)[r], pieces(2, 30)[r]}, pieces(r, 30)}
		})
	split := func(rank, to int) []float32 { return numbersOf(rank, 40+to, 1+(rank+to)%n) }
	sizes := func(r int) []any { return []any{1 + r%n, 1 + (r+1)%n, 1 + (r+2)%n} }
	whole := func(r int) []float32 { return slices.Concat(split(r, 0), split(r, 1), split(r, 2)) }
	add("all_to_all_single", func(r int) ([]any, map[string]any) { return []any{nil, whole(r), sizes(r), sizes(r)}, nil },
		func(r int) []any {
			return []any{slices.Concat(split(0, r), split(1, r), split(2, r)), whole(r), sizes(r), sizes(r)}
		})
	add("scatter", func(r int) ([]any, map[string]any) {
		if r == 0 {
			return []any{nil, pieces(0, 50), 0}, nil
		}
		return []any{nil, nil, 0}, nil
	}, func(r int) []any { return []any{pieces(0, 50)[r], nil, 0} })
	add("gather", func(r int) ([]any, map[string]any) { return []any{numbersOf(r, 60, 12), nil, 1}, nil },
		func(r int) []any {
			if r == 1 {
				return []any{numbersOf(r, 60, 12), all(60), 1}
			}
			return []any{numbersOf(r, 60, 12), nil, 1}
		})
	return list
}

// TestRings: collectives that do as they should are right, as far as can be told, and one that
// does not is named, on the ranks that have it wrong, with what it is instead.
func TestRings(t *testing.T) {
	is := func(reasons []result.Reason, kind result.Kind) bool {
		return kind == "" || slices.ContainsFunc(reasons, func(r result.Reason) bool { return r.Kind == kind })
	}
	check := func(elements bool, change func(api string, rank int, out []any)) []Finding {
		findings, bad, err := RecordingJob{Recordings: ringOf(t, 3, elements, ring(change)), Workers: 2}.Run(t.Context())
		if err != nil || len(bad) > 0 {
			t.Fatal(err, bad)
		}
		for _, f := range findings {
			if is(f.Reasons, Crashed) && len(f.Reasons) > 0 {
				t.Errorf("%s: %v", f.Op, f.Reasons)
			}
		}
		return findings
	}
	for _, elements := range []bool{true, false} {
		known := 0
		for _, f := range check(elements, func(string, int, []any) {}) {
			if f.Verdict == OK {
				known++
			}
			if want := OK; f.Verdict == Wrong || f.Verdict == Suspect || elements && f.Verdict != want && !is(f.Reasons, NotMine) {
				t.Errorf("elements %v: %s output %d is %v: %v", elements, f.Op, f.Index, f.Verdict, f.Reasons)
			}
		}
		if elements && known < 50 {
			t.Errorf("%d outputs are right, expected more", known)
		}
	}
	spoil := func(api string, rank int, how func(out []any)) func(string, int, []any) {
		return func(a string, r int, out []any) {
			if a == api && (r == rank || rank < 0) {
				how(out)
			}
		}
	}
	for _, c := range []struct {
		name, api string
		rank      int
		kind      result.Kind
		blind     bool // statistics alone do not tell
		how       func(out []any)
	}{
		{"own", "all_reduce", 1, OwnInput, false, func(out []any) { out[0] = numbersOf(1, 0, 12) }},
		{"another reduction", "all_reduce", -1, OtherReduction, true, func(out []any) {
			y := numbersOf(0, 0, 12)
			for _, x := range [][]float32{numbersOf(1, 0, 12), numbersOf(2, 0, 12)} {
				for i := range y {
					y[i] = max(y[i], x[i])
				}
			}
			out[0] = y
		}},
		{"lost", "all_reduce", -1, LeftOut, false, func(out []any) { out[0] = added(numbersOf(0, 0, 12), numbersOf(2, 0, 12)) }},
		{"twice", "all_reduce", 0, CountedTwice, false, func(out []any) {
			out[0] = added(numbersOf(0, 0, 12), numbersOf(1, 0, 12), numbersOf(2, 0, 12), numbersOf(2, 0, 12))
		}},
		{"scaled", "all_reduce", 2, Scaled, true, func(out []any) {
			y := slices.Clone(out[0].([]float32))
			for i := range y {
				y[i] *= 1.5
			}
			out[0] = y
		}},
		{"a bit", "all_reduce", 2, "", true, func(out []any) {
			y := slices.Clone(out[0].([]float32))
			y[5] = math.Float32frombits(math.Float32bits(y[5]) ^ 1<<20)
			out[0] = y
		}},
		{"the last bit", "all_reduce", 2, RankDiffers, true, func(out []any) {
			y := slices.Clone(out[0].([]float32))
			y[5] = math.Float32frombits(math.Float32bits(y[5]) ^ 1)
			out[0] = y
		}},
		{"lost", "reduce", 2, LeftOut, false, func(out []any) { out[0] = added(numbersOf(0, 1, 12), numbersOf(2, 1, 12)) }},
		{"own", "broadcast", 2, OwnInput, false, func(out []any) { out[0] = numbersOf(2, 2, 12) }},
		{"swapped", "all_gather", 0, OtherPiece, false, func(out []any) {
			x := out[0].([][]float32)
			x[1], x[2] = x[2], x[1]
		}},
		{"swapped", "all_gather_into_tensor", 0, OtherPiece, true, func(out []any) {
			out[0] = slices.Concat(numbersOf(1, 4, 12), numbersOf(0, 4, 12), numbersOf(2, 4, 12))
		}},
		{"swapped", "reduce_scatter", 1, OtherPiece, false, func(out []any) {
			out[0] = added(numbersOf(0, 12, 5), numbersOf(1, 12, 5), numbersOf(2, 12, 5))
		}},
		{"scaled", "reduce_scatter_tensor", 1, OtherReduction, false, func(out []any) {
			y := slices.Clone(out[0].([]float32))
			for i := range y {
				y[i] /= 3
			}
			out[0] = y
		}},
		{"swapped", "all_to_all", 2, OtherPiece, false, func(out []any) {
			x := out[0].([][]float32)
			x[0], x[1] = x[1], x[0]
		}},
		{"a number", "all_to_all_single", 0, "", false, func(out []any) {
			y := slices.Clone(out[0].([]float32))
			y[1] += 5
			out[0] = y
		}},
		{"another's", "scatter", 2, OtherPiece, false, func(out []any) { out[0] = numbersOf(0, 51, 5) }},
		{"swapped", "gather", 1, OtherPiece, false, func(out []any) {
			x := out[1].([][]float32)
			x[0], x[2] = x[2], x[0]
		}},
	} {
		for _, elements := range []bool{true, false} {
			if c.blind && !elements {
				continue
			}
			found := false
			for _, f := range check(elements, spoil(c.api, c.rank, c.how)) {
				if f.Verdict != Wrong {
					continue
				}
				if !strings.Contains(f.Op, "."+c.api+".") || elements && c.rank >= 0 && !strings.Contains(f.Op, fmt.Sprintf("rank%d/", c.rank)) {
					t.Errorf("%s %s: %s output %d is wrong: %v", c.api, c.name, f.Op, f.Index, f.Reasons)
				}
				if found = true; elements && !is(f.Reasons, c.kind) {
					t.Errorf("%s %s: found %v, expected %s", c.api, c.name, f.Reasons, c.kind)
				}
			}
			if !found {
				t.Errorf("%s %s, elements %v: nothing is wrong", c.api, c.name, elements)
			}
		}
	}
}

// TestRingsMissing: a rank without a recording of the call, and ranks that nobody knows of, accuse
// nobody.
func TestRingsMissing(t *testing.T) {
	sum := func(out func(r int) []any) []ringed {
		return []ringed{{"all_reduce", func(r int) ([]any, map[string]any) { return []any{numbersOf(r, 0, 12)}, nil }, out}}
	}
	for name, c := range map[string]struct {
		list []ringed
		kind result.Kind
	}{
		"more ranks took part": {sum(func(int) []any { return []any{numbersOf(9, 9, 12)} }), MoreRanks},
		"a rank is missing": {[]ringed{{"all_reduce", func(r int) ([]any, map[string]any) {
			return []any{numbersOf(r, 0, 12)}, map[string]any{"group": []int{0, 1, 5}}
		}, func(int) []any { return []any{numbersOf(9, 9, 12), []int{0, 1, 5}} }}}, NoRank},
		"it is not done": {[]ringed{{"all_reduce", func(r int) ([]any, map[string]any) {
			return []any{numbersOf(r, 0, 12)}, map[string]any{"async_op": true}
		}, func(r int) []any { return []any{numbersOf(r, 0, 12), true} }}}, InFlight},
		"it is done in part": {[]ringed{{"all_reduce", func(r int) ([]any, map[string]any) {
			return []any{numbersOf(r, 0, 12)}, map[string]any{"async_op": true}
		}, func(r int) []any {
			list := numbersOf(r, 0, 12)
			at := slices.Index(list, slices.Max(list))
			for i, v := range added(numbersOf(0, 0, 12), numbersOf(1, 0, 12)) {
				if i != at && v < list[at] {
					list[i] = v
				}
			}
			return []any{list, true}
		}}}, InFlight},
	} {
		findings, _, err := RecordingJob{Recordings: ringOf(t, 2, name != "it is done in part", c.list), Workers: 1}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Verdict != Unknown || !slices.ContainsFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == c.kind }) {
				t.Errorf("%s: %s is %v: %v", name, f.Op, f.Verdict, f.Reasons)
			}
		}
	}
}

// TestUnderway: an asynchronous reduction that was recorded while it ran has sums of some ranks in some places, which is no
// fault; another reduction than that asked for is one, asynchronous or not.
func TestUnderway(t *testing.T) {
	const ranks, n = 4, 16
	in := func(r int) []float32 { return numbersOf(r, 0, n) }
	for name, c := range map[string]struct {
		out  func(r int) []float32
		want Verdict
	}{
		"a piece of every rank is not summed up": {func(r int) []float32 {
			list := added(in(0), in(1), in(2), in(3))
			for i := range n / ranks { // of this piece, the last rank is missing
				at := r*n/ranks + i
				list[at] -= in((r + 1) % ranks)[at]
			}
			return list
		}, Unknown},
		"one more rank in each piece": {func(r int) []float32 {
			list := make([]float32, n)
			for at := range n {
				for k := range 1 + (at*ranks/n+r)%ranks {
					list[at] += in((r + k) % ranks)[at]
				}
			}
			return list
		}, Unknown},
		"the largest": {func(int) []float32 {
			list := in(0)
			for r := range ranks {
				for i, v := range in(r) {
					list[i] = max(list[i], v)
				}
			}
			return list
		}, Wrong},
	} {
		for _, elements := range []bool{true, false} {
			list := []ringed{{"all_reduce", func(r int) ([]any, map[string]any) {
				return []any{in(r)}, map[string]any{"async_op": true, "group": []int{0, 1, 2, 3}}
			}, func(r int) []any { return []any{c.out(r), []int{0, 1, 2, 3}} }}}
			findings, _, err := RecordingJob{Recordings: ringOf(t, ranks, elements, list), Workers: 1}.Run(t.Context())
			if err != nil || len(findings) != ranks {
				t.Fatalf("%d findings: %v", len(findings), err)
			}
			wrong := 0
			for _, f := range findings {
				if f.Verdict == Wrong {
					wrong++
				}
				if f.Verdict == Wrong && c.want == Unknown {
					t.Errorf("%s, elements %v: %s is wrong: %v", name, elements, f.Op, f.Reasons)
				}
			}
			if wrong == 0 && c.want == Wrong && elements {
				t.Errorf("%s: nothing is wrong", name)
			}
		}
	}
}

// TestOtherGroup: a reduction over other ranks than those of its group is told, by the inputs that give it.
func TestOtherGroup(t *testing.T) {
	in := func(r int) []float32 { return numbersOf(r, 0, 12) }
	own := func(r int) []int { return []int{r / 2 * 2, r/2*2 + 1} }
	for _, c := range []struct {
		name  string
		group func(r int) []int
		of    []int // whose inputs are added up
		ranks []int // that have the wrong sum
		want  string
	}{
		{"all ranks", own, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}, "0, 1, 2, 3"},
		{"some", func(int) []int { return []int{0, 1, 2, 3} }, []int{0, 2}, []int{0, 2}, "0, 2"},
		{"of another group", own, []int{0, 2}, []int{0, 2}, "0, 2"},
	} {
		list := []ringed{{"all_reduce", func(r int) ([]any, map[string]any) { return []any{in(r)}, map[string]any{"group": c.group(r)} }, func(r int) []any {
			of := c.group(r)
			if slices.Contains(c.ranks, r) {
				of = c.of
			}
			var from [][]float32
			for _, k := range of {
				from = append(from, in(k))
			}
			return []any{added(from...), c.group(r)}
		}}}
		findings, _, err := RecordingJob{Recordings: ringOf(t, 4, true, list), Workers: 1}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for _, f := range findings {
			if f.Verdict != Wrong {
				continue
			}
			if wrong++; !slices.ContainsFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == OtherGroup && r.Args[0] == c.want }) {
				t.Errorf("%s: %s: %v", c.name, f.Op, f.Reasons)
			}
		}
		if wrong != len(c.ranks) {
			t.Errorf("%s: %d outputs are wrong, expected %d", c.name, wrong, len(c.ranks))
		}
	}
}

// TestBufferNotRead: the buffer that a collective fills is not read, and told all the same if its file is empty.
func TestBufferNotRead(t *testing.T) {
	in := func(r int) []float32 { return numbersOf(r, 0, 12) }
	both := append(slices.Clone(in(0)), in(1)...)
	found := ringOf(t, 2, true, []ringed{{"all_gather_into_tensor", func(r int) ([]any, map[string]any) {
		return []any{make([]float32, 24), in(r)}, map[string]any{"group": []int{0, 1}}
	}, func(int) []any { return []any{both} }}})
	buffer, err := found[1].File("Distributed.all_gather_into_tensor.0.forward.0.npy")
	if err != nil {
		t.Fatal(err)
	}
	for told := range 2 {
		findings, bad, err := RecordingJob{Recordings: found, Workers: 1}.Run(t.Context())
		if err != nil || len(bad) != told || told > 0 && bad[0].File != buffer {
			t.Errorf("%v, %+v, expected %d", err, bad, told)
		}
		if len(findings) != 2 || findings[0].Verdict != OK || findings[1].Verdict != OK {
			t.Errorf("%+v", findings)
		}
		if err := os.Truncate(buffer, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBatchedTransfers: what batch_isend_irecv brings is what the other rank sent, also if it sends and receives
// several tensors at a time; what was not there yet when it was recorded accuses nobody.
func TestBatchedTransfers(t *testing.T) {
	sent := func(r, to int) []float32 { return numbersOf(r, to, 6) }
	blank := make([]float32, 6)
	for _, elements := range []bool{true, false} {
		for _, c := range []struct {
			name string
			got  func(r, from int) []float32 // what rank r has of another when it was recorded
			want Verdict
		}{
			{"right", func(r, from int) []float32 { return sent(from, r) }, OK},
			{"not there yet", func(int, int) []float32 { return blank }, Unknown},
			{"another's", func(r, from int) []float32 { return sent(from, (r+2)%3) }, Wrong},
			{"scaled", func(r, from int) []float32 {
				y := slices.Clone(sent(from, r))
				for i := range y {
					y[i] *= 2
				}
				return y
			}, Wrong},
		} {
			op := func(name string, x []float32, peer int) any {
				return p2p{name, x, peer}
			}
			list := []ringed{{"batch_isend_irecv", func(r int) ([]any, map[string]any) {
				a, b := (r+1)%3, (r+2)%3
				return []any{[]any{op("isend", sent(r, a), a), op("irecv", blank, a), op("irecv", blank, b), op("isend", sent(r, b), b)}}, nil
			}, func(r int) []any {
				a, b := (r+1)%3, (r+2)%3
				return []any{[]any{op("isend", sent(r, a), a), op("irecv", c.got(r, a), a), op("irecv", c.got(r, b), b), op("isend", sent(r, b), b)}}
			}}, {"barrier", func(int) ([]any, map[string]any) { return nil, nil }, func(int) []any { return []any{nil} }}}
			findings, _, err := RecordingJob{Recordings: ringOf(t, 3, elements, list), Workers: 1}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			count := map[Verdict]int{}
			places := map[string]bool{}
			for _, f := range findings {
				count[f.Verdict]++
				places[fmt.Sprint(f.Op, f.Index)] = true
			}
			of := 12 // those that send have what they had
			if got := count[c.want]; elements && got < 6 || c.want == Wrong && got != 6 || c.want != Wrong && count[Wrong] > 0 || len(findings) != of || len(places) != of {
				t.Errorf("%s, elements %v: %v of %d at %d places", c.name, elements, count, len(findings), len(places))
			}
		}
	}
}

// p2p is an operation of batch_isend_irecv.
type p2p struct {
	op     string
	tensor []float32
	peer   int
}

// BenchmarkRings checks 400 collectives of 64 ranks by their statistics.
func BenchmarkRings(b *testing.B) {
	var list []ringed
	for i := range 400 {
		list = append(list, ringed{"all_reduce", func(r int) ([]any, map[string]any) { return []any{numbersOf(r, i, 4)}, nil },
			func(int) []any { return []any{numbersOf(99, i, 4)} }})
	}
	recordings := ringOf(b, 64, false, list)
	for b.Loop() {
		if _, _, err := (RecordingJob{Recordings: recordings}).Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSplitSizes: rows for each rank that are more than there are, also together, are refused before they are places in a tensor, whatever a recording
// claims: their sum may be more than an int64 holds, and come out as small as it should be.
func TestSplitSizes(t *testing.T) {
	const half = 1 << 62
	for _, c := range []struct {
		name  string
		sizes []float64
		want  []int64
	}{
		{"as recorded", []float64{1, 0, 2, 3, 0}, []int64{0, 2, 2, 6, 12, 12}},
		{"beyond the end", []float64{1, 0, 2, 4, 0}, nil},
		{"a sum that wraps around to nothing", []float64{half, half, 1, half, half - 1}, nil},
		{"no int64", []float64{1e300, 0, 0, 0, 0}, nil},
		{"no number", []float64{math.NaN(), 0, 0, 0, 0}, nil},
		{"less than none", []float64{-1, 1, 0, 0, 0}, nil},
		{"of four ranks", []float64{1, 1, 1, 1}, nil},
	} {
		sizes := &argument{}
		for _, v := range c.sizes {
			sizes.list = append(sizes.list, &argument{v: &msprobe.Value{Kind: msprobe.Bare, Value: msprobe.Number{Kind: msprobe.Float, F: v}}})
		}
		in := &argument{v: &msprobe.Value{Kind: msprobe.Tensor, Elem: dtype.Float32, Known: true, Shape: []int64{6, 2}}}
		m := &gathering{members: make([]member, 5)}
		m.members[0].args = map[string]*argument{"in": in, "input_split_sizes": sizes}
		got := func() (sums []int64) {
			defer func() {
				if r := recover(); r != nil && c.want != nil {
					t.Errorf("%s: refused, %v", c.name, r)
				}
			}()
			return m.sharesOf(0)
		}()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}
