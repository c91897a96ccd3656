package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/internal/msg"
)

// TestThirdLanguage speaks a language whose letters are no ASCII: words of ours that are still ASCII do not come from
// files of texts, and no further language could have them.
func TestThirdLanguage(t *testing.T) {
	verb := regexp.MustCompile(`%[-+# 0-9.\[\]]*[a-zA-Z%]|.`)
	restore := msg.Replace(msg.Chinese, func(text string) string {
		return verb.ReplaceAllStringFunc(text, func(s string) string {
			if c := s[0]; len(s) == 1 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
				return string(rune(c) - '!' + '！')
			}
			return s
		})
	})
	defer restore()
	sample, err := filepath.Abs("../../testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	pair := nextPair(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.log": "step 1 loss: 2\nstep 2 loss: 1\n", "b.log": "step 1 loss: 3\nstep 2 loss: nan\n", "a.yaml": "lr: 1\n", "b.yaml": "lr: 2\nseed: 3\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	graph := filepath.Join(sample, "ge_proto_00000001_graph_1_Build.txt")
	lines := []string{"help", "compare -lt SAMPLE/npu -rt SAMPLE/golden -g SAMPLE -json r.json -junit r.xml -check", "compare -lt SAMPLE -rt nosuch", "report r.json -n 5", "check -lt SAMPLE/npu -g SAMPLE",
		"why conv -lt SAMPLE/npu -g SAMPLE", "graph GRAPH", "graph GRAPH -ls", "graph GRAPH -op block1/conv -attrs", "graph GRAPH -diff GRAPH", "preflight manifest . -out m", "preflight diff a.log b.log",
		"preflight diff a.yaml b.yaml", "preflight diff m m", "advise -f r.json", "vcs -f r.json", "ls", "ni", "pt", "cp", "dc", "kit", "kit torch", "tf_dump", "train", "-c help", "nosuch",
		"compare -lt PAIR/first/left -rt PAIR/first/golden -json f.json", "kit -next f.json -o next", "advise -f f.json", "report f.json -n 5", "compare -lt PAIR/second/left -rt PAIR/second/golden -after f.json",
		"check PAIR/second/left", "compare -lt PAIR/first/left -rt PAIR/first/golden -all -out job", "compare -all -dry-run -lt PAIR/first/left -rt PAIR/first/golden", "rollout -weights a.log,b.log", "merge job", "merge nosuch -out x"}
	for _, c := range commands(false) {
		lines = append(lines, c.name+" -h all", c.name+" -nosuch")
	}
	for _, c := range commands(true) {
		lines = append(lines, c.name+" -h", "man "+c.name)
	}
	ours := regexp.MustCompile(`[A-Za-z]*[a-z]{2,}(?: [a-z]{2,}){2,}`)
	code := regexp.MustCompile(`(?m)precision (compare|merge|check|why|report|browse|view|graph|mcp|kit|preflight|rollout)\b.*`)
	seen := map[string]bool{}
	for _, line := range lines {
		line = strings.NewReplacer("SAMPLE", sample, "GRAPH", graph, "PAIR", pair).Replace(line)
		_, out, errs := precision(t, append([]string{"-lang", "zh"}, strings.Fields(line)...)...)
		for _, found := range ours.FindAllString(code.ReplaceAllString(out+errs, ""), -1) {
			if !seen[found] {
				t.Errorf("%s: %s", line, found)
			}
			seen[found] = true
		}
	}
}
