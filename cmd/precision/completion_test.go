package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSuggest: commands, options, operators and values are completed from the
// tables that parse them.
func TestSuggest(t *testing.T) {
	t.Chdir(filepath.Dir(sampleData(t)))
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{nil, []string{"compare", "vcs", "help"}},
		{[]string{"comp"}, []string{"compare", "completion"}},
		{[]string{"help", "vc"}, []string{"vc", "vcs"}},
		{[]string{"compare", "-thr"}, []string{"-threshold"}},
		{[]string{"graph", "-fus"}, []string{"-fusion"}},
		{[]string{"shell", "-la"}, []string{"-lang"}},
		{[]string{"atc", "-"}, nil},
		{[]string{"completion", "z"}, []string{"zsh"}},
		{[]string{"vcs", "--lim"}, []string{"--limit"}},
		{[]string{"ni", "block2/c"}, []string{"block2/conv"}},
		{[]string{"ls", "-t", "MaxP"}, []string{"MaxPool"}},
		{[]string{"dc", "x", "-t", "n"}, []string{"npy"}},
	} {
		_, out, _ := precision(t, append([]string{"completion", "-words"}, c.words...)...)
		var got []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(line, "\t")
			got = append(got, word)
		}
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q is not among %q", c.words, w, got)
			}
		}
		if c.want == nil && c.words != nil && len(got) > 0 {
			t.Errorf("%q: got %q, want nothing", c.words, got)
		}
	}
}

// TestCompletionScripts: bash completes with its script; the shells that are there
// accept theirs.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, script, stderr := precision(t, "completion", shell)
		if code != exitOK {
			t.Errorf("%s: exit %d, %s", shell, code, stderr)
		}
		if path, err := exec.LookPath(shell); err == nil {
			cmd := exec.Command(path, "-n")
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v, %s", shell, err, out)
			}
		}
	}
	if code, _, stderr := precision(t, "completion", "tcsh"); code != exitUsage || !strings.Contains(stderr, "tcsh") {
		t.Errorf("tcsh: exit %d, %s", code, stderr)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	_, script, _ := precision(t, "completion", "bash")
	fake := filepath.Join(t.TempDir(), "precision")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nprintf 'a b\\twords: %s\\n' \"$*\"\nprintf '%s\\t\\n' \"$5\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, "-c", script+`COMP_WORDS=("$0" ni 'c d' -g); COMP_CWORD=2; _precision; printf '%s|' "${COMPREPLY[@]}"`, fake)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != `a\ b|''|` && string(out) != `a\ b|` {
		t.Errorf("bash completes %q, %v", out, err)
	}
}

// TestMean: a word with a slip is answered with one line.
func TestMean(t *testing.T) {
	for word, want := range map[string]string{"comapre": "did you mean compare?", "vsc": "did you mean vcs?", "zzzzz": "help lists"} {
		code, out, stderr := precision(t, word)
		if code != exitUsage || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s%s", word, code, out, stderr)
		}
	}
}
