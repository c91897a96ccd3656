package repl

import (
	"slices"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  ls  -t Conv2D ", []string{"ls", "-t", "Conv2D"}},
		{`pt "a b" 'c "d'`, []string{"pt", "a b", `c "d`}},
		{`pt a\ b \"q`, []string{"pt", "a b", `"q`}},
		{`pt C:\dir\x.npy`, []string{"pt", `C:\dir\x.npy`}},
		{`ls ""`, []string{"ls", ""}},
		{"ni 算子/卷积", []string{"ni", "算子/卷积"}},
	} {
		got, err := splitWords(c.line)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("splitWords(%q) = %q, %v, want %q", c.line, got, err, c.want)
		}
	}
	if _, err := splitWords(`pt "a b`); err == nil {
		t.Error("an unfinished quotation is no error")
	}
}

func TestSplitCommands(t *testing.T) {
	got := splitCommands(`ac -c; run echo "a;b"; vcs -l 5`)
	if want := []string{"ac -c", ` run echo "a;b"`, " vcs -l 5"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestImplyName(t *testing.T) {
	for _, c := range []struct {
		command string
		args    []string
		want    []string
	}{
		{"ni", []string{"conv1", "-a"}, []string{"-n", "conv1", "-a"}},
		{"cp", []string{"a", "b"}, []string{"-n", "a", "b"}},
		{"ni", []string{"-n", "conv1"}, []string{"-n", "conv1"}},
		{"ni", []string{"conv1", "-h"}, []string{"conv1", "-h"}},
		{"ls", []string{"conv1"}, []string{"conv1"}},
		{"ni", nil, nil},
	} {
		if got := implyName(c.command, c.args); !slices.Equal(got, c.want) {
			t.Errorf("implyName(%s, %q) = %q, want %q", c.command, c.args, got, c.want)
		}
	}
}
