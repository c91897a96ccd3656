package repl

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestMore: commands of the program are commands of the shell, with its data folder and language, in help and completion; and what
// the shell has of its own goes before, unless it is given something that only the program takes.
func TestMore(t *testing.T) {
	cfg, out, errs := sampleConfig(t)
	var ran []string
	more := func(name string) More {
		return More{Info: Info{name, "does " + name}, Run: func(_ context.Context, lang, data string, args []string) int {
			ran = append(ran, fmt.Sprint(name, lang, data, args))
			return 3
		}, Complete: func(words []string, word string) []Info { return []Info{{fmt.Sprint("-", words[0]), ""}} }}
	}
	cfg.More = []More{more("browse"), more("graph"), more("check")}
	cfg.Commands = "graph -op 'a b'; b; help graph; check x; check"
	if code := Run(context.Background(), cfg); code != 3 {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	if got := strings.Join(ran, ";"); got != "graphen[precision_data [-op a b]];browseen[precision_data []];graphen[precision_data [-h]];checken[precision_data [x]]" &&
		got != "graphenprecision_data[-op a b];browseenprecision_data[];graphenprecision_data[-h];checkenprecision_data[x]" {
		t.Errorf("ran %s", got)
	}
	cfg.Commands, ran = "help", nil
	out.Reset()
	if Run(context.Background(), cfg); !strings.Contains(out.String(), "does graph") || strings.Contains(out.String(), "does check") {
		t.Errorf("help:\n%s", out)
	}
	c := &completer{open(cfg), newVocabulary()}
	if list := c.suggest("gra"); len(list) != 1 || list[0].Text != "graph" {
		t.Errorf("commands: %v", list)
	}
	if list := c.suggest("graph -"); len(list) != 1 || list[0].Text != "-graph" {
		t.Errorf("options: %v", list)
	}
}
