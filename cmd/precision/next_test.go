package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump/dumptest"
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
