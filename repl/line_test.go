package repl

import (
	"slices"
	"testing"
)

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
		cmd, _ := findCommand(c.command)
		if got := cmd.implyName(c.args); !slices.Equal(got, c.want) {
			t.Errorf("implyName of %s with %q = %q, want %q", c.command, c.args, got, c.want)
		}
	}
}
