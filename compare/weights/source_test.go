package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/testdata/workshop/dumptest"
)

// judged compares two paths and judges what was found.
func judged(t *testing.T, left, right string) *verdict.Judged {
	t.Helper()
	return judgedBy(t, left, right, nil)
}

// judgedBy does so by a mapping file.
func judgedBy(t *testing.T, left, right string, file *msprobe.Mapping) *verdict.Judged {
	t.Helper()
	if !checkpoint.Are(left, right) {
		t.Fatalf("%s and %s are not taken for sets of tensors", left, right)
	}
	s, err := Open(left, right, file)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opt := engine.Options{}
	opt.EnsureDefaults()
	out, err := engine.Run(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(out.Table, verdict.Options{})
}

// rooted are the roots with the kinds of reasons of their rows, "name kind".
func rooted(j *verdict.Judged) (list []string) {
	for i := range j.Roots {
		text := j.Operators[j.Roots[i].Operator].Op.Name
		for _, r := range j.Row(j.Worst(&j.Roots[i])).Reasons {
			text += " " + string(r.Kind)
		}
		list = append(list, text)
	}
	return list
}

// TestForeign: a network of Keras and the same of PyTorch, from files that the two wrote (testdata/frameworks), are paired by what
// each calls its weights, and a kernel by the order of its axes: an element that differs and a product that is square and transposed are
// the roots. Two of Keras are weights, too: one that moved a little is no activation within limits.
func TestForeign(t *testing.T) {
	made := "../../testdata/frameworks/made/"
	keras := made + "weights/pair.h5"
	for right, want := range map[string][]string{
		made + "torch/pair.pt":       nil,
		made + "torch/pair_wrong.pt": {"depth/depthwise_kernel weight-step", "square/kernel weight-transposed"},
	} {
		j := judged(t, keras, right)
		if got := rooted(j); !slices.Equal(got, want) || j.Coverage.Compared != 13 || j.Coverage.Expected != 13 {
			t.Errorf("%s: %d of %d compared, roots %q, expected %q", right, j.Coverage.Compared, j.Coverage.Expected, got, want)
		}
	}
	// Names of MindSpore, below a key; its products have the axes of PyTorch.
	mind, torch := &tensors{map[string][]int64{}, map[string][]float64{}}, &tensors{map[string][]int64{}, map[string][]float64{}}
	for i, words := range [][2]string{{"net.embed.embedding_table", "embed.weight"}, {"net.bn.gamma", "bn.weight"}, {"net.bn.beta", "bn.bias"},
		{"net.bn.moving_mean", "bn.running_mean"}, {"net.bn.moving_variance", "bn.running_var"}, {"net.fc.weight", "fc.weight"}} {
		v := []float64{1 + float64(i), 2, 3, 5}
		mind.put(words[0], v, 2, 2)
		torch.put(words[1], v, 2, 2)
	}
	torch.v["bn.running_var"] = []float64{1, 2, 3, 4}
	j := judged(t, mind.open(t, "F32").Path, torch.open(t, "F32").Path)
	if got := rooted(j); len(got) != 1 || !strings.HasPrefix(got[0], "net.bn.moving_variance ") || j.Coverage.Compared != 6 || j.Coverage.Expected != 6 {
		t.Errorf("MindSpore: %d of %d compared, roots %q", j.Coverage.Compared, j.Coverage.Expected, got)
	}
	whole, err := os.ReadFile(keras)
	if err != nil {
		t.Fatal(err)
	}
	set, err := checkpoint.Open(keras)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	moved := slices.Clone(whole)
	for _, w := range set.Tensors {
		e, err := w.Elements()
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Bytes(0, w.Len())
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(whole, b)
		for i := range w.Len() {
			moved[at+int(i)*4] ^= 64 // of the fraction: 1e-5
		}
	}
	path := filepath.Join(t.TempDir(), "moved.h5")
	if err := os.WriteFile(path, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	if j := judged(t, keras, path); j.Verdict != verdict.Bad {
		t.Errorf("all weights have moved: %s", j.Verdict)
	}
}

// TestKnown: what a pair is comes out the same from the sums of the engine as from reading it once more, in tensors of more tiles than are
// sampled, too; where the sums do not tell, it is read.
func TestKnown(t *testing.T) {
	const n = (mostSampled + 30) * tile
	for name, change := range map[string]func(x float64, i int, r *rand.Rand) float64{
		"step":     func(x float64, i int, r *rand.Rand) float64 { return x + 1e-4*float64(1-2*r.IntN(2)) },
		"few":      func(x float64, i int, _ *rand.Rand) float64 { return x + map[bool]float64{true: 1e-5}[i%50 == 0] },
		"near":     func(x float64, i int, r *rand.Rand) float64 { return x + 0.05*r.NormFloat64() },
		"unlike":   func(_ float64, i int, r *rand.Rand) float64 { return r.NormFloat64() },
		"constant": func(float64, int, *rand.Rand) float64 { return 0.5 },
		"zeros":    func(float64, int, *rand.Rand) float64 { return 0 },
		"NaN": func(x float64, i int, _ *rand.Rand) float64 {
			return map[bool]float64{true: math.NaN(), false: x}[i == n/2]
		},
	} {
		r := rand.New(rand.NewPCG(5, 6))
		left, right := make([]float64, n), make([]float64, n)
		for i := range left {
			left[i] = float64(float32(r.NormFloat64()))
			right[i] = change(left[i], i, r)
		}
		var sides [2]*checkpoint.Set
		for i, v := range [][]float64{left, right} {
			one := &tensors{map[string][]int64{}, map[string][]float64{}}
			one.put("some.weight", v, n/tile, tile)
			sides[i] = one.open(t, "F32")
		}
		report, err := Compare(context.Background(), sides[0], sides[1], 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(sides[0].Path, sides[1].Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := engine.Options{}
		opt.EnsureDefaults()
		if _, err := engine.Run(context.Background(), s, opt); err != nil {
			t.Fatal(err)
		}
		got, want := s.pairs[0].Tensor, report.Tensors[0]
		if got.Kind != want.Kind || got.Equal != want.Equal || math.Abs(got.Rel-want.Rel) > 1e-9*want.Rel || want.Rel < nearRel && math.Abs(got.Even-want.Even) > 0.01 || got.Value != want.Value {
			t.Errorf("%s: %+v, expected %+v", name, got, want)
		}
		s.Close()
	}
}

// TestMapped: a mapping file pairs weights under names that nothing else brings together, by the whole of a name or a part of it, and
// before their own names do; a kernel beside a weight is turned. Lines that nothing goes by are told, and files that are none.
func TestMapped(t *testing.T) {
	made := "../../testdata/frameworks/made/"
	opened := func(path string) *checkpoint.Set {
		t.Helper()
		set, err := checkpoint.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { set.Close() })
		return set
	}
	file := func(text string) *msprobe.Mapping {
		t.Helper()
		path := filepath.Join(t.TempDir(), "map.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := msprobe.ReadNames(path)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	// copied takes a tensor over under another name, with its axes in another order.
	copied := func(to *tensors, name string, w *checkpoint.Tensor, axes []int) {
		t.Helper()
		w, err := w.Permuted(axes...)
		if err != nil {
			t.Fatal(err)
		}
		to.put(name, numbersOf(t, w), w.Shape...)
	}
	empty := func() *tensors { return &tensors{map[string][]int64{}, map[string][]float64{}} }

	keras, other := made+"weights/pair.h5", empty() // the network of PyTorch under names of its own
	text := ""
	for _, w := range opened(made + "torch/pair.pt").Tensors {
		if module, word, _ := strings.Cut(w.Name, "."); w.Type == dtype.Float32 { // not the counter of batches
			copied(other, "my.x"+module+"."+word, w, []int{0, 1, 2, 3}[:len(w.Shape)])
			if line := module + ": my.x" + module + "\n"; !strings.Contains(text, line) {
				text += line
			}
		}
	}
	right := other.open(t, "F32").Path
	if j := judged(t, keras, right); j.Coverage.Compared != 0 {
		t.Errorf("without a file %d are compared", j.Coverage.Compared)
	}
	j := judgedBy(t, keras, right, file(text+"nothing: at.all\n"))
	if j.Verdict != verdict.Good || j.Coverage.Compared != 13 || j.Coverage.Expected != 13 {
		t.Errorf("%s, %d of %d compared, roots %q", j.Verdict, j.Coverage.Compared, j.Coverage.Expected, rooted(j))
	}
	if why := j.Table.Meta.Pairing.Why; len(why) != 1 || why[0].Kind != result.MappingUnused || why[0].Args[3] != "nothing: at.all" {
		t.Errorf("%v", why)
	}
	// Against what names say: one of a batch norm's numbers beside another.
	j = judgedBy(t, keras, right, file("norm/beta: my.xnorm.running_mean\n"+text))
	if got := rooted(j); j.Verdict != verdict.Bad || !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "norm/beta ") }) {
		t.Errorf("another partner: %s, roots %q", j.Verdict, got)
	}

	// Keras numbers the weights of a layer in its newer files.
	numbered := opened(made + "weights/net.keras")
	other, text = empty(), ""
	for _, w := range numbered.Tensors {
		if axes := [][]int{nil, {0}, {1, 0}, nil, {3, 2, 0, 1}}[len(w.Shape)]; axes != nil && strings.HasPrefix(w.Name, "layers/") {
			module, word := last(w.Name)
			name := strings.ReplaceAll(module, "/", ".") + map[bool]string{false: "n" + word, true: "weight"}[len(axes) > 1]
			copied(other, name, w, axes)
			text += w.Name + ": " + name + "\n"
		}
	}
	j = judgedBy(t, numbered.Path, other.open(t, "F32").Path, file(text))
	if n := strings.Count(text, "\n"); n < 8 || j.Coverage.Compared != n || slices.ContainsFunc(rooted(j), func(s string) bool { return strings.HasPrefix(s, "layers/") }) {
		t.Errorf("numbered: %d of %d compared, %d mapped, roots %q", j.Coverage.Compared, j.Coverage.Expected, n, rooted(j))
	}

	for text, want := range map[string]string{"": "found nothing", "- a\n": "expected a mapping of names", "a: [b]\n": "line 1: found a list, expected a name", "a: b\na: c\n": "line 2", "a: {\n": ""} {
		path := filepath.Join(t.TempDir(), "map.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := msprobe.ReadNames(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestSource: whatever the right side calls and fuses its weights, those that are others are the roots, however little they differ,
// and no other; what computes the same is none.
func TestSource(t *testing.T) {
	network := decoder(7)
	left := network.open(t, "BF16").Path
	down := "model.layers.0.mlp.down_proj.weight"
	for name, c := range map[string]struct {
		change func(n *tensors) *tensors
		typ    string
		want   []string
	}{
		"same":           {func(n *tensors) *tensors { return n }, "BF16", nil},
		"wider":          {func(n *tensors) *tensors { return n }, "F32", nil},
		"fused":          {func(n *tensors) *tensors { return fused(n, false) }, "BF16", nil},
		"of Megatron":    {func(n *tensors) *tensors { return fused(n, true) }, "BF16", nil},
		"a hundredth":    {func(n *tensors) *tensors { return scale(n, down, 1.01) }, "F32", []string{down + " weight-near"}},
		"one in a fused": {func(n *tensors) *tensors { return fused(scale(n, down, 1.01), false) }, "F32", []string{down + " weight-near"}},
		"with an optimiser": {func(n *tensors) *tensors {
			for name := range network.v {
				n.put("optimizer.state."+name+".exp_avg", n.v[name], n.shape[name]...)
				n.put("optimizer.state."+name+".exp_avg_sq", n.v[name], n.shape[name]...)
			}
			return n
		}, "BF16", nil},
		"a row": {func(n *tensors) *tensors {
			for i := range 32 {
				n.v["model.embed_tokens.weight"][i] *= 50
			}
			return n
		}, "F32", []string{"model.embed_tokens.weight weight-near"}},
		"never loaded": {func(n *tensors) *tensors { return scale(n, down, 0) }, "BF16", []string{down + " note-all-zero note-zero-golden weight-constant"}},
		"missing":      {func(n *tensors) *tensors { delete(n.v, down); delete(n.shape, down); return n }, "BF16", nil},
		"of another shape": {func(n *tensors) *tensors {
			n.shape["model.norm.weight"] = []int64{16}
			n.v["model.norm.weight"] = n.v["model.norm.weight"][:16]
			return n
		},
			"BF16", []string{"model.norm.weight stored-shape shapes-differ"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := judged(t, left, c.change(network.clone()).open(t, c.typ).Path)
			if got := rooted(j); !slices.Equal(got, c.want) {
				t.Errorf("roots %q, expected %q", got, c.want)
			}
			if want := map[bool]verdict.Verdict{true: verdict.Good, false: verdict.Bad}[c.want == nil]; j.Verdict != want {
				t.Errorf("%s, expected %s", j.Verdict, want)
			}
			if lost := j.Coverage.Expected - j.Coverage.Compared; name == "missing" && lost != 1 || name != "missing" && name != "of another shape" && lost != 0 {
				t.Errorf("%d tensors were not compared", lost)
			}
		})
	}
}

// scale multiplies the elements of a tensor.
func scale(n *tensors, name string, by float64) *tensors {
	for i := range n.v[name] {
		n.v[name][i] *= by
	}
	return n
}

// TestNested: a network below a key of a training's checkpoint, as torch.save wrote it, is paired with the network.
func TestNested(t *testing.T) {
	made := filepath.Join("..", "..", "testdata", "frameworks", "made", "torch")
	for _, c := range [][2]string{{"training.pt", "state.pt"}, {"state.safetensors", "training.pt"}, {"training.pt", "training.pt"}, {"state.pt", "module.pt"}} {
		s, err := Open(filepath.Join(made, c[0]), filepath.Join(made, c[1]), nil)
		if err != nil {
			t.Fatal(err)
		}
		paired := 0
		for _, p := range s.pairs {
			if p.a != nil && p.b != nil {
				paired++
			}
		}
		if want := map[bool]int{true: 5}[c[1] != "module.pt"]; paired != want || want > 0 && len(s.pairs) != want {
			t.Errorf("%v: %d of %d tensors are paired", c, paired, len(s.pairs))
		}
		s.Close()
	}
}

// TestArrays: a folder of golden arrays as one side, with the names of files. What is no weight keeps the limits of the profile; where
// most arrays are equal, one that is not is suspect all the same.
func TestArrays(t *testing.T) {
	write := func(change func(name string, v []float32)) string {
		dir := t.TempDir()
		for i, name := range []string{"block_conv", "block_relu", "top"} {
			v := make([]float32, 64)
			for k := range v {
				v[k] = float32((k*37+i*11)%64) - 20
			}
			change(name, v)
			if err := dumptest.WriteNpy(filepath.Join(dir, name+".0.1700000000000000.npy"), "<f4", []int64{8, 8}, dumptest.Floats(v)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	file := func(dir string) string {
		s, err := checkpoint.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		n := &tensors{map[string][]int64{}, map[string][]float64{}}
		for _, x := range s.Tensors {
			n.put(strings.Replace(x.Name, "block_", "block/", 1)+":0", numbersOf(t, x), x.Shape...)
		}
		return n.open(t, "F32").Path
	}
	plain := func(string, []float32) {}
	left := write(plain)
	noisy := func(_ string, v []float32) {
		for i := range v {
			v[i] *= 1 + 1e-4*float32(i%3)
		}
	}
	few := func(name string, v []float32) {
		if name == "block_relu" {
			v[5] += 0.01
		}
	}
	for name, c := range map[string]struct {
		change func(string, []float32)
		want   verdict.Verdict
		roots  []string
	}{
		"same":      {plain, verdict.Good, nil},
		"all noisy": {noisy, verdict.Good, nil},
		"one":       {few, verdict.Suspect, []string{"block_relu stored-differs"}},
	} {
		j := judged(t, left, file(write(c.change)))
		if got := rooted(j); j.Verdict != c.want || !slices.Equal(got, c.roots) || j.Coverage.Compared != 3 {
			t.Errorf("%s: %s, roots %q, %d compared; expected %s, %q, 3", name, j.Verdict, got, j.Coverage.Compared, c.want, c.roots)
		}
	}
}

// TestNoSets: what is no set of tensors is told in its own words, and not run.
func TestNoSets(t *testing.T) {
	dir := t.TempDir()
	good := decoder(1).open(t, "BF16").Path
	var program bytes.Buffer // an archive as torch.save writes it, with a call in place of a tensor
	z := zip.NewWriter(&program)
	for name, content := range map[string]string{"a/version": "3\n", "a/data.pkl": "\x80\x02}q\x00X\x01\x00\x00\x00wcposix\nsystem\nX\x05\x00\x00\x00false\x85Rs."} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ content, want string }{
		"a.pkl": {"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n.", "a pickle of Python"},
		"a.bin": {"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01K\x01s.", "a pickle of Python"},
		"a.txt": {"conv1 0.5", "expected a file of tensors"},
		"empty": {"", "expected a file of tensors"},
		"a.pt":  {program.String(), "found no tensors in it"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]string{{path, good}, {good, path}} {
			if s, err := Open(pair[0], pair[1], nil); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, %v; expected %q and the path", name, s, err, c.want)
			}
		}
	}
	objects := filepath.Join(dir, "objects.npy")
	head := "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	if err := os.WriteFile(objects, append([]byte("\x93NUMPY\x01\x00\x76\x00"+head), bytes.Repeat([]byte{0}, 40)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(objects, good, nil); err == nil || !strings.Contains(err.Error(), "Python objects") {
		t.Errorf("objects: %v", err)
	}
}

// TestUnreadOnce: what is damaged is said with the file's name once.
func TestUnreadOnce(t *testing.T) {
	network := decoder(7)
	left, right := network.open(t, "BF16").Path, network.open(t, "BF16").Path
	s, err := Open(left, right, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(left, 4000); err != nil { // behind the header, which has been read
		t.Fatal(err)
	}
	opt := engine.Options{}
	opt.EnsureDefaults()
	out, err := engine.Run(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for i := range out.Table.Rows {
		if d := out.Table.Rows[i].Damage; d != nil {
			damaged++
			if text := strings.Join(d.Reason.Args, ": "); strings.Count(text, left) != 1 {
				t.Errorf("the file is named more than once: %s", text)
			}
		}
	}
	if damaged == 0 {
		t.Error("nothing damaged")
	}
}

// numbersOf are the elements of a tensor.
func numbersOf(t *testing.T, w *checkpoint.Tensor) []float64 {
	t.Helper()
	e, err := w.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]float64, w.Len())
	if err := e.Read(list, 0); err != nil {
		t.Fatal(err)
	}
	return list
}
