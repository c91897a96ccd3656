package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"precision/testdata/workshop/scratch"
)

// TestMain speaks English, whatever the environment is. Campaigns start the test
// binary again as the program.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Setenv("LC_ALL", "C")
	state, err := os.MkdirTemp("", "state") // the user's own is none of the tests'
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_STATE_HOME", state)
	code := scratch.Main(m)
	os.RemoveAll(state)
	os.Exit(code)
}

// TestChinese compares the sample network for a user of another language.
func TestChinese(t *testing.T) {
	sample := "../../testdata/sample/"
	for _, how := range []string{"option", "option in front", "environment"} {
		args := []string{"compare", "-lt", sample + "npu", "-rt", sample + "golden", "-g", sample, "-out", t.TempDir()}
		switch how {
		case "option":
			args = append(args, "-lang", "zh")
		case "option in front":
			args = append([]string{"-lang=zh"}, args...)
		default:
			t.Setenv("LC_ALL", "zh_CN.UTF-8")
		}
		var out, errs bytes.Buffer
		if code := execute(context.Background(), env{stdout: &out, stderr: &errs}, args); code != exitOK {
			t.Fatalf("exit status %d, %s", code, &errs)
		}
		for _, want := range []string{"结论             异常：误差始于", "Conv2D block2/conv，输出 0\n", "余弦相似度 0.", "\n覆盖 ", "\n判定标准         default", "\n结果文件         "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("by %s: there is no %q in\n%s", how, want, &out)
			}
		}
	}
	var out, errs bytes.Buffer
	if code := execute(context.Background(), env{stdout: &out, stderr: &errs}, []string{"compare", "-lt", sample, "-rt", sample, "-lang", "fr"}); code != exitUsage || !strings.Contains(errs.String(), `"fr"`) {
		t.Errorf("an unknown language: exit status %d, %s", code, &errs)
	}
}

// TestHelpSpeaks: every command has a line of help and help of its own, which name
// all of its options, in both languages.
func TestHelpSpeaks(t *testing.T) {
	for locale, usage := range map[string]string{"C": "usage: precision ", "zh_CN.UTF-8": "用法：precision "} {
		t.Setenv("LC_ALL", locale)
		var list, errs bytes.Buffer
		execute(context.Background(), env{stdout: &list, stderr: &errs}, []string{"help"})
		for _, c := range commands(false) {
			if lang := (env{}).language(); !lang.Has("cli."+c.name) || !regexp.MustCompile(`\b`+c.name+`\b`).MatchString(list.String()) {
				t.Errorf("%s: no line about %s in\n%s", locale, c.name, &list)
			}
			if c.name == "version" {
				continue
			}
			var out bytes.Buffer
			code := execute(context.Background(), env{stdout: &out, stderr: &errs}, []string{c.name, "-h"})
			if text := out.String(); code != exitOK || !strings.HasPrefix(text, usage) || strings.Contains(text, "cli.") || strings.Contains(text, "`") {
				t.Errorf("%s: help of %s, exit status %d:\n%s", locale, c.name, code, text)
			}
		}
		if errs.Len() > 0 {
			t.Errorf("%s: %s", locale, &errs)
		}
	}
}

// TestErrorsInChinese: what goes wrong with a command line is said in Chinese as well.
func TestErrorsInChinese(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ line, want string }{
		{"graph nofile", "nofile：没有该文件或目录"},
		{"graph a b", "给出了 2 个文件"},
		{"graph notes.md", "notes.md 不是 GE 图，而是其他文本"},
		{"graph call.json", "call.json 不是 GE 图，而是其他内容的 JSON"},
		{"graph", "应为一个"},
		{"check -lt . -g notes.md", "-lt：.：该目录"},
		{"compare -lt none -rt .", "左侧（-lt）：none：没有该文件或目录"},
		{"compare -lt .", "需要两侧的数据"},
		{"compare -nosuch", "没有选项 -nosuch；用法见 precision compare -h"},
		{"compare -workers many", "-workers：读到 \"many\"，应为数值"},
		{"compare -numerics x -lt a -rt b", "应为 exact 或 reference"},
		{"report nofile", "nofile：没有该文件或目录"},
		{"atc --mode=7", "应为 1"},
		{"data", "未指定目录"},
		{"why", "需要算子"},
		{"compare -gate=hard -lt a -rt b", "-gate：读到 \"hard\"，应为 -gate 或 -gate=strict"},
		{"compare -ranks 5-2 -all -lt a -rt b", "-ranks：读到 \"5-2\"，应为编号和范围"},
		{"compare -junit x -all -lt a -rt b", "-junit 不能与 -all 合用"},
		{"compare -profile nosuch -lt a -rt b", "-profile：没有判定标准 \"nosuch\"，应为文件，或内置标准之一：cann-2025、"},
		{"merge", "需要各份的目录"},
		{"merge -nosuch", "没有选项 -nosuch"},
		{"report notes.md", "应为结果表"},
		{"preflight", "需要指定其中之一"},
		{"preflight diff notes.md notes.md", "notes.md：以 \"# Notes\\n\\nof a me\" 开头，既不是文件清单"},
		{"preflight diff -as config notes.md notes.md", "notes.md：不属于任何一种配置格式"},
		{"preflight diff -as log notes.md notes.md", "notes.md：在 3 行中没有找到损失"},
		{"preflight diff -n x notes.md notes.md", "应为数值；用法见 precision preflight diff -h"},
	} {
		if err := os.WriteFile("notes.md", []byte("# Notes\n\nof a meeting\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("call.json", []byte(`{"task": "statistics", "data": {}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(c.line)
		for _, args := range [][]string{append([]string{"-lang", "zh"}, words...), append(words, "-lang=zh")} {
			code, out, stderr := precision(t, args...)
			if code != exitUsage || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: exit %d, %s%s, expected %s", args, code, out, stderr, c.want)
			}
		}
	}
}
