package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/monitor"
	"precision/internal/each"
)

// TestSpikesOfNoise: of numbers that spread as norms of gradients do (logarithms with a deviation of 0.5 about what falls by half in
// a hundred steps), hardly any is a spike; one of 20 times the rest is, at its step, and after a fall at the beginning, too.
func TestSpikesOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	values, alarms, found := 0, 0, 0
	for range 3000 {
		x := make([]float64, 100)
		for i := range x {
			x[i] = math.Exp(0.5*r.NormFloat64()-float64(i)*0.007) * (1 + 9*math.Exp(-float64(i)/3))
		}
		values += len(x)
		if at, _ := spikeOf(x); at >= 0 {
			alarms++
			continue
		}
		at := 20 + r.IntN(80)
		if x[at] *= 40; true {
			if k, _ := spikeOf(x); k == at {
				found++
			}
		}
	}
	if alarms > 12 || found < 2800 {
		t.Errorf("%d alarms in %d numbers, %d of 3000 spikes found", alarms, values, found)
	}
	t.Logf("%d alarms in %d numbers, %d of 3000 spikes found", alarms, values, found)
}

// origins are the suspect findings, with the kinds of their reasons and the step.
func originsOf(findings []Finding) (list []string) {
	for _, f := range findings {
		if f.Verdict == Suspect {
			text := f.Op
			if f.Index > 0 {
				text += ":" + itoa(f.Index)
			}
			for _, why := range f.Reasons {
				text += " " + string(why.Kind)
				if why.Kind != OnRanks {
					text += " " + why.Args[0]
				}
			}
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// TestMonitorSamples: what msprobe's own monitors recorded of a training with two faults: rank 1 multiplies the gradient of
// layers.1.weight by 200 in step 3, and one element of its batch is NaN in step 4.
func TestMonitorSamples(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "real", "monitor")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string][]string{
		"v1":       {"rank1/actv/layers.0.input check-nan-at 4 check-on-ranks", "rank1/grad_unreduced/layers.1.weight check-spike 3 check-on-ranks"},
		"v1_micro": {"rank1/actv/layers.0.input check-nan-at 4 check-on-ranks", "rank1/grad_unreduced/layers.1.weight:1 check-spike 3 check-on-ranks"},
		"v2": {"rank0/reduced/layers.1.weight:1 check-spike 3 check-on-ranks", "rank1/comm/all_reduce/pre_0 check-spike 3 check-on-ranks", "rank1/forward/.input.0 check-nan-at 4 check-on-ranks",
			"rank1/reduced/layers.1.weight:1 check-spike 3 check-on-ranks"},
		"db_v1":             {"rank1/actv/layers.0.input check-nan-at 4 check-on-ranks", "rank1/grad_unreduced/layers.1.weight check-spike 3 check-on-ranks"},
		"db_v1_micro":       {"rank1/actv/layers.0.input check-nan-at 4 check-on-ranks", "rank1/grad_unreduced/layers.1.weight:1 check-spike 3 check-on-ranks"},
		"db_v1_micro_false": {"rank1/actv/layers.0.input check-nan-at 4 check-on-ranks", "rank1/grad_unreduced/layers.1.weight:1 check-spike 3 check-on-ranks"},
		"db_dump":           {"rank1/forward/Functional.linear.input.0 check-nothing-at 0 check-on-ranks"},
	} {
		data, err := monitor.Read(filepath.Join(dir, name))
		if err != nil {
			t.Error(name, err)
			continue
		}
		if got := originsOf(CheckMonitors(data)); !slices.Equal(got, want) || len(data.Bad) > 0 {
			t.Errorf("%s: found %q, expected %q; %v", name, got, want, data.Bad)
		}
	}
}

// TestMonitorsMade: files that msprobe's monitor wrote, and the database that msprobe made of them (testdata/frameworks/make_monitor.py), say the
// same: the gradient that was multiplied in step 3, and the NaN of the batch of step 5.
func TestMonitorsMade(t *testing.T) {
	want := []string{"rank0/actv/layers.0.input check-nan-at 5", "rank0/grad_unreduced/layers.1.weight check-spike 3"}
	series := map[string]int{}
	for _, name := range []string{"csv", "db"} {
		data, err := monitor.Read(filepath.Join("..", "..", "testdata", "frameworks", "made", "monitor", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := originsOf(CheckMonitors(data)); !slices.Equal(got, want) || len(data.Bad) > 0 {
			t.Errorf("%s: found %q, expected %q; %v", name, got, want, data.Bad)
		}
		series[name] = len(data.Series)
	}
	if series["csv"] < 40 || series["csv"] != series["db"] {
		t.Errorf("%v", series)
	}
}

// csvOf writes the file of a metric of a rank.
func csvOf(t *testing.T, dir string, rank int, metric, text string) {
	folder := filepath.Join(dir, fmt.Sprintf("Nov23_01-37-49-rank%d-64d7306%d", rank, rank))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, metric+"_0-9.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMonitors: what is first, what follows, what is nothing.
func TestMonitors(t *testing.T) {
	const head = "vpp_stage,name,step,norm,min,max,nans\n"
	series := func(name string, norms ...any) (text string) {
		for step, n := range norms {
			nans := 0
			if n == "nan" {
				nans = 3
			}
			text += fmt.Sprintf("0,%s,%d,%v,-1,1,%d\n", name, step, n, nans)
		}
		return text
	}
	of := 0
	micros := func(norms ...any) (text string) { // of the next micro batch
		of++
		for step, n := range norms {
			text += fmt.Sprintf("0,a,%d,%d,%v,0\n", step, (of-1)%2, n)
		}
		return text
	}
	for name, c := range map[string]struct {
		files map[string]string // metric and rank
		want  []string
		bad   int
	}{
		"steady":      {map[string]string{"grad_reduced 0": head + series("a", 1, 2, 1.5, 1, 2, 1, 3)}, nil, 0},
		"a warm-up":   {map[string]string{"grad_reduced 0": head + series("a", 100, 60, 20, 8, 3, 2, 1, 1)}, nil, 0},
		"of nothing":  {map[string]string{"param_updated 0": head + series("lora_B", 0, 0, 0, 0.5, 1, 2)}, nil, 0},
		"a spike":     {map[string]string{"grad_reduced 0": head + series("a", 1, 2, 1.5, 1, 90, 1) + series("b", 1, 1, 1, 1, 80, 1)}, []string{"rank0/grad_reduced/a check-spike 4"}, 0},
		"two of them": {map[string]string{"grad_reduced 0": head + series("a", 1, 2, 1.5, 1, 1, 90) + series("b", 1, 1, 1, 1, 80, 1)}, []string{"rank0/grad_reduced/a check-spike 5", "rank0/grad_reduced/b check-spike 4"}, 0},
		"moments follow": {map[string]string{"grad_reduced 0": head + series("a", 1, 2, 1.5, 1, 90, 1), "exp_avg 0": head + series("a", 1, 2, 1.5, 1, 1, 60)},
			[]string{"rank0/grad_reduced/a check-spike 4"}, 0},
		"it goes to nothing": {map[string]string{"actv 0": head + series("a", 1, 2, 1.5, 1, 0, 0)}, []string{"rank0/actv/a check-zero-at 4"}, 0},
		"NaN spreads":        {map[string]string{"actv 0": head + series("a", 1, 1, 1) + series("b", 1, 1, "nan"), "actv 1": head + series("a", 1, 1, 1) + series("b", 1, 1, 1), "grad_reduced 1": head + series("a", 1, 1, "nan"), "grad_reduced 0": head + series("a", 1, 1, "nan")}, []string{"rank0/actv/b check-nan-at 2 check-on-ranks"}, 0},
		"no value at all":    {map[string]string{"actv_grad 0": head + "0,a,0,nan,nan,nan,nan\n0,a,1,nan,nan,nan,nan\n"}, nil, 0},
		"Inf":                {map[string]string{"actv 0": head + series("a", 1, "inf", 1)}, []string{"rank0/actv/a check-inf-at 1"}, 0},
		"a gap":              {map[string]string{"actv 0": "name,step,norm\na,0,1\na,1,nan\n"}, []string{"rank0/actv/a check-nothing-at 1"}, 0},
		"ranks part": {map[string]string{"param_updated 0": head + series("a", 1, 2, 3), "param_updated 1": head + series("a", 1, 2, 3), "param_updated 2": head + series("a", 1, 2, 3.25)},
			[]string{"rank2/param_updated/a check-peers-part 2"}, 0},
		"sums of micro batches": {map[string]string{"grad_unreduced 0": "vpp_stage,name,step,micro_step,norm,nans\n" + micros(1, 1, 1, 1, 90, 1) + micros(2, 2, 2, 2, 91, 2)}, []string{"rank0/grad_unreduced/a check-spike 4"}, 0},
		"of the second":         {map[string]string{"grad_unreduced 0": "vpp_stage,name,step,micro_step,norm,nans\n" + micros(1, 1, 1, 1, 1, 1) + micros(2, 2, 2, 2, 91, 2)}, []string{"rank0/grad_unreduced/a:1 check-spike 4"}, 0},
		"shards":                {map[string]string{"param_updated 0": head + series("a", 1, 2, 3), "param_updated 1": head + series("a", 2, 2, 3)}, nil, 0},
		"damage":                {map[string]string{"grad_reduced 0": head + "0,a,0,1,-1,1,0\n0,a,one,1,-1,1,0\n0,a,2,x,-1,1,0\n0,a,3\n0,a,4,\"1,-1,1,0\n"}, nil, 4},
		"other columns":         {map[string]string{"grad_reduced 0": "step,value\n0,1\n", "actv 0": head + series("a", 1)}, nil, 1},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			metric, rank, _ := strings.Cut(file, " ")
			csvOf(t, dir, int(rank[0]-'0'), metric, text)
		}
		data, err := monitor.Read(dir)
		if err != nil {
			t.Error(name, err)
			continue
		}
		if got := originsOf(CheckMonitors(data)); !slices.Equal(got, c.want) || len(data.Bad) != c.bad {
			t.Errorf("%s: found %q, expected %q; damage %v, expected %d", name, got, c.want, data.Bad, c.bad)
		}
	}
}

// TestJumpsOverSteps: a norm of a recording that jumps over steps.
func TestJumpsOverSteps(t *testing.T) {
	dir := t.TempDir()
	job := RecordingJob{Workers: 1}
	for step, norm := range []float64{3.5, 3, 4, 3.2, 3.4, 200} {
		r := &recorder{t: t, dir: fmt.Sprintf("%s/step%d/rank0", dir, step), task: "statistics", entries: []string{
			call("Torch.custom.0.forward", stat("[4,6]", 2, -1, 0.1, 3.5), stat("[4,6]", norm, -1, 0.1, norm)) + "," + call("Torch.custom.1.forward", stat("[4,6]", 2, -1, 0.1, 3.5), stat("[4,6]", norm, -1, 0.1, norm))}}
		job.Recordings = append(job.Recordings, r.writeAt()...)
	}
	findings, _, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := originsOf(findings); !slices.Equal(got, []string{"step5/Torch.custom.0.forward check-spike 5"}) && !slices.Equal(got, []string{"step5/rank0/Torch.custom.0.forward check-spike 5"}) {
		t.Error(got)
	}
}

// TestMonitorsUnknown: what is said of series that are not suspect.
func TestMonitorsUnknown(t *testing.T) {
	dir := t.TempDir()
	csvOf(t, dir, 0, "actv", "name,step,norm,nans\nshort,0,1,0\nshort,1,2,0\nlong,0,1,0\nlong,1,2,0\nlong,2,1,0\nlong,3,2,0\nabsent,0,nan,nan\nbad,0,1,0\nbad,1,nan,2\n")
	csvOf(t, dir, 0, "grad_reduced", "name,step,norm,nans\nfollows,0,1,0\nfollows,1,nan,2\n")
	data, err := monitor.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	data.Series[0].Again = 2
	got := map[string]string{}
	for _, f := range CheckMonitors(data) {
		got[f.Op] = fmt.Sprint(f.Verdict, " ", f.Reasons[len(f.Reasons)-1])
		if again := slices.ContainsFunc(f.Reasons, func(r result.Reason) bool { return r.Kind == StepsAgain }); again != (f.Op == "rank0/actv/short") {
			t.Errorf("%s: %v, expected to say what was left out: %t", f.Op, f.Reasons, !again)
		}
	}
	for op, want := range map[string]string{
		"rank0/actv/short":           fmt.Sprint("unknown ", because(FewSteps, 2)),
		"rank0/actv/long":            fmt.Sprint("unknown ", because(Steady, 4)),
		"rank0/actv/absent":          fmt.Sprint("unknown ", because(NoStatistics)),
		"rank0/grad_reduced/follows": fmt.Sprint("unknown ", because(Behind, 1, "rank0/actv/bad")),
	} {
		if got[op] != want {
			t.Errorf("%s: found %s, expected %s", op, got[op], want)
		}
	}
}

// TestQuote: what rules of msprobe claim of series is quoted, borne out where a spike or NaN is recorded at that step, and changes no
// verdict; what nothing was recorded of is given back.
func TestQuote(t *testing.T) {
	s := &monitor.Series{Metric: "grad_unreduced", Name: "w", Stage: "0"}
	for i, norm := range []float64{1, 1.1, .9, 1, 400, math.NaN()} {
		s.Points = append(s.Points, monitor.Point{Step: int64(i), Norm: norm, Min: math.NaN(), Max: math.NaN()})
	}
	s.Points[5].NaNs = 3
	findings := CheckMonitors(&monitor.Data{Series: []*monitor.Series{s}})
	before := findings[0].Verdict
	claim := func(name, rule string, step int64) monitor.Claim {
		return monitor.Claim{Step: step, Metric: "grad_unreduced", Name: name, Stage: "0", Rule: rule, Of: "norm"}
	}
	others := Quote(findings, []monitor.Claim{claim("w", "AnomalyTurbulence", 1), claim("w", "AnomalyTurbulence", 4), claim("w", "AnomalyNan", 5), claim("v", "AnomalyNan", 5)})
	var told []string
	for _, r := range findings[0].Reasons {
		if strings.HasPrefix(string(r.Kind), "check-claim") {
			told = append(told, string(r.Kind)+" "+strings.Join(r.Args, " "))
		}
	}
	want := []string{"check-claim-holds AnomalyTurbulence norm 4 2", "check-claim-alone AnomalyTurbulence norm 1 1"}
	if before != findings[0].Verdict || !slices.Equal(told, want) || len(others) != 1 || others[0].Name != "v" {
		t.Errorf("%v before, %v after: %q, expected %q; others %v", before, findings[0].Verdict, told, want, others)
	}
	// Stages of a pipeline have tensors of the same name, of one of which a claim is.
	other := &monitor.Series{Metric: s.Metric, Name: s.Name, Stage: "1", Points: slices.Clone(s.Points)}
	other.Points[4].Norm = 1
	staged := CheckMonitors(&monitor.Data{Series: []*monitor.Series{other, s}})
	Quote(staged, []monitor.Claim{claim("w", "AnomalyTurbulence", 4)})
	for i, want := range []bool{false, true} {
		kinds := each.Of(staged[i].Reasons, func(r result.Reason) result.Kind { return r.Kind })
		if slices.Contains(kinds, ClaimHolds) != want || slices.Contains(kinds, ClaimAlone) {
			t.Errorf("stage %d: %v", 1-i, staged[i].Reasons)
		}
	}
	calls := []Finding{{Op: "step2/rank0/Distributed.all_reduce.0.forward"}, {Op: "step2/rank1/Distributed.all_reduce.0.forward"}, {Op: "step2/rank1/Torch.add.0.forward"}}
	Quote(calls, []monitor.Claim{{Rank: 1, Step: -1, Name: "Torch.add.0.forward", Rule: "overflow_check"}, {Rank: 0, Step: -1, Name: "Distributed.all_reduce.0.forward", Rule: "cross_rank_analyzer", Sources: []int{1}}})
	for i, kind := range []result.Kind{ClaimSource, "", ClaimCall} {
		if got := calls[i].Reasons; (kind == "") != (len(got) == 0) || kind != "" && got[0].Kind != kind {
			t.Errorf("%s: %v, expected %q", calls[i].Op, got, kind)
		}
	}
	if k := findings[0].Last().Kind; strings.HasPrefix(string(k), "check-claim") {
		t.Errorf("%s is taken for a reason of our own", k)
	}
}
