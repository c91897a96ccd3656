package job

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/testdata/workshop/jobtest"
)

func TestNumbers(t *testing.T) {
	n, err := ParseNumbers("0, 4-7,16-")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{0: true, 1: false, 4: true, 7: true, 8: false, 16: true, 99999: true} {
		if n.Has(i) != want {
			t.Errorf("%d: %v", i, !want)
		}
	}
	for _, bad := range []string{"x", "3-1", "-2", "1,,2", "1-2-3", "99999999999999999999"} {
		if _, err := ParseNumbers(bad); err == nil {
			t.Errorf("%q is a list", bad)
		}
	}
	if all, err := ParseNumbers(" "); err != nil || !all.Has(5) {
		t.Error("no list is not all")
	}
	if got := ranges([]int{-1, 0, 1, 2, 5, 7, 8}); got != "?,0-2,5,7-8" {
		t.Error(got)
	}
}

// made is a folder with a job, and what to ask of it.
func made(t *testing.T, j jobtest.Job) (string, Request) {
	t.Helper()
	dir := t.TempDir()
	if err := j.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, asked(dir)
}

func asked(dir string) Request {
	return Request{Left: filepath.Join(dir, "npu"), Right: filepath.Join(dir, "golden"), Graph: filepath.Join(dir, "ge_proto_00000001_graph_1_Build.txt"), Version: "test"}
}

func planned(t *testing.T, r Request) *Plan {
	t.Helper()
	p, err := r.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pairsOf(p *Plan) (list []string) {
	for _, x := range p.Parts {
		list = append(list, x.Name+" "+strings.TrimPrefix(filepath.ToSlash(x.Right), filepath.ToSlash(p.Right)))
	}
	return list
}

func TestPlan(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 3, Steps: 2, Size: 12})
	p := planned(t, r)
	if got := pairsOf(p); !slices.Equal(got, []string{"step0_rank0 /rank0/step0", "step0_rank1 /rank1/step0", "step0_rank2 /rank2/step0",
		"step1_rank0 /rank0/step1", "step1_rank1 /rank1/step1", "step1_rank2 /rank2/step1"}) || len(p.Alone) > 0 {
		t.Errorf("%q %+v", got, p.Alone)
	}
	r.Ranks, r.Steps = Numbers{{1, 2}}, Numbers{{1, 1}}
	if got := pairsOf(planned(t, r)); !slices.Equal(got, []string{"step1_rank1 /rank1/step1", "step1_rank2 /rank2/step1"}) {
		t.Errorf("chosen: %q", got)
	}
	r.Ranks, r.Steps = nil, nil
	for models, want := range map[string]int{"net_*": 6, "1": 6, "other": 0} {
		r.Models = []string{models}
		p, err := r.Plan(context.Background())
		var nothing *NothingError
		if want == 0 && !errors.As(err, &nothing) || want > 0 && err != nil || len(p.Parts) != want {
			t.Errorf("%s: %v", models, err)
		}
	}
	r.Models = nil
	// The same by marks, of which that of 0 may be missing.
	if err := os.Rename(filepath.Join(dir, "golden", "rank0"), filepath.Join(dir, "golden", "g")); err != nil {
		t.Fatal(err)
	}
	for k := 1; k < 3; k++ {
		if err := os.Rename(filepath.Join(dir, "golden", "rank"+number(k)), filepath.Join(dir, "golden", "g_"+number(k))); err != nil {
			t.Fatal(err)
		}
	}
	r.Right = filepath.Join(dir, "golden", "g_{rank}", "step{step}")
	p = planned(t, r)
	if len(p.Parts) != 6 || !strings.HasSuffix(filepath.ToSlash(p.Parts[0].Right), "golden/g/step0") || !strings.HasSuffix(filepath.ToSlash(p.Parts[5].Right), "golden/g_2/step1") {
		t.Errorf("%q", pairsOf(p))
	}
	// One for all.
	r.Right = filepath.Join(dir, "golden", "g", "step0")
	if p = planned(t, r); len(p.Parts) != 6 || p.Parts[5].Right != r.Right {
		t.Errorf("%q", pairsOf(p))
	}
}

// What has no partner is told, and the rest is compared.
func TestAlone(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 3, Steps: 2, Size: 12})
	for _, gone := range []string{jobtest.Golden(0, 1), jobtest.Dir(1, 2)} {
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
	}
	// A second recording of a rank and step, newer by its folder.
	old := filepath.Join(dir, jobtest.Dir(0, 0))
	again := strings.Replace(old, jobtest.Time, "20260202120000", 1)
	if err := os.CopyFS(again, os.DirFS(old)); err != nil {
		t.Fatal(err)
	}
	p := planned(t, r)
	var got []string
	for _, a := range p.Alone {
		got = append(got, a.Why+" "+number(a.Step)+" "+number(a.Rank))
	}
	if want := []string{"older 0 0", "no-golden 0 1", "no-dump 1 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(p.Parts) != 4 || p.Parts[0].Left != again {
		t.Errorf("%q", pairsOf(p))
	}
	if err := os.RemoveAll(filepath.Join(dir, jobtest.Golden(1, 2))); err != nil {
		t.Fatal(err)
	}
	if p = planned(t, r); !slices.ContainsFunc(p.Alone, func(a Alone) bool { return a.Why == AloneMissing && a.Step == 1 && a.Rank == 2 }) {
		t.Errorf("%+v", p.Alone)
	}
}

// A recording whose folders do not tell its rank is not compared with that of just any rank, but with
// a golden one that tells none either, or with the only one.
func TestUnknownRank(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	known := filepath.Join(dir, jobtest.Dir(0, 1))
	lost := filepath.Join(strings.Replace(known, "/1/net_1", "/copy/net_1", 1))
	if err := os.CopyFS(lost, os.DirFS(known)); err != nil {
		t.Fatal(err)
	}
	why := func(p *Plan) string {
		for _, a := range p.Alone {
			if a.Path == lost {
				return a.Why
			}
		}
		return ""
	}
	p := planned(t, r)
	if got := pairsOf(p); len(got) != 2 || why(p) != AloneAmbiguous {
		t.Errorf("%q %+v", got, p.Alone)
	}
	for _, m := range p.Meetings {
		if m.Ranks != "0-1" || m.Absent != "" || !m.Unplaced {
			t.Errorf("%+v", m)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "golden", "copy", "step0"), os.DirFS(filepath.Join(dir, jobtest.Golden(0, 1)))); err != nil {
		t.Fatal(err)
	}
	if got := pairsOf(planned(t, r)); !slices.Equal(got, []string{"step0_rankx /copy/step0", "step0_rank0 /rank0/step0", "step0_rank1 /rank1/step0"}) {
		t.Errorf("nameless on both sides: %q", got)
	}
	for _, gone := range []string{"copy", "rank0"} {
		if err := os.RemoveAll(filepath.Join(dir, "golden", gone)); err != nil {
			t.Fatal(err)
		}
	}
	if got := pairsOf(planned(t, r)); !slices.Equal(got, []string{"step0_rankx /rank1/step0", "step0_rank1 /rank1/step0"}) {
		t.Errorf("the only one: %q", got)
	}
}

// Hosts that share a disk have the same device numbers.
func TestHosts(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	for _, host := range []string{"host2", "host10"} {
		if err := os.CopyFS(filepath.Join(dir, "job", host, "dump"), os.DirFS(filepath.Join(dir, "npu"))); err != nil {
			t.Fatal(err)
		}
	}
	r.Left, r.Right = filepath.Join(dir, "job"), filepath.Join(dir, "golden", "rank0", "step0")
	p := planned(t, r)
	var got []string
	for _, x := range p.Parts {
		got = append(got, x.Name+" "+x.Host)
	}
	if want := []string{"step0_rank0 host2", "step0_rank1 host2", "step0_rank2 host10", "step0_rank3 host10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.PerHost = 4
	if p = planned(t, r); p.Parts[3].Host != "host0" {
		t.Errorf("%+v", p.Parts[3])
	}
}

// A plan says the same after it was read back, and is another one when an input changes.
func TestPlanJSON(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	text := func(p *Plan) string {
		var b bytes.Buffer
		if err := p.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := text(planned(t, r))
	if again := text(planned(t, r)); again != first {
		t.Error("two plans of one job differ")
	}
	back, err := readPlan([]byte(first))
	if err != nil || text(back) != first {
		t.Errorf("read back: %v", err)
	}
	if r.Profile = nil; r.Hash() == (&Request{Left: "other"}).Hash() {
		t.Error("two requests have one hash")
	}
	files, _ := filepath.Glob(filepath.Join(dir, jobtest.Golden(0, 1), "*"))
	if err := os.WriteFile(files[0], []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed := text(planned(t, r)); changed == first {
		t.Error("a changed input does not change the plan")
	}
}
