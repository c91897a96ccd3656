package repl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/console"
	"precision/run"
)

// Lines of the shell are taken apart and given to the options of each command;
// completion makes suggestions for them. Nothing is run.
func FuzzLine(f *testing.F) {
	for _, line := range []string{"vcs -l 5; ni 'a b' -g 2", `cp -n a\ b -l x`, "pt \"", "ac -c;;", "cp -n 1 -- -x", "ls -f 数据", "run echo \\", "ni -n=", "vc -lt"} {
		f.Add(line)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1<<10 {
			return
		}
		s := open(Config{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Dir: dir, Width: 60})
		for _, one := range append(console.Commands(line), line) {
			words, err := console.Words(one)
			if err != nil || len(words) == 0 {
				continue
			}
			for _, c := range commands {
				o := newOptions(c.name)
				c.make(s).define(o)
				if _, err := o.parse(c.implyName(words[1:])); err != nil {
					_ = run.WrongOption(s.Lang, err, o.set)
				}
			}
		}
		if _, typed := console.LastWord(line); !strings.ContainsAny(console.PlainWord(typed), "/\\~$.") { // which would list folders
			c := &completer{s, newVocabulary()}
			c.suggest(line)
		}
	})
}

// TestChosenStatistics: of a table with other statistics than usual each is shown under its own name.
func TestChosenStatistics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "statistics.csv")
	text := "Input/Output,Index,Data Size,Data Type,Format,Shape,Min Value,L2norm Value,Nan Count\nsomething else\nInput,0,512,DT_FLOAT16,ND,4x16,-2.1,17.5,3\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var blocks [2]strings.Builder
	s := open(Config{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Dir: t.TempDir(), Width: 60})
	if err := (&niCmd{}).statistics(s, &blocks, path); err != nil {
		t.Fatal(err)
	}
	if got, want := blocks[0].String(), "[0] [Shape: 4x16] [Dtype: DT_FLOAT16] [Min: -2.1] [Norm: 17.5] [NaN: 3]\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, expected %q at its end", got, want)
	}
}

// A table of statistics is shown as far as it is one, without what steers a terminal.
func FuzzStatistics(f *testing.F) {
	text, err := os.ReadFile("testdata/statistics.csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("Input,\x1b[2J,,,,,,,\nNaN count\nOutput,0,a,b,c,d,e,f,g\n\"\n"))
	path := filepath.Join(f.TempDir(), "statistics.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(Config{Stdout: &strings.Builder{}, Stderr: &strings.Builder{}, Dir: t.TempDir(), Width: 60})
		var blocks [2]strings.Builder
		(&niCmd{}).statistics(s, &blocks, path)
		if shown := blocks[0].String() + blocks[1].String(); strings.ContainsAny(shown, "\x1b\x00\x07") {
			t.Fatalf("%q", shown)
		}
	})
}
