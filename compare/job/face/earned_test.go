package face

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"precision/compare/job"
	"precision/compare/report"
	"precision/internal/msg"
	"precision/testdata/workshop/jobtest"
	"precision/testdata/workshop/msgtest"
)

// made is what became of a job, and what was told on the way.
type made struct {
	result *job.Result
	notes  []job.Note
}

// madeCalls makes recordings of calls of some ranks at one step: linear calls, one behind the other, of which a rank computes one
// otherwise: "calls ranks=2 calls=3 wrong=RANK:CALL".
func madeCalls(t *testing.T, text string) made {
	t.Helper()
	ranks, calls, wrong, meet := 1, 1, map[string]bool{}, false
	for _, word := range strings.Fields(text)[1:] {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "ranks":
			ranks = n
		case "calls":
			calls = n
		case "wrong":
			wrong[value] = true
		case "meet":
			meet = true
		}
	}
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [8, 8], "Max": %.9g, "Min": %.9g, "Mean": %.9g, "Norm": %.9g}`, v, -v/2, v/16, 3*v)
	}
	dir := t.TempDir()
	for _, side := range []string{"left", "right"} {
		sum, all := 0.0, make([][]string, ranks)
		for rank := range ranks {
			var entries []string
			x := float64(1 + rank)
			for call := range calls {
				y := x * 1.75
				if side == "left" && wrong[fmt.Sprintf("%d:%d", rank, call)] {
					y *= 1.5
				}
				entries = append(entries, fmt.Sprintf(`"Functional.linear.%d.forward": {"input_args": [%s, %s], "input_kwargs": {}, "output": [%s]}`, call, tensor(x), tensor(0.3+float64(call)), tensor(y)))
				x = y
			}
			sum += x
			if meet {
				entries = append(entries, fmt.Sprintf(`"Distributed.all_reduce.0.forward": {"input_args": [%s], "input_kwargs": {}, "output": [SUM]}`, tensor(x)))
				entries = append(entries, fmt.Sprintf(`"Functional.linear.%d.forward": {"input_args": [SUM, %s], "input_kwargs": {}, "output": [NEXT]}`, calls, tensor(0.7)))
			}
			all[rank] = entries
		}
		for rank, entries := range all {
			for i := range entries {
				entries[i] = strings.NewReplacer("SUM", tensor(sum), "NEXT", tensor(1.25*sum+float64(rank))).Replace(entries[i])
			}
			at := filepath.Join(dir, side, "step0", fmt.Sprintf("rank%d", rank))
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			content := `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + strings.Join(entries, ",") + "}}"
			if err := os.WriteFile(filepath.Join(at, "dump.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := job.Request{Left: filepath.Join(dir, "left"), Right: filepath.Join(dir, "right")}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), job.Settings{Out: filepath.Join(dir, "out")})
	if err != nil {
		t.Fatal(err)
	}
	return made{result: r}
}

// madeJob makes the recordings of a job of four ranks and two steps, of which words say what is wrong: OP=HOW from step 1 on, with
// @RANKS where not all have it and #STEP where it is one step; weight=RANK whose weight is another from step 1 on, ranks=, steps=, gone= and nodump= a rank's
// golden recording and dumps of step 0, graph=OLD:NEW, only= ranks, host, alone, twice, and "again", behind which it is run once more.
func madeJob(t *testing.T, text string) made {
	t.Helper()
	const size = 48
	j := jobtest.Job{Ranks: 4, Steps: 2, Size: size, All: true}
	faults := map[string]func(step, rank int, out []float32){}
	now := 0
	ops := map[string]string{"mul": jobtest.Mul, "reduce": jobtest.Reduce, "gather": jobtest.Gather, "scatter": jobtest.Scatter, "cast": jobtest.Cast, "swap": jobtest.Swap, "update": jobtest.Update}
	var mul, sum [3][8][]float32
	add := func(out, x []float32, by float32) {
		for i := range out {
			out[i] += by * x[i]
		}
	}
	how := map[string]func(rank int, out []float32){
		"flip": func(_ int, out []float32) {
			for i := range out {
				out[i] = 3 - 2*out[i]
			}
		},
		"own":       func(rank int, out []float32) { copy(out, mul[now][rank]) },
		"left-out":  func(_ int, out []float32) { add(out, mul[now][1], -1) },
		"twice":     func(_ int, out []float32) { add(out, mul[now][3], 1) },
		"old":       func(rank int, out []float32) { copy(out, sum[0][rank]) },
		"old-input": func(_ int, out []float32) { add(out, mul[now][2], -1); add(out, mul[0][2], 1) },
		"mean": func(_ int, out []float32) {
			for i := range out {
				out[i] /= 4
			}
		},
		"bits": func(_ int, out []float32) {
			k := slices.IndexFunc(out, func(v float32) bool { return v != 0 })
			out[k] = math.Nextafter32(out[k], 1e9)
		},
		"element": func(_ int, out []float32) { out[5] += 1000 },
		"piece":   func(_ int, out []float32) { copy(out[2*size:3*size], mul[now][3]) },
	}
	var after []func(dir string, r *job.Request)
	again := 0
	words := strings.Fields(text)
	for i, word := range words {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		remove := func(path func(step, rank int) string) {
			after = append(after, func(dir string, _ *job.Request) { os.RemoveAll(filepath.Join(dir, path(0, n))) })
		}
		switch {
		case name == "again":
			again = i + 1
		case again > 0: // what is done between the two runs
		case ops[name] != "":
			value, only, one := strings.Cut(value, "#")
			value, at, some := strings.Cut(value, "@")
			faults[ops[name]] = func(step, rank int, out []float32) {
				if (!some || strings.Contains(at, strconv.Itoa(rank))) && (step >= 1 && !one || strconv.Itoa(step) == only) {
					how[value](rank, out)
				}
			}
		case name == "weight":
			j.Weight = func(step, rank int, w []float32) {
				if rank == n && step == 1 {
					w[7]++
				}
			}
		case name == "ranks":
			j.Ranks = n
		case name == "steps":
			j.Steps = n
		case name == "gone":
			remove(jobtest.Golden)
		case name == "nodump":
			remove(jobtest.Dir)
		case name == "cut":
			after = append(after, func(dir string, _ *job.Request) {
				files, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, n), "*"))
				for _, f := range files {
					os.Truncate(f, 20)
				}
			})
		case name == "unrecorded":
			after = append(after, func(dir string, _ *job.Request) {
				files, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, n), "HcomAllReduce*"))
				for _, f := range files {
					os.Remove(f)
				}
			})
		case name == "graph":
			after = append(after, func(_ string, r *job.Request) {
				text, err := os.ReadFile(r.Graph)
				old, by, _ := strings.Cut(strings.ReplaceAll(value, "·", " "), "/")
				if err != nil || !strings.Contains(string(text), old) {
					t.Fatal(old, err)
				}
				if err := os.WriteFile(r.Graph, []byte(strings.ReplaceAll(string(text), old, by)), 0o600); err != nil {
					t.Fatal(err)
				}
				dumps, _ := filepath.Glob(filepath.Join(r.Left, "*", "*", "*", "*", "*", old+".*"))
				for _, path := range dumps {
					os.Rename(path, filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), old, by, 1)))
				}
			})
		case name == "in-place":
			j.InPlace = true
		case name == "same": // another of the same rank, step and time
			after = append(after, func(dir string, _ *job.Request) {
				old := filepath.Join(dir, jobtest.Dir(0, 0))
				os.CopyFS(strings.Replace(old, "/0/net_1", "/00/net_1", 1), os.DirFS(old))
			})
		case name == "only":
			after = append(after, func(_ string, r *job.Request) { r.Ranks = job.Numbers{{n, n}} })
		case name == "hosts":
			after = append(after, func(_ string, r *job.Request) { r.PerHost = n })
		case name == "older":
			after = append(after, func(dir string, _ *job.Request) {
				old := filepath.Join(dir, jobtest.Dir(0, 0))
				os.CopyFS(strings.Replace(old, jobtest.Time, "20260202120000", 1), os.DirFS(old))
			})
		case name == "nameless":
			after = append(after, func(dir string, _ *job.Request) {
				old := filepath.Join(dir, jobtest.Dir(0, 1))
				os.CopyFS(strings.Replace(old, "/1/net_1", "/copy/net_1", 1), os.DirFS(old))
			})
		default:
			t.Fatalf("what is %s?", word)
		}
	}
	j.Break = func(step, rank int, op string, out []float32) {
		now = step
		if f := faults[op]; f != nil {
			f(step, rank, out)
		}
		switch op {
		case jobtest.Mul:
			mul[step][rank] = slices.Clone(out)
		case jobtest.Reduce:
			sum[step][rank] = slices.Clone(out)
		}
	}
	dir := t.TempDir()
	if err := j.Write(dir); err != nil {
		t.Fatal(err)
	}
	r := job.Request{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt"), Version: "test"}
	for _, f := range after {
		f(dir, &r)
	}
	var m made
	s := job.Settings{Out: filepath.Join(dir, "out")}
	run := func() {
		p, err := r.Plan(t.Context())
		if err == nil {
			m.result, err = p.Run(t.Context(), s)
		}
		if err != nil {
			t.Fatal(text, err)
		}
	}
	run()
	if again > 0 {
		journal := filepath.Join(s.Out, job.JournalFile)
		for _, word := range words[again:] {
			switch word {
			case "journal-cut":
				info, err := os.Stat(journal)
				if err != nil {
					t.Fatal(err)
				}
				os.Truncate(journal, info.Size()-5)
			case "journal-lost":
				os.WriteFile(journal, []byte("{}\n"), 0o600)
			case "version":
				r.Version = "another"
			case "tables":
				os.Truncate(filepath.Join(s.Out, job.TableFolder, "step0_rank2.json"), 5)
			case "changed":
				dumps, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, 1), "*"))
				os.Truncate(dumps[0], 20)
			default:
				t.Fatalf("what is %s?", word)
			}
		}
		s.Tell = func(n job.Note) { m.notes = append(m.notes, n) }
		run()
	}
	return m
}

// said is all that is told of a job.
func said(jobs *sync.Map) func(t *testing.T, lang msg.Lang, text string) string {
	return func(t *testing.T, lang msg.Lang, text string) string {
		t.Helper()
		found, ok := jobs.Load(text)
		if !ok {
			if strings.HasPrefix(text, "calls") {
				found = madeCalls(t, text)
			} else {
				found = madeJob(t, text)
			}
			jobs.Store(text, found)
		}
		m := found.(made)
		all := report.Render(append(Plan(lang, m.result.Plan, 20, nil), Result(lang, m.result)...), 14, func(_ report.Style, text string) string { return text })
		for _, n := range m.notes {
			all += "\n" + Note(lang, n)
		}
		return all
	}
}

// noClaim are names, words between others, and what says of a part what another package found; not tried are a folder that
// cannot be read.
var noClaim = regexp.MustCompile(`^job\.(label|verdict)\.|^job\.(more|unknown|group\.|given|colon|and|bracket|pair|at\.step|count|failed|unknown\.first|estimate|alone|alone\.unread)$`)

// Every sentence of a job is gone where what it claims is not so.
func TestEarned(t *testing.T) {
	cases := map[string][][2]string{}
	for _, c := range []struct{ keys, is, isNot string }{
		{"pair.host", "hosts=2", ""},
		{"alone.no-golden", "gone=1", "cut=1"},
		{"alone.no-dump", "nodump=1", "gone=1"},
		{"alone.older", "older", ""},
		{"alone.ambiguous", "nameless", ""},
		{"alone.missing", "gone=1 nodump=1", "nodump=1"},
		{"why.unplaced", "nameless reduce=element@0#0", "reduce=element@0#0"},
		{"why.type", "graph=HcomBroadcast/HcomUnheard", ""},
		{"why.agree", "reduce=flip graph=hccl_world_group/tp", "reduce=twice"},
		{"chosen", "only=1", ""},
		{"fault.own-input", "reduce=own@2", "reduce=twice"},
		{"fault.left-out.of", "reduce=left-out", "reduce=twice"},
		{"fault.twice.of", "reduce=twice", "reduce=left-out"},
		{"fault.stale", "reduce=old@1", "reduce=mean"},
		{"fault.stale.of", "reduce=old-input", "reduce=old@1"},
		{"fault.mean", "reduce=mean", "reduce=twice"},
		{"fault.sum", `graph=s:·"sum"/s:·"mean"`, "reduce=mean"},
		{"fault.swapped.of", "gather=piece@1", "reduce=own@2"},
		{"fault.differs", "reduce=bits@3", "reduce=element@3"},
		{"fault.beyond fault.elements", "reduce=element@0", "reduce=bits@3"},
		{"group.attribute", "reduce=twice", "mul=flip"},
		{"scope.all", "mul=flip", "mul=flip@2"},
		{"scope.rank", "mul=flip@2", "mul=flip"},
		{"scope.calls", "calls ranks=2 calls=2 wrong=1:1", "mul=flip"},
		{"reached", "calls ranks=2 calls=3 wrong=0:1 meet", "calls ranks=2 calls=3 wrong=0:1"},
		{"scope.host", "mul=flip@23 hosts=2", "mul=flip@12 hosts=2"},
		{"scope.some", "mul=flip@12", "mul=flip@2"},
		{"scope.only", "mul=flip only=2", "mul=flip@2"},
		{"self", "reduce=element@0", "mul=flip@2"},
		{"through", "mul=flip@2", "reduce=element@0"},
		{"later", "steps=3 mul=flip@2#1 update=flip#2", "mul=flip"},
		{"steps", "steps=3 mul=flip@2", "mul=flip@2"},
		{"deviation", "weight=3", ""},
		{"deviation.tie", "ranks=2 weight=1", "weight=3"},
		{"collectives", "reduce=twice", "calls"},
		{"meetings", "", "calls"},
		{"why.in-place", "in-place reduce=flip", "reduce=flip"},
		{"alone.unplaced", "same", "older"},
		{"why.absent", "unrecorded=1", ""},
		{"why.one-rank", "ranks=1", ""},
		{"why.bad-dump", "cut=1", ""},
		{"note.resumed", "again", "again version"},
		{"note.changed", "again changed", "again"},
		{"note.tables", "again tables", "again changed"},
		{"note.journal-cut", "again journal-cut", "again"},
		{"note.journal-lost", "again journal-lost", "again journal-cut"},
		{"note.journal-version", "again version", "again"},
	} {
		for _, key := range strings.Fields(c.keys) {
			key = "job." + key
			cases[key] = append(cases[key], [2]string{c.is, c.isNot})
		}
	}
	elsewhere := map[string][3]string{}
	for at, keys := range map[[3]string]string{
		{"../calls_test.go", "TestArgumentOfAJob", "Places"}:           "argument places",
		{"../../oracle/meet_test.go", "TestMeetGroups", "GroupShapes"}: "group.values group.shapes group.all",
		{"../../oracle/meet_test.go", "TestMeetGroups", "WhyGroups"}:   "why.groups",
		{"../../oracle/meet_test.go", "TestTransfers", "WhyNoSender"}:  "why.no-sender why.shapes",
		{"../meet_test.go", "TestDeviations", "strides"}:               "deviation.blocks deviation.strides",
		{"../run_test.go", "TestLock", "NoteLockTaken"}:                "note.lock-taken",
		{"../run_test.go", "TestChanged", "NoteJournalOptions"}:        "note.journal-options",
		{"../door_test.go", "TestVerify", "NoteContent"}:               "note.content",
		{"earned_test.go", "TestNumbers", "counts"}:                    "counts plan models pair.graph",
	} {
		for _, key := range strings.Fields(keys) {
			elsewhere["job."+key] = at
		}
	}
	var jobs sync.Map
	msgtest.Earned{Under: []string{"job."}, Claims: func(key string) bool { return !noClaim.MatchString(key) }, Cases: cases, Elsewhere: elsewhere, Say: said(&jobs)}.Check(t)
}

// TestNumbers: the numbers that are told of a job are those of it.
func TestNumbers(t *testing.T) {
	for _, text := range []string{"", "ranks=2 steps=1", "mul=flip@2", "cut=1", "gone=1"} {
		m := madeJob(t, text)
		p, steps, ranks, models, files := m.result.Plan, map[int]bool{}, map[int]bool{}, map[string]bool{}, 0
		for _, x := range p.Parts {
			steps[x.Step], ranks[x.Rank], models[x.Model+x.ModelID], files = true, true, true, files+x.Files
		}
		counts := map[string]int{}
		for _, d := range m.result.Digests {
			if d.Failed != "" {
				d.Verdict = "failed"
			}
			counts[d.Verdict]++
		}
		for _, lang := range []msg.Lang{msg.English, msg.Chinese} {
			var parts []string
			for _, v := range []string{"bad", "suspect", "good", "inconclusive", "failed"} {
				if counts[v] > 0 {
					parts = append(parts, lang.T("job.count", counts[v], lang.T("job.verdict."+v)))
				}
			}
			jobs := &sync.Map{}
			jobs.Store(text, m)
			reported := said(jobs)(t, lang, text)
			for _, want := range []string{lang.T("job.counts", len(p.Parts), strings.Join(parts, lang.T("job.and"))),
				strings.Split(lang.T("job.plan", len(p.Parts), len(ranks), len(steps), "\x00", files), "\x00")[0], strconv.Itoa(files),
				lang.T("job.pair.graph", p.Graph, lang.T("job.given"))} {
				if !strings.Contains(reported, want) {
					t.Errorf("%s: not %q:\n%s", text, want, reported)
				}
			}
			if many := strings.Contains(reported, strings.Split(lang.T("job.models", len(models)), " ")[0]+" "+"models"); many && len(models) == 1 {
				t.Errorf("%s: more than one model:\n%s", text, reported)
			}
		}
	}
}
