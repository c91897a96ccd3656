package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// full is a standard output that takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

// An answer that did not get out is no success.
func TestFullOutput(t *testing.T) {
	sample := "../../testdata/sample/"
	for _, args := range [][]string{
		{"version"}, {"help"}, {"help", "compare"}, {"graph", "-h"}, {"completion", "bash"},
		{"graph", sampleGraph}, {"graph", sampleGraph, "-ls"}, {"graph", sampleGraph, "-op", "block2/conv"},
		{"graph", sampleGraph, "-diff", sampleGraph}, {"graph", "-fusion", fusionResult(t)},
		{"compare", "-lt", sample + "npu", "-rt", sample + "golden", "-g", sample, "-out", t.TempDir()},
		{"help", "ls"}, {"-c", "help"},
	} {
		for _, room := range []int{0, 10} {
			var errs bytes.Buffer
			code := execute(context.Background(), env{stdout: &full{room}, stderr: &errs}, args)
			if code != exitError || !strings.Contains(errs.String(), errFull.Error()) {
				t.Errorf("%q with room for %d bytes: exit status %d, %q; expected 1 and that there is no space", args, room, code, &errs)
			}
		}
	}
}

// No output replaces what the command reads, under whatever name.
func TestOutputIsInput(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile(sampleGraph)
	if err != nil {
		t.Fatal(err)
	}
	in, link := filepath.Join(dir, "ge_proto_1_Build.txt"), filepath.Join(dir, "link.json")
	os.WriteFile(in, text, 0o600)
	os.Symlink(in, link)
	sample := "../../testdata/sample/"
	for _, args := range [][]string{
		{"graph", in, "-json", in}, {"graph", in, "-json", link}, {"graph", in, "-dot", link, "-root", "block2/conv"},
		{"graph", sampleGraph, "-diff", in, "-svg", in}, {"atc", "--mode=5", "--om=" + in, "--json=" + in},
		{"compare", "-lt", sample + "npu", "-rt", sample + "golden", "-g", in, "-json", in, "-out", dir},
		{"check", "-lt", sample + "npu", "-g", in, "-json", in, "-out", dir},
	} {
		code, _, stderr := precision(t, args...)
		if code == exitOK || !strings.Contains(stderr, "is an input too") {
			t.Errorf("%q: exit status %d, %q", args, code, stderr)
		}
		if now, _ := os.ReadFile(in); !bytes.Equal(now, text) {
			t.Fatalf("%q: the input was replaced", args)
		}
	}
}

// No form of a report replaces a recording: not a dump, not a golden file, however it is named.
func TestReportsSpareRecordings(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/sample")); err != nil {
		t.Fatal(err)
	}
	npu, golden, graph := filepath.Join(dir, "npu"), filepath.Join(dir, "golden"), filepath.Join(dir, filepath.Base(sampleGraph))
	link := filepath.Join(t.TempDir(), "link")
	for _, in := range []string{npu, golden} {
		var file string
		filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				file = path
			}
			return err
		})
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(link)
		os.Symlink(file, link)
		out := t.TempDir()
		for _, name := range []string{file, link} {
			for _, form := range []string{"-json", "-html", "-junit", "-sarif"} {
				code, _, stderr := precision(t, "compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", out, form, name)
				if now, _ := os.ReadFile(file); code == exitOK || !strings.Contains(stderr, "is an input too") || !bytes.Equal(now, was) {
					t.Fatalf("%s %s: exit status %d, %q", form, name, code, stderr)
				}
			}
		}
		code, _, stderr := precision(t, "check", "-lt", npu, "-rt", golden, "-g", graph, "-out", out, "-json", file)
		if now, _ := os.ReadFile(file); code == exitOK || !strings.Contains(stderr, "is an input too") || !bytes.Equal(now, was) {
			t.Fatalf("check: exit status %d, %q", code, stderr)
		}
		code, _, stderr = precision(t, "preflight", "manifest", dir, "-out", file)
		if now, _ := os.ReadFile(file); code == exitOK || !strings.Contains(stderr, "is an input too") || !bytes.Equal(now, was) {
			t.Fatalf("manifest: exit status %d, %q", code, stderr)
		}
	}
	list := filepath.Join(dir, "manifest.txt")
	for range 2 {
		if code, _, stderr := precision(t, "preflight", "manifest", dir, "-out", list); code != exitOK {
			t.Errorf("a list in the folder that it lists: exit status %d, %q", code, stderr)
		}
	}
	saved := filepath.Join(dir, "saved.json")
	precision(t, "compare", "-lt", npu, "-rt", golden, "-g", graph, "-out", dir, "-json", saved)
	code, _, stderr := precision(t, "report", saved, "-html", filepath.Join(dir, "x"), "-json", filepath.Join(dir, ".", "x"))
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil || code == exitOK || !strings.Contains(stderr, "two outputs have this name") {
		t.Errorf("two outputs of one name: exit status %d, %q", code, stderr)
	}
}

// Names cannot steer the terminal, whichever command shows them.
func TestNamesDoNotSteer(t *testing.T) {
	dir := t.TempDir()
	const evil = "conv\x1b]0;owned\x07\x1b[31m\u202ecod"
	text := "name: \"net\"\ngraph {\n name: \"g\"\n op {\n  name: \"" + evil + "\"\n  type: \"Re\x1b[2JLU\"\n }\n}\n"
	in := filepath.Join(dir, "ge_proto_1_Build\x1b[31m.txt")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{
		{"graph", in}, {"graph", in, "-ls"}, {"graph", in, "-name", "conv"}, {"graph", in, "-op", "conv"}, {"graph", in, "-diff", in},
		{"graph", in, "-op", "\x1bnone"}, {"graph", in + "\x1b[2J"}, {"atc", "--mode=1", "--om=" + in, "--json=" + filepath.Join(dir, "o")},
		{"compare", "-lt", in, "-rt", dir}, {"check", "-lt", in, "-g", in}, {"\x1b[2J"}, {"compare", "-\x1b[2J"},
		{"compare", "-lt", sample + "/npu", "-rt", sample + "/golden", "-g", sampleGraph, "-out", filepath.Join(dir, evil)},
		{"check", "-lt", sample + "/npu", "-g", sampleGraph, "-out", filepath.Join(dir, evil)},
	} {
		_, stdout, stderr := precision(t, args...)
		if all := stdout + stderr; all == "" || strings.ContainsAny(all, "\x1b\x07\u202e") {
			t.Errorf("%q prints %q", args, all)
		}
	}
}

// A named pipe that nobody writes to keeps nothing waiting.
func TestPipesAreNoInputs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.json")
	if !mkfifo(pipe) {
		t.Skip("no named pipes here")
	}
	sample := "../../testdata/sample/"
	compare := []string{"compare", "-lt", sample + "npu", "-rt", sample + "golden", "-out", t.TempDir()}
	for _, args := range [][]string{
		{"graph", pipe}, {"graph", sampleGraph, "-diff", pipe}, {"graph", "-fusion", pipe},
		{"graph", sampleGraph, "-svg", filepath.Join(t.TempDir(), "o.svg"), "-root", "block2/conv", "-result", pipe},
		{"atc", "--mode=5", "--om=" + pipe, "--json=o"},
		append(compare, "-g", pipe), append(compare, "-g", sampleGraph, "-q", pipe), append(compare, "-g", sampleGraph, "-cf", pipe),
		append(compare, "-profile", pipe), append(compare, "-baseline", pipe), append(compare, "-second", pipe),
		{"check", "-lt", sample + "npu", "-g", pipe}, {"vcs", "-f", pipe}, {"pt", pipe}, {"cp", pipe, pipe},
		{"graph", "/dev/zero"}, {"vcs", "-f", "/dev/zero"}, {"compare", "-lt", sample + "npu", "-rt", sample + "golden", "-profile", "/dev/zero"},
	} {
		done := make(chan int, 1)
		go func() {
			code, _, _ := precision(t, args...)
			done <- code
		}()
		select {
		case code := <-done:
			if code == exitOK {
				t.Errorf("%q: exit status 0", args)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%q waits for the pipe", args)
		}
	}
}
