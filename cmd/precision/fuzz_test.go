package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// outside are words of the program that start other programs, serve or wait.
var outside = []string{"run", "train", "tf_dump", "view", "shell", "data", "infer"}

// Any words give an exit status that is promised, in a folder without anything to
// read: nothing panics, hangs or makes a file.
func FuzzWords(f *testing.F) {
	for _, line := range []string{
		"compare\x00-lt\x00a\x00-rt\x00b\x00-metrics\x00cosine,x", "compare\x00-gate=hard\x00-fail-below\x00NaN", "graph\x00x\x00-op\x00y\x00-json\x00z",
		"report\x00x.json\x00-n\x00-1\x00-sort\x00drop", "atc\x00--mode=5\x00--om=x\x00--json=y", "check\x00-full", "why\x00a\x00-lt\x00b", "vcs\x00-l\x000x10",
		"completion\x00fish", "-lang\x00zh\x00help\x00compare", "profile\x00strict", "pt\x00-n", "cp\x00-n\x00a\x00-l\x00b", "", "verison",
	} {
		f.Add(line)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\x00")
		if strings.ContainsAny(line, `/\`) || strings.Contains(line, "..") || len(line) > 1<<10 {
			return // to stay in the folder
		}
		name := slices.IndexFunc(words, func(w string) bool { return !language(w) })
		if name < 0 || strings.HasPrefix(words[name], "-") || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(outside, w) }) {
			return // the shell, which has a target of its own; with -c it would give words to the system's
		}
		t.Chdir(dir)
		switch code := execute(context.Background(), env{stdout: io.Discard, stderr: io.Discard}, words); code {
		case exitOK, exitError, exitNoMatch, exitBelow:
		default:
			t.Fatalf("%q: exit status %d", words, code)
		}
	})
}

// language tells whether a word is of the option that may stand before a command.
func language(w string) bool {
	return w == "zh" || w == "en" || strings.HasPrefix(strings.TrimLeft(w, "-"), "lang") && strings.HasPrefix(w, "-")
}
