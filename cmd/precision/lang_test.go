package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestMain speaks English, whatever the environment is. Campaigns start the test
// binary again as the program.
func TestMain(m *testing.M) {
	os.Setenv("LC_ALL", "C")
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
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
		if code := run(context.Background(), env{stdout: &out, stderr: &errs}, args); code != exitOK {
			t.Fatalf("exit status %d, %s", code, &errs)
		}
		for _, want := range []string{"结论             异常：误差始于", "Conv2D block2/conv，输出 0\n", "余弦相似度 0.", "\n覆盖 ", "\n判定标准         default", "\n结果文件         "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("by %s: there is no %q in\n%s", how, want, &out)
			}
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), env{stdout: &out, stderr: &errs}, []string{"compare", "-lt", sample, "-rt", sample, "-lang", "fr"}); code != exitUsage || !strings.Contains(errs.String(), `"fr"`) {
		t.Errorf("an unknown language: exit status %d, %s", code, &errs)
	}
}

// TestHelpSpeaks: every command has a line of help and help of its own, which name
// all of its options, in both languages.
func TestHelpSpeaks(t *testing.T) {
	for locale, usage := range map[string]string{"C": "usage: precision ", "zh_CN.UTF-8": "用法：precision "} {
		t.Setenv("LC_ALL", locale)
		var list, errs bytes.Buffer
		run(context.Background(), env{stdout: &list, stderr: &errs}, []string{"help"})
		for _, c := range commands() {
			if lang := (env{}).language(); !lang.Has("cli."+c.name) || !strings.Contains(list.String(), lang.T("cli."+c.name)) {
				t.Errorf("%s: no line about %s in\n%s", locale, c.name, &list)
			}
			if c.name == "version" {
				continue
			}
			var out bytes.Buffer
			code := run(context.Background(), env{stdout: &out, stderr: &errs}, []string{c.name, "-h"})
			if text := out.String(); code != exitOK || !strings.HasPrefix(text, usage) || strings.Contains(text, "cli.") || strings.Contains(text, "`") {
				t.Errorf("%s: help of %s, exit status %d:\n%s", locale, c.name, code, text)
			}
		}
		if errs.Len() > 0 {
			t.Errorf("%s: %s", locale, &errs)
		}
	}
}
