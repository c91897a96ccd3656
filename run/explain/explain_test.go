package explain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/dump"
	"precision/graph"
	"precision/graph/read"
	"precision/internal/msg"
	"precision/internal/whole"
	"precision/testdata/workshop/msgtest"
)

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }

// TestError: what users meet is said in both languages, however it is wrapped, and
// nothing of it is lost.
func TestError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, missing := os.Stat("nowhere")
	_, folder := dump.Scan(dir, dump.Options{})
	_, absent := dump.Scan(filepath.Join(dir, "none"), dump.Options{})
	_, isFolder := read.Open(context.Background(), dir)
	notes := write("notes.md", "# Notes\n\nof a meeting\n")
	_, text := read.Open(context.Background(), notes)
	damaged := write("damaged.txt", "name: \"g\"\ngraph {\n  op {\n    name: ]\n")
	_, broken := read.Open(context.Background(), damaged)
	_, empty := read.Open(context.Background(), write("empty.txt", ""))
	for _, c := range []struct {
		err    error
		en, zh string
	}{
		{missing, "nowhere: no such file or directory", "nowhere：没有该文件或目录"},
		{fmt.Errorf("-baseline: %w", missing), "-baseline: nowhere: no such file or directory", "-baseline: nowhere：没有该文件或目录"},
		{&engine.SideError{Right: true, Err: folder}, "right side: " + dir + ": there are no files", "右侧：" + dir + "：该目录中没有文件"},
		{&engine.SideError{Err: absent}, "no such file or directory", "没有该文件或目录"},
		{&engine.SideError{Path: "a", Choices: []string{"a/b", "a/c"}}, "choose one:\n  a/b\n  a/c", "请选择一个：\n  a/b\n  a/c"},
		{&engine.SwappedError{Arrays: "x", Dumps: "y"}, "the left one, x, holds golden arrays", "左侧 x 中是标杆数据"},
		{&engine.GraphFolderError{Dir: "d", Dumps: "n", Graphs: 3}, "none of its 3 graphs", "其中 3 个图"},
		{&engine.GraphFolderError{Dir: "d", Dumps: "n"}, "d: no graph in this folder", "d：该目录中没有图"},
		{&engine.SideWarning{Right: true, Warning: dump.Warnf("g/x.npy", 0, "passed over: a %s among %s", dump.Array, "standard goldens")},
			"right side: g/x.npy: passed over: a numpy array among standard goldens", "右侧：g/x.npy：已跳过：该文件是 numpy 数组，而其余是 标杆数据"},
		{&engine.StrangersWarning{Strangers: 3, Of: 4, Dir: "npu", Graph: "g.txt", Some: []string{"a", "b"}},
			"3 of the 4 operators in npu are not in the graph g.txt, or are of another type there (a, b, …); is it the graph of another network or of another build?",
			"3 个算子（共 4 个，位于 npu）不在图 g.txt 中，或在图中是另一类型（a、b 等）；该图是否属于其他网络，或由另一次编译生成？"},
		{&engine.GraphFolderError{Dir: "d", Dumps: "n", Unread: []graph.Warning{{Path: "g.om", Offset: 80, Msg: graph.Messagef("model is encrypted")}}},
			"d: none of the 1 graphs in it can be read, for example g.om:offset 80: model is encrypted", "d：其中 1 个图都无法读取，例如 g.om：偏移 80：模型已加密"},
		{whole.Apart([]string{notes}, notes), "notes.md: is an input too", "notes.md: 同时是输入文件"},
		{engine.ErrLoneGraph, "needs the graph of the left side", "须同时指定左侧的图"},
		{isFolder, "is a directory, expected a graph file", "是目录，应为图文件"},
		{text, "notes.md is not a GE graph but some other text; graphs are ge_proto_*_Build.txt files", "notes.md 不是 GE 图，而是其他文本"},
		{broken, "damaged.txt:4: found ']', expected a quoted string", "damaged.txt:4: 遇到']'，应为带引号的字符串"},
		{fmt.Errorf("-g: %w", broken), "-g: " + damaged + ":4: found", "-g: " + damaged + ":4: 遇到']'"},
		{empty, "empty.txt:offset 0: file is empty, expected a GE graph", "empty.txt：偏移 0：文件为空，应为 GE 图"},
		{errors.New("anything"), "anything", "anything"},
		{Say("explain.path", "p", missing), "p: nowhere: no such file", "p：nowhere：没有该文件"},
	} {
		if got := Error(msg.English, c.err); !strings.Contains(got, c.en) {
			t.Errorf("got %q, expected %q", got, c.en)
		}
		if got := Error(msg.Chinese, c.err); !strings.Contains(got, c.zh) {
			t.Errorf("got %q, expected %q", got, c.zh)
		}
	}
	var not *graph.NotGraphError
	if !errors.As(Say("explain.path", "p", text), &not) || !errors.Is(Say("explain.path", "p", missing), fs.ErrNotExist) {
		t.Error("an error cannot be found in what is said of it")
	}
}

// TestWants: whatever the program expects a plain file to be has a name in both languages.
func TestWants(t *testing.T) {
	opens := regexp.MustCompile(`plainfile\.(?:Open|ReadFile)\([^"\n]*"([^"\n]+)"`)
	found := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2:
			return fs.SkipDir
		case d.IsDir(), filepath.Ext(path) != ".go", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range opens.FindAllStringSubmatch(string(source), -1) {
			if found++; !msg.Chinese.Has("explain.want." + m[1]) {
				t.Errorf("%s: there is no message explain.want.%s", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d places found in the source; has the way to open files changed?", found)
	}
}
