package dump

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder makes a folder of files; "name=content", content is optional. A name
// that ends in a slash is a folder.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listing is "key: file file | key: file".
func listing(f *Folder) string {
	var ops []string
	for _, op := range f.Ops {
		s := op.Key + ":"
		for _, e := range op.Files {
			s += " " + filepath.Base(e.Path)
		}
		ops = append(ops, s)
	}
	return strings.Join(ops, " | ")
}

func warnings(f *Folder) string {
	var out []string
	for _, w := range f.Warnings {
		out = append(out, fmt.Sprintf("%s (%d) %s", filepath.Base(w.Path), w.Code, w.Text))
	}
	return strings.Join(out, "\n")
}

func TestScan(t *testing.T) {
	for name, c := range map[string]struct {
		files     []string
		options   Options
		kind      Kind
		numpy     bool
		quantised bool
		want      string
		warn      []string // parts of the warnings, in order
	}{
		"newest last": {
			files: []string{"Relu.b.1.1.1630000000000900", "Relu.b.1.1.1630000000000500", "Relu.a.1.1630000000000700", "mapping.csv", "convert_failed_file_list.txt", "sub/Relu.c.1.1.1630000000000001"},
			kind:  Offline, want: "a: Relu.a.1.1630000000000700 | b: Relu.b.1.1.1630000000000500 Relu.b.1.1.1630000000000900",
		},
		"times of every form": {
			files: []string{"R.a.1.1.1630000000000300.0.0.0.0", "R.a.1.1630000000000200.0.0.0.9", "R.a.1.1.1630000000000100", "R.a.1.1630000000000400", "R.a.1.1.55"},
			kind:  Offline,
			want:  "a: R.a.1.1.55 R.a.1.1.1630000000000100 R.a.1.1630000000000200.0.0.0.9 R.a.1.1.1630000000000300.0.0.0.0 R.a.1.1630000000000400",
			warn:  []string{"R.a.1.1.55 (0) the time 55"},
		},
		"same time": {
			files: []string{"R.a.2.1.1630000000000300", "R.a.1.1.1630000000000300"}, kind: Offline,
			want: "a: R.a.1.1.1630000000000300 R.a.2.1.1630000000000300",
		},
		"no times": {
			files: []string{"R.a.1.1.9", "R.a.1.1.10"}, kind: Offline, want: "a: R.a.1.1.9 R.a.1.1.10", warn: []string{"R.a.1.1.10", "R.a.1.1.9"},
		},
		"foreign files": {
			files: []string{"Add.x.1.1.1630000000000100", "notes.md", "Add.x.1.2.txt", "Add.x.1.1.1630000000000100.output.0.npy", "Add.y.1.1.1630000000000100.7.0.0.0", "Add.x.1.1.1630000000000100.csv"},
			kind:  Offline, want: "x: Add.x.1.1.1630000000000100",
			warn: []string{"csv (0) passed over: a file of the kind statistics", "npy (0) passed over: a file of the kind converted tensor",
				"Add.x.1.2.txt (0) passed over", "7.0.0.0 (37) passed over: task type 7", "notes.md (0) passed over"},
		},
		"arrays": {
			files: []string{"a.b.0.1630000000000100.npy", "a.b.0.1630000000000100.npy.txt", "a_b.1.1630000000000100.npy", "c.0.1630000000000900.npy", "c.0.1630000000000100.npy", "x.npy"},
			kind:  Standard, numpy: true,
			want: "a_b.0: a.b.0.1630000000000100.npy | a_b.1: a_b.1.1630000000000100.npy | c.0: c.0.1630000000000100.npy c.0.1630000000000900.npy",
			warn: []string{"x.npy (0) passed over: expected name.index.time.npy"},
		},
		"arrays of two operators with one key": {
			files: []string{"a.b.0.1630000000000100.npy", "a_b.0.1630000000000200.npy"}, kind: Standard, numpy: true,
			want: "a_b.0: a.b.0.1630000000000100.npy a_b.0.1630000000000200.npy", warn: []string{"same operator"},
		},
		"quantised arrays": {
			files: []string{"a_quant.0.1630000000000100.npy"}, kind: Quant, numpy: true, quantised: true, want: "a_quant.0: a_quant.0.1630000000000100.npy",
		},
		"quantised dumps": {
			files: []string{"AscendQuant.a_quant_layer.1.1.1630000000000100", "R.my_quantity.1.1.1630000000000100"}, kind: Offline, quantised: true,
			want: "a_quant_layer: AscendQuant.a_quant_layer.1.1.1630000000000100 | my_quantity: R.my_quantity.1.1.1630000000000100",
		},
		"golden dumps": {
			files: []string{"a.0.1630000000000100.pb", "b_quant.0.1630000000000100.pb"}, kind: Standard, quantised: true,
			want: "a.0: a.0.1630000000000100.pb | b_quant.0: b_quant.0.1630000000000100.pb",
		},
		"quant files": {files: []string{"a.0.1630000000000100.quant"}, kind: Quant, want: "a.0: a.0.1630000000000100.quant"},
		"a stray array": {
			files: []string{"R.a.1.1.1630000000000300", "R.b.1.1.1630000000000300", "x.0.1630000000000100.npy"}, kind: Offline,
			want: "a: R.a.1.1.1630000000000300 | b: R.b.1.1.1630000000000300", warn: []string{"x.0.1630000000000100.npy (18) passed over: a numpy array among device dumps"},
		},
		"slices": {
			files: []string{"M.m_lxslice10.6.1.1630000000000100.4.4.0.0", "M.m_lxslice9.6.1.1630000000000100.4.4.0.0",
				"R.g_sgt_graph_0_auto.5.1.1630000000000000.4.3.11.0", "R.g_sgt_graph_0_auto.5.1.1630000000000000.4.3.2.0", "R.x_lxslice1_y.5.1.1630000000000000"},
			kind: Offline,
			want: "auto: R.g_sgt_graph_0_auto.5.1.1630000000000000.4.3.2.0 R.g_sgt_graph_0_auto.5.1.1630000000000000.4.3.11.0" +
				" | m: M.m_lxslice9.6.1.1630000000000100.4.4.0.0 M.m_lxslice10.6.1.1630000000000100.4.4.0.0",
			warn: []string{"R.x_lxslice1_y.5.1.1630000000000000 (0) passed over: a slice"},
		},
		"slices by rules": {
			files: []string{"R.x_lxslice1_y.5.1.1630000000000000"}, options: Options{Rules: true}, kind: Offline, want: "x_y: R.x_lxslice1_y.5.1.1630000000000000",
		},
		"slices apart": {
			files: []string{"M.m_lxslice1.6.1.1630000000000100.4.4.0.0", "M.m_lxslice0.6.1.1630000000000100.4.4.0.0"}, options: Options{Slices: true}, kind: Offline,
			want: "m_lxslice0: M.m_lxslice0.6.1.1630000000000100.4.4.0.0 | m_lxslice1: M.m_lxslice1.6.1.1630000000000100.4.4.0.0",
		},
		"renamed": {
			files: []string{"123", "456", "789.npy", "mapping.csv=123,R.a.1.1.1630000000000300\nbroken\n456,a,b\n\n7,../x.1.1.1630000000000300\r\n", "R.a.1.1.1630000000000200"},
			kind:  Offline, want: "a: R.a.1.1.1630000000000200 123",
			warn: []string{"456 (0) a renamed file", "789.npy (0) a renamed", "mapping.csv (0) line 2", "line 3", "line 5"},
		},
		"renamed arrays": {
			files: []string{"123.npy", "mapping.csv=123.npy,long.name.0.1630000000000300.npy\n"}, kind: Standard, numpy: true, want: "long_name.0: 123.npy",
		},
		"exceptions": {
			files: []string{"R.a.1.20210901120000123", "exception_info.1.5.20210901120000123"}, kind: Offline, want: "a: R.a.1.20210901120000123",
			warn: []string{"does not tell the operator"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Scan(folder(t, c.files...), c.options)
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind != c.kind || f.Numpy != c.numpy || f.Quantised != c.quantised || (f.Mixture != nil) != (name == "a stray array") {
				t.Errorf("kind %s numpy %t quantised %t mixture %v", f.Kind, f.Numpy, f.Quantised, f.Mixture)
			}
			if got := listing(f); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
			text := warnings(f)
			if len(f.Warnings) != len(c.warn) {
				t.Errorf("warnings:\n%s", text)
			}
			for rest, i := text, 0; i < len(c.warn); i++ {
				at := strings.Index(rest, c.warn[i])
				if at < 0 {
					t.Fatalf("warnings:\n%s\nwant %q in this place", text, c.warn[i])
				}
				rest = rest[at+len(c.warn[i]):]
			}
		})
	}
}

func TestFindInFolder(t *testing.T) {
	dumps, err := Scan(folder(t, "R.scope_a_b.1.1.1630000000000100"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"scope/a.b", "scope_a_b", "scope a\\b"} {
		if op := dumps.Op(name); op == nil || op.Newest().Name.OpType != "R" {
			t.Errorf("%s: %v", name, op)
		}
	}
	arrays, err := Scan(folder(t, "scope.a.b.0.1630000000000100.npy", "scope.a.b.1.1630000000000100.npy"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if op := arrays.Output("scope/a.b", 1); op == nil || op.Newest().Name.Index != 1 {
		t.Errorf("%v", op)
	}
	if arrays.Output("scope/a.b", 2) != nil || arrays.Op("none") != nil {
		t.Error("something is found that is not there")
	}
	arrays.SetQuantised(true)
	if arrays.Kind != Quant {
		t.Error("arrays of a quantised network are not Quant")
	}
	dumps.SetQuantised(true)
	if dumps.Kind != Offline || !dumps.Quantised {
		t.Error("dumps of a quantised network are dumps")
	}
}

func TestScanRefuses(t *testing.T) {
	dir := folder(t, "empty/", "foreign/readme", "file", "debug/Opdebug.Node_OpDebug.2.7.1630000000000100")
	for name, c := range map[string]struct {
		code int
		want string
	}{
		"none": {CodePath, ""}, "file": {CodePath, "not a folder"}, "empty": {CodeFolder, "no files"},
		"foreign": {CodeFolder, "none of the 1 files in this folder is a dump; the first is"}, "debug": {CodeFolder, "1 overflow records"},
	} {
		path := filepath.Join(dir, name)
		f, err := Scan(path, Options{})
		if Code(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if (f != nil) != (name == "debug") || f != nil && (len(f.Debug) != 1 || f.Kind != Debug) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestScanUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is unreadable to root")
	}
	dir := folder(t, "R.a.1.1.1630000000000100")
	os.Chmod(dir, 0)
	defer os.Chmod(dir, 0o755)
	if _, err := Scan(dir, Options{}); Code(err) != CodePath {
		t.Errorf("%v", err)
	}
}

// An entry opens under its real name.
func TestRenamedFileOpens(t *testing.T) {
	dir := folder(t, "123", "mapping.csv=123,x.0.1630000000000100.npy\n")
	raw, err := os.ReadFile("npy/testdata/le_f4.npy")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "123"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Scan(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Output("x", 0).Newest().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Form != Numpy || r.Name.OpName != "x" || filepath.Base(r.Path) != "123" {
		t.Errorf("%+v", r.File)
	}
}

func TestLinks(t *testing.T) {
	dir := folder(t, "real/R.a.1.1.1630000000000100", "data/")
	if err := os.Symlink(filepath.Join(dir, "real", "R.a.1.1.1630000000000100"), filepath.Join(dir, "data", "R.b.1.1.1630000000000100")); err != nil {
		t.Skip("no links here")
	}
	os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "data", "R.folder.1.1.1630000000000100"))
	os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "data", "R.gone.1.1.1630000000000100"))
	f, err := Scan(filepath.Join(dir, "data"), Options{})
	if err != nil || listing(f) != "b: R.b.1.1.1630000000000100" {
		t.Errorf("%v %v", err, f)
	}
}

func TestResolve(t *testing.T) {
	one := folder(t, "npu/20210901120000/0/net/1/0/R.a.1.1.1630000000000100", "npu/20210901120000/0/net/1/0/log/x.txt", "npu/readme.txt", "golden/run/x.0.1.npy")
	data := filepath.Join(one, "npu", "20210901120000", "0", "net", "1", "0")
	for dir := data; dir != one; dir = filepath.Dir(dir) {
		got, choices, err := Resolve(dir)
		if err != nil || got != data || choices != nil {
			t.Errorf("%s: %s %v %v", dir, got, choices, err)
		}
	}
	got, choices, err := Resolve(one)
	want := []string{filepath.Join(one, "golden", "run"), data}
	if Code(err) != CodeFolder || got != "" || !slices.Equal(choices, want) || !strings.Contains(err.Error(), want[0]) {
		t.Errorf("%s %v %v", got, choices, err)
	}
	if got, _, err := Resolve(filepath.Join(one, "golden")); err != nil || got != want[0] {
		t.Errorf("%s %v", got, err)
	}
	// Dumps in a folder win over those further down.
	both := folder(t, "R.a.1.1.1630000000000100", "sub/R.b.1.1.1630000000000100")
	if got, _, err := Resolve(both); err != nil || got != both {
		t.Errorf("%s %v", got, err)
	}
	renamed := folder(t, "sub/123456789", "sub/mapping.csv")
	if got, _, err := Resolve(renamed); err != nil || got != filepath.Join(renamed, "sub") {
		t.Errorf("%s %v", got, err)
	}
	deep := folder(t, strings.Repeat("d/", maxDepth+1)+"R.a.1.1.1630000000000100", "file")
	for dir, code := range map[string]int{deep: CodeFolder, filepath.Join(deep, "none"): CodePath, filepath.Join(deep, "file"): CodePath} {
		if got, choices, err := Resolve(dir); Code(err) != code || got != "" || choices != nil {
			t.Errorf("%s: %s %v %v", dir, got, choices, err)
		}
	}
	var many []string
	for i := range 15 {
		many = append(many, fmt.Sprintf("%02d/R.a.1.1.1630000000000100", i))
	}
	if _, choices, err := Resolve(folder(t, many...)); len(choices) != 15 || !strings.HasSuffix(err.Error(), "and 5 more") {
		t.Errorf("%v %v", choices, err)
	}
}

// A folder of ten thousand operators, as a training step leaves it.
func BenchmarkScan(b *testing.B) {
	var files []string
	for i := range 10000 {
		files = append(files, fmt.Sprintf("Conv2D.scope_layer_%d_conv.%d.1.%d", i, i, 1630000000000000+i))
	}
	dir := folder(b, files...)
	for b.Loop() {
		if _, err := Scan(dir, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Reading the headers of small files, which is what a large network has many
// of.
func BenchmarkOpen(b *testing.B) {
	path := recorded(b, "net_conv_small/in/npu")
	f, err := Scan(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r, err := f.Ops[i%len(f.Ops)].Newest().Open()
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

func BenchmarkParseName(b *testing.B) {
	for b.Loop() {
		ParseName("Conv2D.resnet_v1_50_block1_unit_1_bottleneck_v1_conv1_Conv2D.12.1.1630000000000100")
	}
}

// What a folder holds of an output, and what it is, is asked of the folder.
func TestHolding(t *testing.T) {
	for name, c := range map[string]struct {
		file, word        string
		device, simulated bool
		held              []bool // outputs 0 and 1 of conv
	}{
		"dump":  {file: "Conv2D.conv.1.2.1700000000000000", word: "npu", device: true, held: []bool{true, true}},
		"array": {file: "conv.1.1700000000000000.npy", word: "numpy", held: []bool{false, true}},
		"quant": {file: "conv.1.1700000000000000.quant", word: "quantised", simulated: true, held: []bool{false, true}},
		"pb":    {file: "conv.0.1700000000000000.pb", word: Standard.String(), held: []bool{true, false}},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Scan(dir, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		held := []bool{f.Holding("conv", 0) != nil, f.Holding("conv", 1) != nil}
		if f.Device() != c.device || f.Simulated() != c.simulated || f.Described() != c.word || !slices.Equal(held, c.held) || f.Holding("relu", 0) != nil {
			t.Errorf("%s: device %v, simulated %v, %q, holds %v", name, f.Device(), f.Simulated(), f.Described(), held)
		}
	}
}
