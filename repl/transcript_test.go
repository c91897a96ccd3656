package repl

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"precision/testdata/workshop/dumptest"
)

var update = flag.Bool("update", false, "write the screens that transcripts expect")

// TestTranscripts plays sessions: a file holds lines to type, "> line", each
// with the screen that follows; lines of the error output begin with "! ", and
// an exit status other than 0 is a line "= status". Lines before the first
// command are settings: "data NAME" lays out a data folder, "lang" and "width"
// set those.
func TestTranscripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			path, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("the screen differs; run with -update and look at the difference\n%s", firstDifference(string(want), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], strings.Join(g[min(i, len(g)):min(i+3, len(g))], "\n     "))
		}
	}
	return "there is more at the end"
}

// player is a session in a folder of its own, with its screen.
type player struct {
	dir string
	buf bytes.Buffer
	mu  sync.Mutex // a child writes from two goroutines
	cfg Config
	s   *session
}

// newPlayer makes a new folder the current one.
func newPlayer(t *testing.T, lang string, width int) *player {
	p := &player{dir: t.TempDir()}
	t.Chdir(p.dir)
	p.cfg = Config{Stdin: strings.NewReader(""), Stdout: &marked{w: &p.buf, mu: &p.mu}, Stderr: &marked{w: &p.buf, mu: &p.mu, mark: "! ", start: true},
		Lang: lang, Width: width, ConfigDir: filepath.Join(p.dir, "config")}
	return p
}

// session opens the session when the data is there.
func (p *player) session() *session {
	if p.s == nil {
		p.s = open(p.cfg)
	}
	return p.s
}

// screen is what was shown since the last call, and the exit status.
func (p *player) screen(code int) string {
	text := stable(p.buf.String(), p.dir)
	p.buf.Reset()
	if code != 0 {
		text += fmt.Sprintf("= %d\n", code)
	}
	return text
}

// play runs the commands of a transcript and returns it with the screens there
// are now.
func play(t *testing.T, script string) string {
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(t, "en", 0)
	var out strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		command, isCommand := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			out.WriteString(line + "\n")
			out.WriteString(p.screen(p.session().line(context.Background(), command)))
			continue
		case p.s != nil:
			continue
		}
		out.WriteString(line + "\n")
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case "", "#":
		case "data":
			layOut(t, repo, value)
		case "lang":
			p.cfg.Lang = value
		case "width":
			fmt.Sscan(value, &p.cfg.Width)
		default:
			t.Fatalf("%q is no setting", line)
		}
	}
	if p.s == nil {
		t.Fatal("no command in the transcript")
	}
	return out.String()
}

// stable replaces what differs from run to run by as many characters, so that
// boxes stay as wide as they are.
func stable(text, dir string) string {
	text = strings.ReplaceAll(text, filepath.ToSlash(dir), "DIR")
	return regexp.MustCompile(`\d+`).ReplaceAllStringFunc(text, func(s string) string {
		if len(s) != len(sampleRun) || s[:2] != "20" || s == sampleRun || s == "20260102030405" {
			return s
		}
		return "YYYYmmddHHMMSS"
	})
}

// marked puts a mark in front of lines.
type marked struct {
	w     io.Writer
	mu    *sync.Mutex
	mark  string
	start bool
}

func (m *marked) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if m.start {
			io.WriteString(m.w, m.mark)
		}
		io.WriteString(m.w, line)
		m.start = strings.HasSuffix(line, "\n")
	}
	return len(p), nil
}

// sampleRun is the run of the sample data.
const sampleRun = "20260101120000"

// layOut makes precision_data in the current folder: "sample" from the sample
// network, "overflow CASE" from a recorded case, "two" from the sample twice.
func layOut(t testing.TB, repo, what string) {
	t.Helper()
	sample := filepath.Join(repo, "testdata", "sample")
	cp := func(from string, to ...string) {
		t.Helper()
		copyTree(t, from, filepath.Join(append([]string{"precision_data"}, to...)...))
	}
	kind, name, _ := strings.Cut(what, " ")
	switch kind {
	case "sample", "two":
		cp(filepath.Join(sample, "npu"), "npu", "debug_0", "dump")
		cp(filepath.Join(sample, "golden"), "tf", "dump")
		graphFile := "ge_proto_00000001_graph_1_Build.txt"
		cp(filepath.Join(sample, graphFile), "npu", "debug_0", "graph", graphFile)
		if kind == "two" {
			cp(filepath.Join(sample, "npu"), "npu", "debug_1", "dump")
			cp(filepath.Join(sample, graphFile), "npu", "debug_1", "graph", graphFile)
		}
	case "overflow":
		cp(filepath.Join(repo, "testdata", "cases", filepath.FromSlash(name)), "overflow", "dump", sampleRun, "0", "net", "1", "0")
	case "converted":
		// An overflow of which only the JSON of the record is left.
		to := []string{"overflow", "dump", sampleRun}
		cp(filepath.Join(repo, "testdata", "cases", "ovf_old", "expected", "n1", "files", "out", "Opdebug.Node_OpDebug.2.9.1630000000000800.output.0.json"), append(to, "Opdebug.Node_OpDebug.2.9.1630000000000800.output.0.json")...)
		dump := "Mul.scope_mul_2.59.563.1630000000000803"
		cp(filepath.Join(repo, "testdata", "cases", "ovf_old", "in", "dump", dump), append(to, dump)...)
	case "upstream":
		// An operator of the sample whose input is infinite already.
		overflowAt(t, filepath.Join("precision_data", "overflow", "dump", sampleRun, "0", "sample_net_1", "1", "0"), name)
	case "rewrite":
		// "rewrite FILE OLD NEW" changes a file of the data folder.
		f := strings.Fields(name)
		path := filepath.Join("precision_data", filepath.FromSlash(f[0]))
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), f[1]) {
			t.Fatalf("%s: no %q, %v", path, f[1], err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), f[1], f[2])), 0o600); err != nil {
			t.Fatal(err)
		}
	case "renamed":
		// A dump whose name was too long for the file system of the NPU.
		filepath.WalkDir("precision_data", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != name {
				return err
			}
			const digits = "1234567890123456789"
			if err := os.Rename(path, filepath.Join(filepath.Dir(path), digits)); err != nil {
				t.Fatal(err)
			}
			return os.WriteFile(filepath.Join(filepath.Dir(path), "mapping.csv"), []byte(digits+","+name+"\n"), 0o600)
		})
	case "remove":
		if err := os.RemoveAll(filepath.Join("precision_data", filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	case "file":
		from, to, _ := strings.Cut(name, " ")
		copyTree(t, filepath.Join(repo, "repl", "testdata", from), filepath.FromSlash(to))
	case "h5":
		// A PyTorch dump of each side; that of the NPU is the newer of two.
		cp(filepath.Join(repo, "compare", "torch", "testdata", "full_npu.h5"), "pt", "npu", "new.h5")
		cp(filepath.Join(repo, "compare", "torch", "testdata", "load_npu.h5"), "pt", "npu", "old.h5")
		cp(filepath.Join(repo, "compare", "torch", "testdata", "full_gpu.h5"), "pt", "gpu", "gpu.h5")
		if err := os.Chtimes(filepath.Join("precision_data", "pt", "npu", "old.h5"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	case "none":
	default:
		t.Fatalf("there is no data %q", what)
	}
}

// overflowAt writes the record of an overflow in block2/conv and the dump of
// that operator "without inputs", or of conv1 with "two inputs".
func overflowAt(t testing.TB, dir, how string) {
	t.Helper()
	inf := float32(math.Inf(1))
	half := func(v ...float32) []dumptest.Tensor {
		return []dumptest.Tensor{{Type: dumptest.Float16, Format: dumptest.ND, Shape: []int64{int64(len(v))}, Data: dumptest.Halves(v)}}
	}
	op := dumptest.Dump{OpName: "block2/conv", Inputs: half(1, inf, 3), Outputs: half(2, inf, inf)}
	switch how {
	case "without inputs":
		op.Inputs = nil
	case "two inputs":
		op.OpName, op.Inputs = "conv1", append(op.Inputs, op.Inputs[0])
	}
	record := make([]byte, 2048) // the old form: AI Core at 256, its status at 1040
	binary.LittleEndian.PutUint64(record[256+8:], 1)
	binary.LittleEndian.PutUint64(record[256+16:], 11)
	binary.LittleEndian.PutUint64(record[1040:], 0x20|0x100)
	debug := dumptest.Dump{OpName: "Node_OpDebug", Outputs: []dumptest.Tensor{{Type: 4, Format: dumptest.ND, Shape: []int64{2048}, Data: record}}}
	for name, d := range map[string]dumptest.Dump{
		"Conv2D.block2_conv.11.1.1630000000011005":  op,
		"Opdebug.Node_OpDebug.1.1.1630000000011000": debug,
	} {
		if err := d.Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
