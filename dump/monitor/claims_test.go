package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClaims: what msprobe's tools conclude is read, whatever tool it is; what is something else is told, with its place.
func TestClaims(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Claim
		bad  string
	}{
		"anomaly.json": {text: `{"0:layers.1.weight/rank1/acc_grad_step_3_call_1": {"rank": 1, "step": 3, "tag_name": "0:layers.1.weight/rank1/acc_grad",
			"message": "Rule AnomalyTurbulence reports anomaly signal in ('0:layers.1.weight/rank1/acc_grad', 'mean') at step 3, current value nan, history mean 0.1."}}`,
			want: Claim{Rank: 1, Step: 3, Stage: "0", Metric: "grad_unreduced", Name: "layers.1.weight", Rule: "AnomalyTurbulence", Of: "mean"}},
		"below/anomaly.json": {text: `{"a": {"step": 4, "tag_name": "all_reduce/rank0/post_0", "message": "Rule AnomalyNan reports anomaly signal in ('all_reduce/rank0/post_0', 'norm') at step 4"}}`,
			want: Claim{Rank: 0, Step: 4, Metric: "comm", Name: "all_reduce/post_0", Rule: "AnomalyNan", Of: "norm"}},
		"anomaly_analyze_17.json": {text: `{"rank_2": [{"op_name": "Torch.add.0.forward", "data_info": {"Max": NaN, "Min": -Infinity}}]}`, want: Claim{Rank: 2, Step: -1, Name: "Torch.add.0.forward", Rule: "overflow_check"}},
		"cross_rank_analysis.json": {text: `{"Distributed.all_reduce.0.forward": {"source_ranks": [1], "propagated_ranks": [], "normal_ranks": [], "total_ranks": 2}}`,
			want: Claim{Rank: 1, Step: -1, Name: "Distributed.all_reduce.0.forward", Rule: "cross_rank_analyzer", Sources: []int{1}}},
		"other/anomaly.json":           {text: `{"a": {"step": 4, "tag_name": "x", "message": "y"}}`, bad: `"a": found the tag "x"`},
		"cut/cross_rank_analysis.json": {text: `{"Distributed.all_`, bad: "unexpected end"},
	} {
		dir := filepath.Join(t.TempDir(), "run[1]") // a name, no pattern
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		claims, bad := Claims(dir)
		if c.bad != "" {
			if len(claims) > 0 || len(bad) != 1 || !strings.Contains(bad[0].Error(), c.bad) || !strings.HasPrefix(bad[0].Error(), file) {
				t.Errorf("%s: %+v, %v", name, claims, bad)
			}
			continue
		}
		if len(claims) != 1 || len(bad) > 0 {
			t.Errorf("%s: %+v, %v", name, claims, bad)
			continue
		}
		got := claims[0]
		if len(got.Sources) != len(c.want.Sources) {
			t.Errorf("%s: %+v", name, got)
		}
		got.Sources, c.want.Sources = nil, nil
		if got.Rank != c.want.Rank || got.Step != c.want.Step || got.Metric != c.want.Metric || got.Name != c.want.Name || got.Stage != c.want.Stage || got.Rule != c.want.Rule || got.Of != c.want.Of {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
	}
}

// TestClaimsOrder: objects have no order, but claims and what is said of a bad file do; of a bad file nothing is taken.
func TestClaimsOrder(t *testing.T) {
	for name, c := range map[string]struct{ entry, want, bad string }{
		"cross_rank_analysis.json": {`"Torch.add.%d.forward": {"source_ranks": [0]}`, "Torch.add.10.forward (rank 0), Torch.add.11.forward (rank 0), ", `"Torch.add.%d.forward": {"source_ranks": 1}`},
		"anomaly_analyze_17.json":  {`"rank_%d": [{"op_name": "Torch.add.0.forward"}]`, "Torch.add.0.forward (rank 10), Torch.add.0.forward (rank 11), ", `"node_%d": []`},
		"anomaly.json": {`"%d": {"step": 4, "tag_name": "all_reduce/rank0/post_%[1]d", "message": "Rule AnomalyNan reports anomaly signal in ('x', 'norm') at step 4"}`,
			"comm all_reduce/post_10 (rank 0), comm all_reduce/post_11 (rank 0), ", `"%d": {"step": 4}`},
	} {
		file := filepath.Join(t.TempDir(), name)
		write := func(entries ...string) {
			if err := os.WriteFile(file, []byte("{"+strings.Join(entries, ", ")+"}"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var good, bad []string
		for i := range 20 {
			good, bad = append(good, fmt.Sprintf(c.entry, 29-i)), append(bad, fmt.Sprintf(c.bad, 29-i))
		}
		for range 8 {
			write(good...)
			claims, errs := Claims(file)
			if named := Named(claims); len(claims) != 20 || len(errs) > 0 || !strings.HasPrefix(named, c.want) {
				t.Fatalf("%s: %d claims, %v, named %s, expected %s…", name, len(claims), errs, named, c.want)
			}
			write(append(good, bad...)...)
			claims, errs = Claims(file)
			if len(claims) > 0 || len(errs) != 1 || name != "cross_rank_analysis.json" && !strings.Contains(errs[0].Error(), "_10") && !strings.Contains(errs[0].Error(), `"10"`) {
				t.Fatalf("%s: %d claims of a bad file, %v", name, len(claims), errs)
			}
		}
	}
}
