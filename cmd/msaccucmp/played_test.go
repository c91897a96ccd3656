package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"precision/testdata/workshop/recorded"
)

// TestPlayed plays random inputs of which it is recorded what the old tool made of them. With PLAYED_LAY=DIR and
// PLAYED_SEEDS=N inputs are laid out there instead, for whoever has the old tool: a folder for each seed, with its command line.
func TestPlayed(t *testing.T) {
	if dir := os.Getenv("PLAYED_LAY"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("PLAYED_SEEDS"))
		for seed := range uint64(n) {
			at := filepath.Join(dir, strconv.FormatUint(seed, 10))
			args, err := recorded.Lay(at, seed)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(args)
			os.WriteFile(filepath.Join(at, "args"), text, 0o600)
		}
		return
	}
	list, err := recorded.Plays("../../testdata/played.jsonl")
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	for _, p := range list {
		dir := t.TempDir()
		args, err := recorded.Lay(dir, p.Seed)
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		var stdout, stderr bytes.Buffer
		if err := p.Check(run(context.Background(), &stdout, &stderr, args), dir); err != nil {
			t.Errorf("seed %d, %q: %v\n%s", p.Seed, args, err, stderr.String())
		}
	}
}
