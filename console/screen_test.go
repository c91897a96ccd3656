package console

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// checkBox checks that all lines of a box are equally wide and within width.
func checkBox(t *testing.T, box string, width int) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(box, "\n"), "\n")
	for _, l := range lines {
		if w := lipgloss.Width(l); w != lipgloss.Width(lines[0]) || width > 0 && w > width {
			t.Errorf("a line is %d wide, the first %d, the terminal %d:\n%s", w, lipgloss.Width(lines[0]), width, box)
			return
		}
	}
}

func TestBoxesFit(t *testing.T) {
	texts := []string{"x", "卷积算子 conv/第一层 的输出", strings.Repeat("long_name/", 30), strings.Repeat("很长的算子名", 40), "a\nb\n"}
	for _, colour := range []bool{false, true} {
		for _, width := range []int{0, 20, 40, 80} {
			s := NewScreen(io.Discard, width, colour)
			for _, text := range texts {
				checkBox(t, s.Panel(s.Green("标题")+" title", s.Yellow(text)+" "+text), width)
				checkBox(t, s.Panel(strings.Repeat("标题", 60), text), width)
				checkBox(t, s.Table("", []string{"类型", "Data"}, [][]string{{text, s.Red(text)}, {"1", "2"}}), width)
				head := strings.Fields("Index OpType 名称 Task Stream Time Size Folder")
				many := s.Table("many", head, [][]string{{"0", "Conv", text, "1", s.Green("2"), "3", "4", "5"}, head})
				if checkBox(t, many[strings.IndexByte(many, '\n')+1:], width); !strings.Contains(many, "名称") {
					t.Errorf("a head is missing:\n%s", many)
				}
			}
		}
	}
}

func TestPlainHasNoEscapes(t *testing.T) {
	s := NewScreen(io.Discard, 60, false)
	text := s.Panel(s.Green("T"), s.Red("\x1b[31mred\x07")+s.Blue("b")) + s.Table("t", []string{"h"}, [][]string{{s.Yellow("y")}})
	if strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("escape codes in plain text: %q", text)
	}
	if c := NewScreen(io.Discard, 60, true); !strings.Contains(c.Panel("", c.Red("x")), "\x1b[") {
		t.Error("no colour on a terminal with colours")
	}
}

func TestColumns(t *testing.T) {
	wide, narrow := NewScreen(io.Discard, 80, false), NewScreen(io.Discard, 20, false)
	a, b := wide.Panel("", "aaaaaaa"), wide.Panel("", "bbbbbbb\nc")
	if n := strings.Count(wide.Columns(a, b), "\n"); n != 4 {
		t.Errorf("side by side takes %d lines, want 4", n)
	}
	if n := strings.Count(narrow.Columns(a, b), "\n"); n != 7 {
		t.Errorf("stacked takes %d lines, want 7", n)
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 8, []string{"one two", "three"}},
		{"mean -0.5 x", 6, []string{"mean", "-0.5 x"}},
		{"Path: a/very/long/path", 10, []string{"Path: a/ve", "ry/long/pa", "th"}},
		{"\x1b[31mred words\x1b[0m end", 5, []string{"\x1b[31mred\x1b[0m", "\x1b[31mwords\x1b[0m", "end"}},
		{"很长的算子名称", 5, []string{"很长", "的算", "子名", "称"}},
		{"宽", 1, []string{"宽"}},
		{"ab   cd", 3, []string{"ab", "cd"}},
		{" └─ [Shape: (1, 2)] [Max: 1] [Min: -1] [Mean: 0.5]", 40, []string{" └─ [Shape: (1, 2)] [Max: 1] [Min: -1]", "    [Mean: 0.5]"}},
		{"Spec: [Shape: (1, 2)] [Dtype: float32] [Mean: -0.5]", 47, []string{"Spec: [Shape: (1, 2)] [Dtype: float32]", "[Mean: -0.5]"}},
		{"-0.25 " + strings.Repeat("-0.75 ", 7) + "1", 40, []string{strings.TrimSpace("-0.25 " + strings.Repeat("-0.75 ", 5)), "-0.75 -0.75 1"}},
		{" - " + strings.Repeat("a", 50), 40, []string{" - " + strings.Repeat("a", 37), "   " + strings.Repeat("a", 13)}},
	} {
		if got := foldLine(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("foldLine(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m 很长 text", 4)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width < 2 || width > 1000 {
			return
		}
		text = Clean(strings.ReplaceAll(text, "\n", ""))
		for _, l := range foldLine(text, width) {
			if w := lipgloss.Width(l); w > width && len(glyphs(l)) > 1 {
				t.Errorf("%q folded at %d has the line %q of %d columns", text, width, l, w)
			}
		}
	})
}

// TestWidest: where the width is not known boxes are bounded, and text is not folded.
func TestWidest(t *testing.T) {
	s := NewScreen(io.Discard, 0, false)
	long := strings.Repeat("long_name/", 60)
	checkBox(t, s.Panel("", long), widest)
	checkBox(t, s.Panel("", s.Inside().Table("", []string{"Name", "Value"}, [][]string{{long, "1"}})), widest)
	if s.Wrap(long) != long {
		t.Error("text for a pipe is folded")
	}
}

// TestWrap: text breaks between words only, a path stays whole.
func TestWrap(t *testing.T) {
	s := NewScreen(io.Discard, 20, false)
	if got := NewScreen(io.Discard, 60, false).Wrap("\n\nx\n"); got != "\n\nx\n" {
		t.Errorf("empty lines become %q", got)
	}
	for text, want := range map[string]string{
		"one two three four five\nsix\n":          "one two three four\nfive\nsix\n",
		"see a/very/long/path/of/a/file for more": "see\na/very/long/path/of/a/file\nfor more",
		"a/very/long/path/of/a/file":              "a/very/long/path/of/a/file",
		"没有目录 precision_data/npu/debug_0，请先采集数据。": "没有目录\nprecision_data/npu/debug_0，\n请先采集数据。",
		"这一行的最后一个字后面是标点符号，不能放在行首。":                "这一行的最后一个字后\n面是标点符号，不能放\n在行首。",
		"":  "",
		"x": "x",
	} {
		if got := s.Wrap(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
