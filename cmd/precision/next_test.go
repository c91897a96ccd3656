package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/dump/torch"
	"precision/testdata/workshop/dumptest"
)

// nextPair unpacks a pair of recordings of a small language model, one of whose norms has an epsilon of
// 0.01 on the left, and what msprobe 26.2 recorded of it with the configuration that kit -next wrote for the
// first pair (go run ./testdata/recordings; record.py --again): first/left, first/golden, second/left, second/golden.
func nextPair(t *testing.T) string {
	t.Helper()
	return dumptest.Unpack(t, filepath.Join("testdata", "next.tar.gz"))
}

// TestNextRecording: statistics of everything name a module; kit -next writes what records the elements
// in it; and what the recorder makes of that goes on to the operator that is wrong.
func TestNextRecording(t *testing.T) {
	dir := nextPair(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	first := at("first.json")
	if status, _, stderr := precision(t, "compare", "-lt", at("first/left"), "-rt", at("first/golden"), "-out", dir, "-json", first, "-lang", "en"); status != exitOK {
		t.Fatal(stderr)
	}
	const norm = "Module.model.layers.1.input_layernorm.LlamaRMSNorm.forward.0"
	status, stdout, stderr := precision(t, "kit", "-next", first, "-o", at("next"))
	if status != exitOK || !strings.Contains(stdout, "6.12 KiB") || !strings.Contains(stdout, "precision compare -after") {
		t.Fatalf("status %d: %s\n%s", status, stdout, stderr)
	}
	type config struct {
		Task, Level string
		DumpPath    string `json:"dump_path"`
		Step        []int
		Tensor      struct{ List []string }
		Load        *struct {
			Path    string
			Modules []string
			Dump    bool `json:"dump_after_load"`
		}
	}
	for file, load := range map[string]bool{"config.json": false, "config_golden.json": false, "config_load.json": true} {
		var c config
		text, err := os.ReadFile(at("next/" + file))
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil || c.Task != "tensor" || c.Level != "mix" || !slices.Equal(c.Step, []int{0}) || !slices.Equal(c.Tensor.List, []string{norm}) || load != (c.Load != nil) {
			t.Errorf("%s: %v %s", file, err, text)
		}
		if load && (c.Load.Path != "precision_next/golden" || !slices.Equal(c.Load.Modules, []string{norm}) || !c.Load.Dump) {
			t.Errorf("%s", text)
		}
	}
	// The same again changes nothing; a file that differs is kept.
	if status, _, stderr := precision(t, "kit", "-next", first, "-o", at("next")); status != exitOK {
		t.Error(stderr)
	}
	if err := os.WriteFile(at("next/config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := precision(t, "kit", "-next", first, "-o", at("next")); status == exitOK || !strings.Contains(stderr, "config.json already exists") {
		t.Errorf("status %d: %s", status, stderr)
	}

	second := at("second.json")
	again := []string{"compare", "-lt", at("second/left"), "-rt", at("second/golden"), "-out", dir, "-lang", "en"}
	status, stdout, stderr = precision(t, append(again, "-after", first, "-json", second)...)
	if status != exitOK {
		t.Fatal(stderr)
	}
	for _, want := range []string{"elements decide what the first recording left open", norm + ": the error begins at Tensor.__add__.9.forward", "0.009999 is added", "0.01 instead of 1e-06"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the summary does not say %q:\n%s", want, stdout)
		}
	}
	var v struct {
		Verdict string
		After   struct {
			Verdict string
			Roots   []struct {
				Op, Outcome          string
				Candidates, Recorded int
				Now                  []string
			}
		}
	}
	text, err := os.ReadFile(second)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || v.Verdict != "bad" || v.After.Verdict != "bad" || len(v.After.Roots) != 1 || v.After.Roots[0].Outcome != "decided" || !slices.Equal(v.After.Roots[0].Now, []string{"Tensor.__add__.9.forward"}) {
		t.Errorf("%v %+v", err, v)
	}

	// The golden side against itself shows nothing: what was found stands in doubt, and does not become good.
	none := at("none.json")
	status, stdout, _ = precision(t, "compare", "-lt", at("second/golden"), "-rt", at("second/golden"), "-out", dir, "-lang", "en", "-after", first, "-gate")
	if status != exitBelow || !strings.Contains(stdout, "inconclusive") {
		t.Errorf("status %d:\n%s", status, stdout)
	}

	// What nothing goes on from.
	if status, _, stderr := precision(t, "compare", "-lt", at("first/golden"), "-rt", at("first/golden"), "-out", dir, "-json", none); status != exitOK {
		t.Fatal(stderr)
	}
	other := at("other.json")
	if status, _, stderr := precision(t, "compare", "-lt", recordCalls(t, 0.5, 0.25), "-rt", recordCalls(t, 1e-5, 0), "-out", dir, "-json", other); status != exitOK {
		t.Fatal(stderr)
	}
	bad := at("bad.json")
	if err := os.WriteFile(bad, []byte(`{"schema": "precision/verdict/2", "rows": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{none: "names no root", other: "of another network: 0 of", bad: "-after", at("missing.json"): "missing.json"} {
		if status, _, stderr := precision(t, append(again, "-after", file)...); status == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("-after %s: status %d: %s", filepath.Base(file), status, stderr)
		}
	}
	for file, want := range map[string]string{none: "names no root and no region", bad: "bad.json", at("missing.json"): "missing.json"} {
		if status, _, stderr := precision(t, "kit", "-next", file, "-o", at("nothing")); status == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("kit -next %s: status %d: %s", filepath.Base(file), status, stderr)
		}
	}
	if _, err := os.Stat(at("nothing")); err == nil {
		t.Error("a configuration was written for nothing")
	}
}

// TestNextOfJob: of a job of two ranks, one of which has another activation, kit -next says which rank and call to record,
// by its name on either side; what the recorder makes of that goes on from the job, as a comparison and as a job.
// The job is of testdata/recordings/jobs.py --seed 7, and so is, with --again, what it recorded next.
func TestNextOfJob(t *testing.T) {
	dir := dumptest.Unpack(t, filepath.Join("testdata", "nextjob.tar.gz"))
	at := func(name string) string { return filepath.Join(dir, name) }
	job := func(out string, more ...string) (int, string, string) {
		return precision(t, append([]string{"compare", "-all", "-out", at(out), "-lang", "en"}, more...)...)
	}
	if status, _, stderr := job("first.job", "-lt", at("first/left"), "-rt", at("first/golden")); status != exitOK {
		t.Fatal(stderr)
	}
	first := at("first.job/job.json")
	const root = "step0/rank0/Torch.tanh.0.forward"
	for _, ask := range [][]string{{"kit", "-next", first, "-o", at("a")}, {"kit", "-next", at("first.job"), "-o", at("b")}, {"advise", first, "-o", at("c")}} {
		status, stdout, stderr := precision(t, ask...)
		if status != exitOK || !strings.Contains(stdout, "4 KiB") || !strings.Contains(stdout, "On rank 0 in step 0") {
			t.Errorf("%v: status %d: %s\n%s", ask, status, stdout, stderr)
		}
		for file, call := range map[string]string{"config.json": "Torch.tanh.0.forward", "config_golden.json": "Functional.gelu.1.forward"} {
			var c struct {
				Task       string
				Rank, Step []int
				Tensor     struct{ List []string }
			}
			text, err := os.ReadFile(filepath.Join(ask[len(ask)-1], file))
			if err == nil {
				err = json.Unmarshal(text, &c)
			}
			if err != nil || c.Task != "tensor" || !slices.Equal(c.Rank, []int{0}) || !slices.Equal(c.Step, []int{0}) || !slices.Equal(c.Tensor.List, []string{call}) {
				t.Errorf("%v: %s: %v %s", ask, file, err, text)
			}
		}
	}

	left, golden := at("second/left"), at("second/golden")
	status, stdout, stderr := precision(t, "compare", "-lt", left, "-rt", golden, "-out", dir, "-lang", "en", "-after", first)
	for _, want := range []string{"elements decide what the first recording left open", root + ": the error begins at Torch.tanh.0.forward"} {
		if status != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("status %d: %s does not say %q\n%s", status, stdout, want, stderr)
		}
	}
	type after struct {
		Verdict string
		Roots   []struct {
			Op, Outcome          string
			Candidates, Recorded int
			Now                  []string
		}
	}
	became := func(out string, more ...string) (status int, verdict string, a after) {
		t.Helper()
		status, _, stderr := job(out, more...)
		var r struct {
			Verdict string
			After   after
		}
		text, err := os.ReadFile(at(out + "/job.json"))
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		if len(r.After.Roots) != 1 || r.After.Roots[0].Op != root || r.After.Verdict != "bad" {
			t.Fatalf("%+v", r)
		}
		return status, r.Verdict, r.After
	}
	if status, v, a := became("second.job", "-lt", left, "-rt", golden, "-after", first); status != exitOK || v != "bad" || a.Roots[0].Outcome != "decided" || !slices.Equal(a.Roots[0].Now, []string{root}) {
		t.Errorf("status %d, %s, %+v", status, v, a)
	}
	// Without the first result the two calls, which are all that there is, have nothing to do with each other.
	if _, stdout, _ := job("alone.job", "-lt", left, "-rt", golden); strings.Contains(stdout, root) {
		t.Errorf("the calls were paired without the first result: %s", stdout)
	}
	// Elements that agree do not make the job good, and those of another rank leave it as it was.
	if status, v, a := became("same.job", "-lt", golden, "-rt", golden, "-after", first, "-gate"); status != exitBelow || v != "bad" || a.Roots[0].Outcome != "open" {
		t.Errorf("status %d, %s, %+v: the call itself was not recorded", status, v, a)
	}
	if status, v, a := became("agrees.job", "-lt", left, "-rt", left, "-after", first, "-gate"); status != exitBelow || v != "inconclusive" || a.Roots[0].Outcome != "agrees" {
		t.Errorf("status %d, %s, %+v", status, v, a)
	}
	other := at("other")
	if err := os.CopyFS(filepath.Join(other, "step0", "rank1"), os.DirFS(filepath.Join(left, "step0", "rank0"))); err != nil {
		t.Fatal(err)
	}
	if status, v, a := became("other.job", "-lt", other, "-rt", other, "-after", first, "-gate"); status != exitBelow || v != "bad" || a.Roots[0].Outcome != "open" {
		t.Errorf("status %d, %s, %+v: another rank decides nothing", status, v, a)
	}
	if status, stdout, _ := precision(t, "compare", "-lt", other, "-rt", other, "-out", dir, "-lang", "en", "-after", first, "-gate"); status == exitOK {
		t.Errorf("status %d: another rank decides nothing: %s", status, stdout)
	}
	// What nothing goes on from.
	if status, _, stderr := job("good.job", "-lt", at("first/golden"), "-rt", at("first/golden")); status != exitOK {
		t.Fatal(stderr)
	}
	if status, _, stderr := job("none.job", "-lt", left, "-rt", golden, "-after", at("good.job")); status == exitOK || !strings.Contains(stderr, "names no root") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := precision(t, "kit", "-next", at("good.job"), "-o", at("nothing")); status == exitOK || !strings.Contains(stderr, "names no root and no region") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestNextMissingCall: a call that one side alone makes shows in what takes its result, so that is recorded, too: of
// the call itself the other side has nothing.
func TestNextMissingCall(t *testing.T) {
	dir := t.TempDir()
	tensor := func(v float64) string {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8], "Max": %g, "Min": %g, "Mean": %g, "Norm": %g, "requires_grad": false}`, v, -v/2, v/8, 3*v)
	}
	call := func(name string, out float64, in ...float64) string {
		var list []string
		for _, v := range in {
			list = append(list, tensor(v))
		}
		return fmt.Sprintf(`"%s.forward": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, strings.Join(list, ", "), tensor(out))
	}
	write := func(side string, calls ...string) string {
		folder := filepath.Join(dir, side)
		if err := os.MkdirAll(filepath.Join(folder, "step0", "rank0"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := `{"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": null, "data": {` + strings.Join(calls, ", ") + "}}"
		if err := os.WriteFile(filepath.Join(folder, "step0", "rank0", "dump.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	linear := call("Functional.linear.0", 3, 1, 2)
	left := write("left", linear, call("Functional.gelu.0", 2.75, 3), call("Functional.silu.0", 2.5, 2.75))
	golden := write("golden", linear, call("Tensor.__mul__.0", 4, 3), call("Functional.gelu.0", 3.75, 4), call("Functional.silu.0", 3.5, 3.75))
	first := filepath.Join(dir, "first.json")
	if status, _, stderr := precision(t, "compare", "-lt", left, "-rt", golden, "-out", dir, "-json", first); status != exitOK {
		t.Fatal(stderr)
	}
	if status, _, stderr := precision(t, "kit", "-next", first, "-o", filepath.Join(dir, "next")); status != exitOK {
		t.Fatal(stderr)
	}
	for file, want := range map[string][]string{"config.json": {"Functional.gelu.0.forward"}, "config_golden.json": {"Tensor.__mul__.0.forward", "Functional.gelu.0.forward"}} {
		text, err := os.ReadFile(filepath.Join(dir, "next", file))
		for _, name := range want {
			if err != nil || !strings.Contains(string(text), `"`+name+`"`) {
				t.Errorf("%s asks for no %s: %v\n%s", file, name, err, text)
			}
		}
	}
}

// TestNextOfRegion: heads that one side lays out otherwise on a way that is not recorded leave a region, as statistics do not tell
// their order. It is recorded with what feeds it; then elements decide, and what feeds it is why.
func TestNextOfRegion(t *testing.T) {
	dir := t.TempDir()
	type call struct {
		name, inside string
		in, out      []string
	}
	calls := []call{
		{"Functional.linear.0.forward", "Module.net.Attn.forward.0", []string{"x"}, []string{"heads"}},
		{"Torch.matmul.0.forward", "Module.net.Attn.forward.0", []string{"heads", "values"}, []string{"mixed"}},
		{"Functional.linear.1.forward", "Module.net.out.Linear.forward.0", []string{"flat", "weight"}, []string{"y"}},
		{"Module.net.out.Linear.forward.0", "Module.net.Attn.forward.0", []string{"flat"}, []string{"y"}},
		{"Module.net.Attn.forward.0", "", []string{"x"}, []string{"y"}},
	}
	shapes := map[string][]int64{"x": {2, 3, 8}, "heads": {2, 2, 3, 3}, "values": {2, 2, 3, 4}, "mixed": {2, 2, 3, 4}, "flat": {2, 3, 8}, "weight": {8, 8}, "y": {2, 3, 8}}
	size := func(name string) (n int) {
		n = 1
		for _, d := range shapes[name] {
			n *= int(d)
		}
		return n
	}
	data := func(turned bool) map[string][]float32 {
		all := map[string][]float32{}
		for i, name := range []string{"x", "heads", "values", "mixed", "weight"} {
			for k := range size(name) {
				all[name] = append(all[name], float32(math.Sin(float64(7*i+3*k+k*k))))
			}
		}
		flat, y := make([]float32, 48), make([]float32, 48)
		for b := range 2 {
			for h := range 2 {
				for s := range 3 {
					for e := range 4 {
						v := all["mixed"][((b*2+h)*3+s)*4+e]
						if turned {
							flat[((b*3+s)*2+h)*4+e] = v
						} else {
							flat[((b*2+h)*3+s)*4+e] = v
						}
					}
				}
			}
		}
		for r := range 6 {
			for o := range 8 {
				for i := range 8 {
					y[r*8+o] += flat[r*8+i] * all["weight"][o*8+i]
				}
			}
		}
		all["flat"], all["y"] = flat, y
		return all
	}
	// record writes the calls that are asked for, with all that is in modules that are, or, if none are, all without elements.
	record := func(side string, all map[string][]float32, asked []string) string {
		at := filepath.Join(dir, side, "step0", "rank0")
		if err := os.MkdirAll(filepath.Join(at, "dump_tensor_data"), 0o700); err != nil {
			t.Fatal(err)
		}
		var entries, construct []string
		for _, c := range calls {
			if asked != nil && !slices.Contains(asked, c.name) && !slices.Contains(asked, c.inside) {
				continue
			}
			list := func(names []string, place string) string {
				var text []string
				for i, n := range names {
					hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
					raw := []byte{}
					for _, v := range all[n] {
						x := float64(v)
						hi, lo, sum, squares = max(hi, x), min(lo, x), sum+x, squares+x*x
						raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
					}
					shape, err := json.Marshal(shapes[n])
					if err != nil {
						t.Fatal(err)
					}
					tensor := fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": %s, "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false`, shape, hi, lo, float32(sum/float64(len(all[n]))), float32(math.Sqrt(squares)))
					if asked != nil {
						file := fmt.Sprintf("%s.%s.%d.pt", c.name, place, i)
						var b bytes.Buffer
						if err := errors.Join(torch.Write(&b, dtype.Float32, shapes[n], bytes.NewReader(raw)), os.WriteFile(filepath.Join(at, "dump_tensor_data", file), b.Bytes(), 0o600)); err != nil {
							t.Fatal(err)
						}
						tensor += fmt.Sprintf(`, "data_name": %q`, file)
					}
					text = append(text, tensor+"}")
				}
				return strings.Join(text, ", ")
			}
			entries = append(entries, fmt.Sprintf(`%q: {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, c.name, list(c.in, "input"), list(c.out, "output")))
			inside := "null"
			if c.inside != "" {
				inside = fmt.Sprintf("%q", c.inside)
			}
			construct = append(construct, fmt.Sprintf("%q: %s", c.name, inside))
		}
		task := map[bool]string{true: "tensor", false: "statistics"}[asked != nil]
		for name, text := range map[string]string{"dump.json": `{"task": "` + task + `", "level": "mix", "framework": "pytorch", "dump_data_dir": null, "data": {` + strings.Join(entries, ",\n") + "}}", "construct.json": "{" + strings.Join(construct, ", ") + "}"} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return filepath.Join(dir, side)
	}
	wrong, right := data(false), data(true)
	first := filepath.Join(dir, "first.json")
	const root, feeds = "Functional.linear.1.forward", "Torch.matmul.0.forward"
	if status, stdout, stderr := precision(t, "compare", "-lt", record("left", wrong, nil), "-rt", record("golden", right, nil), "-out", dir, "-json", first, "-lang", "en"); status != exitOK ||
		!strings.Contains(stdout, "this operator or one before it that was not compared: Module.net.Attn.forward.0") {
		t.Fatalf("status %d: %s\n%s", status, stdout, stderr)
	}
	if status, _, stderr := precision(t, "kit", "-next", first, "-o", filepath.Join(dir, "next")); status != exitOK {
		t.Fatal(stderr)
	}
	var config struct{ Tensor struct{ List []string } }
	text, err := os.ReadFile(filepath.Join(dir, "next", "config.json"))
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	asked := config.Tensor.List
	if err != nil || !slices.Contains(asked, root) || !slices.Contains(asked, feeds) || slices.Contains(asked, "Functional.linear.0.forward") {
		t.Fatalf("%v, asked for %q", err, asked)
	}
	after := func(name string, asked []string) (outcome, stdout string) {
		t.Helper()
		file := filepath.Join(dir, name+".json")
		_, stdout, stderr := precision(t, "compare", "-after", first, "-lt", record(name+"/left", wrong, asked), "-rt", record(name+"/golden", right, asked), "-out", dir, "-json", file, "-lang", "en")
		var v struct {
			After struct {
				Roots []struct {
					Outcome string
					Now     []string
				}
			}
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil || len(v.After.Roots) != 1 {
			t.Fatalf("%s: %v, %+v: %s\n%s", name, err, v, stdout, stderr)
		}
		return strings.Join(append(v.After.Roots[0].Now, v.After.Roots[0].Outcome), " "), stdout
	}
	if outcome, stdout := after("fed", asked); outcome != root+" decided" || !strings.Contains(stdout, "differs although what feeds it agrees ("+feeds+")") {
		t.Errorf("%s\n%s", outcome, stdout)
	}
	// Without what feeds it, what goes in and differs may as well be other data: nothing is decided.
	alone := slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return name != root && name != "Module.net.out.Linear.forward.0" })
	if outcome, stdout := after("alone", alone); strings.HasSuffix(outcome, "decided") {
		t.Errorf("without what feeds it: %s\n%s", outcome, stdout)
	}
}
