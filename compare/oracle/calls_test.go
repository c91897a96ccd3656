package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/dump/torch"
	catalogue "precision/op"
)

// callCase is a call of testdata/recordings.json.gz.
type callCase struct {
	Name, Note         string
	Args, Outputs      []caseValue
	Kwargs, Parameters map[string]caseValue
	Gradients, Back    []caseValue
	Loose              bool
}

type caseValue struct {
	Tensor *struct {
		DType string
		Shape []int64
		Hex   string
	}
	Leaf json.RawMessage
	List *[]caseValue
	None bool
}

func callCases(t testing.TB) []callCase {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "recordings.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []callCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return append(all.Cases, textCases(t)...)
}

// recorder writes recordings as msprobe does.
type recorder struct {
	t       testing.TB
	dir     string
	entries []string
	count   map[string]int
	task    string
	// statistics, if set, are written in place of files, with both beside them.
	statistics, both bool
	// damage, if set, changes the bytes of a tensor.
	damage func(place string, b []byte)
	files  []string
	// shared, if set, are files by their content, so that each is written once.
	shared map[string]string
	// parts saves every tensor as a part of a larger one.
	parts bool
	// crashes: a defect is what is tried.
	crashes bool
}

func newRecorder(t testing.TB) *recorder {
	r := &recorder{t: t, dir: filepath.Join(t.TempDir(), "step0", "rank0"), count: map[string]int{}, task: "tensor"}
	if err := os.MkdirAll(filepath.Join(r.dir, msprobe.TensorFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func quote(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// value is the JSON of a value, whose tensors are written as files.
func (r *recorder) value(v caseValue, place string) string {
	switch {
	case v.Tensor != nil:
		typ, ok := dtype.FromFramework(v.Tensor.DType)
		if !ok {
			r.t.Fatalf("type %s", v.Tensor.DType)
		}
		raw, err := hex.DecodeString(v.Tensor.Hex)
		if err != nil {
			r.t.Fatal(err)
		}
		if r.damage != nil {
			r.damage(place, raw)
		}
		if r.statistics {
			return r.statisticsOf(v, typ, raw, "")
		}
		file := place + ".pt"
		if r.shared != nil {
			key := v.Tensor.DType + fmt.Sprint(v.Tensor.Shape) + string(raw)
			if r.shared[key] == "" {
				r.shared[key] = strconv.Itoa(len(r.shared)) + ".pt"
			} else {
				return r.tensor(v, r.shared[key])
			}
			file = r.shared[key]
		}
		var b bytes.Buffer
		if r.parts {
			b.Write(savedNarrow(v.Tensor.DType, v.Tensor.Shape, append(raw, raw...)))
		} else if narrowFloat(typ) {
			b.Write(savedNarrow(v.Tensor.DType, v.Tensor.Shape, raw))
		} else if err := torch.Write(&b, typ, v.Tensor.Shape, bytes.NewReader(raw)); err != nil {
			r.t.Fatal(err)
		}
		path := filepath.Join(r.dir, msprobe.TensorFolder, file)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			r.t.Fatal(err)
		}
		r.files = append(r.files, path)
		if r.both {
			return r.statisticsOf(v, typ, raw, file)
		}
		return r.tensor(v, file)
	case v.List != nil:
		return r.list(*v.List, place)
	case v.None:
		return "null"
	}
	text := string(v.Leaf)
	for from, to := range map[string]string{`"inf"`: "Infinity", `"-inf"`: "-Infinity", `"nan"`: "NaN"} {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// tensor is the entry of a tensor whose elements are in a file.
func (r *recorder) tensor(v caseValue, file string) string {
	shape := v.Tensor.Shape
	if shape == nil {
		shape = []int64{}
	}
	return fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.%s","shape":%s,"Max":null,"Min":null,"Mean":null,"Norm":null,"data_name":%s}`,
		v.Tensor.DType, quote(shape), quote(file))
}

// statisticsOf is the entry of a tensor of which its statistics are known alone.
func (r *recorder) statisticsOf(v caseValue, typ dtype.Type, raw []byte, file string) string {
	n := len(raw) * 8 / typ.Bits()
	x := make([]float64, n)
	if n == 0 || typ.IsComplex() || !typ.Readable() || dtype.Widen64(typ, x, raw) == 0 {
		return strings.Replace(r.tensor(v, ""), `,"data_name":""`, "", 1)
	}
	hi, lo, sum, squares := math.Inf(-1), math.Inf(1), 0.0, 0.0
	for _, v := range x {
		hi, lo, sum, squares = max(hi, v), min(lo, v), sum+v, squares+v*v
	}
	number := strings.NewReplacer("+Inf", "Infinity", "-Inf", "-Infinity")
	text := r.tensor(v, file)
	for name, x := range map[string]float64{"Max": hi, "Min": lo, "Mean": sum / float64(n), "Norm": math.Sqrt(squares)} {
		text = strings.Replace(text, quote(name)+":null", quote(name)+":"+number.Replace(strconv.FormatFloat(x, 'g', -1, 64)), 1)
	}
	return strings.Replace(text, `,"data_name":""`, "", 1)
}

func (r *recorder) list(list []caseValue, place string) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = r.value(v, place+"."+strconv.Itoa(i))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (r *recorder) dict(m map[string]caseValue, place string) string {
	var parts, keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		parts = append(parts, quote(key)+":"+r.value(m[key], place+"."+key))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// name is that of the next call in a direction.
func entryName(c *callCase, n int, direction string) string {
	if strings.HasPrefix(c.Name, "Module.") {
		return fmt.Sprintf("%s.%s.%d", c.Name, direction, n)
	}
	return fmt.Sprintf("%s.%d.%s", c.Name, n, direction)
}

// add records a call, and its gradients.
func (r *recorder) add(c *callCase) (forward string) {
	n := r.count[c.Name]
	r.count[c.Name]++
	name := entryName(c, n, "forward")
	entry := fmt.Sprintf(`%s:{"input_args":%s,"input_kwargs":%s,"output":%s`, quote(name), r.list(c.Args, name+".input"),
		r.dict(c.Kwargs, name+".kwargs"), r.list(c.Outputs, name+".output"))
	if strings.HasPrefix(c.Name, "Module.") {
		entry += `,"parameters":` + r.dict(c.Parameters, name+".parameters")
	}
	r.entries = append(r.entries, entry+"}")
	if len(c.Gradients) > 0 {
		back := entryName(c, n, "backward")
		r.entries = append(r.entries, fmt.Sprintf(`%s:{"input":%s,"output":%s}`, quote(back), r.list(c.Gradients, back+".input"), r.list(c.Back, back+".output")))
	}
	return name
}

// makeDir makes the folders of a recorder.
func (r *recorder) makeDir() {
	if err := os.MkdirAll(filepath.Join(r.dir, msprobe.TensorFolder), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// writeAt is write for a recorder without a folder.
func (r *recorder) writeAt() []msprobe.Recording {
	r.makeDir()
	return r.write()
}

// write writes dump.json and finds the recording.
func (r *recorder) write() []msprobe.Recording {
	r.t.Helper()
	text := fmt.Sprintf(`{"task":%s,"level":"L1","framework":"pytorch","dump_data_dir":null,"data":{%s}}`, quote(r.task), strings.Join(r.entries, ","))
	if err := os.WriteFile(filepath.Join(r.dir, msprobe.DumpFile), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	list, err := msprobe.Find(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// check writes dump.json and checks the recording.
func (r *recorder) check() []Finding {
	r.t.Helper()
	findings, remarks, err := RecordingJob{Recordings: r.write(), Workers: 1}.Run(r.t.Context())
	if err != nil || len(remarks) > 0 {
		r.t.Fatal(err, remarks)
	}
	for _, f := range findings {
		if !r.crashes && slices.ContainsFunc(f.Reasons, crash) {
			r.t.Errorf("%s: %v", f.Op, f.Reasons)
		}
	}
	return findings
}

// Files that nothing is computed from, of text say, are read all the same: what is cut, or gone, is
// told.
func TestFilesThatNothingIsComputedFrom(t *testing.T) {
	for _, c := range []struct {
		name string
		text string // of the file, cut where it is shorter
		told int
	}{{"whole", "aabbccddaabbccdd", 0}, {"cut", "aabbcc", 1}, {"gone", "", 1}} {
		r := newRecorder(t)
		for _, call := range callCases(t)[:1] {
			r.add(&call)
		}
		r.entries[0] = strings.Replace(r.entries[0], `"input_kwargs":{`, `"input_kwargs":{"words":{"type":"numpy.ndarray","dtype":"<U2","shape":[2],"data_name":"words.npy"}`+
			map[bool]string{true: "", false: ","}[strings.Contains(r.entries[0], `"input_kwargs":{}`)], 1)
		if c.text != "" {
			header := "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }\n"
			b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
			if err := os.WriteFile(filepath.Join(r.dir, msprobe.TensorFolder, "words.npy"), append(b, header+c.text...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, bad, err := RecordingJob{Recordings: r.write(), Workers: 1}.Run(t.Context())
		if err != nil || len(bad) != c.told || c.told > 0 && !strings.HasSuffix(bad[0].Name, ":kwargs:words") {
			t.Errorf("%s: %v, %+v", c.name, err, bad)
		}
	}
}

// TestCalls: every recorded call is explained by its arguments.
func TestCalls(t *testing.T) {
	r := newRecorder(t)
	cases := callCases(t)
	mended := map[string]int{}
	for i := range cases {
		mended[r.add(&cases[i])] = mendedArguments(&cases[i])
	}
	findings := r.check()
	for _, f := range findings {
		if mended[f.Op] > 0 && (strings.HasPrefix(f.Type, "NPU.") || strings.HasPrefix(f.Type, "MindSpeed.")) {
			mended[f.Op]--
		}
	}
	for name, n := range mended {
		if n > 0 {
			t.Errorf("%s: %d of the arguments that it writes to have no finding", name, n)
		}
	}
	for _, f := range findings {
		if f.Verdict != OK {
			t.Errorf("%s output %d %s %v: %v, ratio %g, at %v expected %g, found %g, bound %g: %v", f.Op, f.Index, f.DType, f.Shape, f.Verdict, f.Ratio, f.Worst,
				f.Expected, f.Found, f.Bound, f.Reasons)
		}
	}
	if len(findings) < 300 {
		t.Errorf("%d outputs, expected all of the calls", len(findings))
	}
}

// mendedArguments are how many tensors a call returns and is given to write to.
func mendedArguments(c *callCase) (n int) {
	prefix, api, _ := strings.Cut(c.Name, ".")
	f, _, _, _ := called(prefix, api, "pytorch")
	if f == nil || f.mends == nil {
		return 0
	}
	for _, o := range c.Outputs {
		n += int(toNumber(o.Tensor != nil))
	}
	for i, name := range f.params {
		given := i < len(c.Args) && c.Args[i].Tensor != nil
		for key, v := range c.Kwargs {
			given = given || v.Tensor != nil && f.param(key) == name
		}
		n += int(toNumber(given && slices.Contains(f.mends, name)))
	}
	return n
}

// TestMendedWithout: a call that writes to arguments is judged for each of them by itself, and one that it should write to
// and was not given is not known.
func TestMendedWithout(t *testing.T) {
	missing := 0
	for _, c := range textCases(t) {
		f, _, _, _ := called("NPU", strings.TrimPrefix(c.Name, "NPU."), "pytorch")
		if f == nil || f.mends == nil {
			continue
		}
		for _, without := range f.mends {
			r := newRecorder(t)
			d := c
			d.Args, d.Kwargs = slices.Clone(c.Args), maps.Clone(c.Kwargs)
			at := slices.Index(f.params, without)
			if at < len(d.Args) && d.Args[at].Tensor != nil {
				d.Args[at] = caseValue{None: true}
			} else if d.Kwargs[without].Tensor != nil {
				d.Kwargs[without] = caseValue{None: true}
			} else {
				continue
			}
			missing++
			if d.Outputs = slices.DeleteFunc(slices.Clone(c.Outputs), func(v caseValue) bool { return v.Tensor != nil }); len(d.Outputs) == 0 {
				d.Outputs = []caseValue{{None: true}}
			}
			r.add(&d)
			found := r.check()
			unknown := 0
			for _, x := range found {
				unknown += int(toNumber(x.Verdict == Unknown))
			}
			if unknown == 0 {
				t.Errorf("%s without %s: %v", c.Name, without, found)
			}
		}
	}
	if missing < 5 {
		t.Errorf("%d arguments that calls write to", missing)
	}
}

// TestRowOfPacked: where a place of packed sequences is, some of which have no tokens.
func TestRowOfPacked(t *testing.T) {
	s := sequences{q: headed{packed: true, row: func(b, h, i int64) int64 { return i }}, lengths: []int64{0, 3, 0, 0, 2, 1, 0}, keys: make([]int64, 7)}
	for b := range s.lengths {
		s.starts = append(s.starts, 0)
		for _, n := range s.lengths[:b] {
			s.starts[b] += n
		}
	}
	for i, want := range []attended{{batch: 1}, {batch: 1, row: 1}, {batch: 1, row: 2}, {batch: 4}, {batch: 4, row: 1}, {batch: 5}} {
		if a := s.rowOf(0, 0, int64(i)); a.batch != want.batch || a.row != want.row || a.q != int64(i) {
			t.Errorf("place %d is row %d of sequence %d", i, a.row, a.batch)
		}
	}
	if a := s.rowOf(0, 0, 6); a.q >= 0 {
		t.Errorf("a place behind all sequences is %+v", a)
	}
}

// BenchmarkRowOfPacked: places of as many sequences as a server decodes at once.
func BenchmarkRowOfPacked(b *testing.B) {
	s := sequences{q: headed{packed: true, row: func(b, h, i int64) int64 { return i }}, lengths: ones(1 << 14), keys: make([]int64, 1<<14)}
	for i := range int64(1 << 14) {
		s.starts = append(s.starts, i)
	}
	for b.Loop() {
		for i := range int64(1 << 14) {
			s.rowOf(0, 0, i)
		}
	}
}

func crash(r result.Reason) bool { return r.Kind == Crashed }

// bitFlip changes the middle element: the top bit of an exponent, or the lowest of a whole
// number.
func bitFlip(c *caseValue) func(b []byte) {
	typ, _ := dtype.FromFramework(c.Tensor.DType)
	size := typ.Bits() / 8
	return func(b []byte) {
		at := len(b) / size / 2 * size
		if typ.IsFloat() {
			b[at+size-1] ^= 0x40
		} else {
			b[at] ^= 1
		}
	}
}

// unchanged are the functions whose results a thousandth does not change, overflows or is a rounding of (float16 in float32).
var unchanged = map[string]bool{"Torch.zeros": true, "NPU.npu_top_k_top_p": true, "Torch.nan_to_num": true, "NPU.npu_add_rms_norm_cast": true}

// nudge changes the middle element of a float32 tensor by a thousandth of the largest.
func nudge(b []byte) {
	y := make([]float64, len(b)/4)
	dtype.Widen64(dtype.Float32, y, b)
	largest := 0.0
	for _, v := range y {
		if a := math.Abs(v); a < math.Inf(1) {
			largest = max(largest, a)
		}
	}
	at := len(y) / 2
	binary.LittleEndian.PutUint32(b[4*at:], math.Float32bits(float32(y[at]+largest/1000)))
}

// TestCallsNudged changes one number of each float32 result by little: it is noticed.
// The products of a device may take fewer bits of their factors, and are suspect then.
func TestCallsNudged(t *testing.T) {
	cases := callCases(t)
	r := newRecorder(t)
	nudged := map[string]bool{}
	r.damage = func(place string, b []byte) {
		if nudged[place] {
			nudge(b)
		}
	}
	for i := range cases {
		c := &cases[i]
		if o := c.Outputs[0].Tensor; o != nil && o.DType == "float32" {
			nudged[entryName(c, r.count[c.Name], "forward")+".output.0"] = true
		}
		r.add(c)
	}
	for _, f := range r.check() {
		if nudged[f.Op+".output.0"] && f.Index == 0 && f.Verdict != Wrong && f.Verdict != Suspect && !slices.ContainsFunc(f.Reasons, hidden("forward")) && !unchanged[f.Type] {
			t.Errorf("%s: %v, ratio %g, %v", f.Op, f.Verdict, f.Ratio, f.Reasons)
		}
	}
}

// TestCallsDamaged changes one element in each output of each call: it is wrong then.
func TestCallsDamaged(t *testing.T) {
	cases := callCases(t)
	for direction, outputs := range map[string]func(c *callCase) []caseValue{
		"forward": func(c *callCase) []caseValue { return c.Outputs }, "backward": func(c *callCase) []caseValue { return c.Back }} {
		for k := range 7 {
			r := newRecorder(t)
			places := map[string]func(b []byte){}
			r.damage = func(place string, b []byte) {
				if f := places[place]; f != nil && len(b) > 0 {
					f(b)
				}
			}
			damaged := map[string]bool{}
			for i := range cases {
				c := &cases[i]
				list := outputs(c)
				if k >= len(list) || list[k].Tensor == nil {
					continue
				}
				name := entryName(c, r.count[c.Name], direction)
				places[name+".output."+strconv.Itoa(k)] = bitFlip(&list[k])
				damaged[name] = true
				r.add(c)
			}
			for _, f := range r.check() {
				if want := damaged[f.Op] && f.Index == k; want && f.Verdict != Wrong && !(f.Verdict == Unknown && slices.ContainsFunc(f.Reasons, hidden(direction))) {
					t.Errorf("%s output %d: %v after one element was changed: ratio %g, %v", f.Op, f.Index, f.Verdict, f.Ratio, f.Reasons)
				}
			}
		}
	}
}

// hidden tells reasons for which nothing can be known of a call.
func hidden(direction string) func(r result.Reason) bool {
	return func(r result.Reason) bool { return r.Kind == NotRecorded && direction == "forward" || r.Kind == Passed }
}

// TestCallsWithout takes the files of inputs away, empties them or puts another in their place, one of each call at a
// time: its results are unknown then, and the file is told once, also where nothing is missed without it.
func TestCallsWithout(t *testing.T) {
	cases := callCases(t)
	damage := []func(file string) error{os.Remove, func(file string) error { return os.Truncate(file, 0) }, func(file string) error {
		var b bytes.Buffer
		if err := torch.Write(&b, dtype.Int16, []int64{3, 1, 7}, bytes.NewReader(make([]byte, 42))); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o600)
	}}
	spared := 0
	for k := range 5 {
		r := newRecorder(t)
		without, told := map[string]bool{}, map[string]int{}
		for i := range cases {
			c := &cases[i]
			from := len(r.files)
			name := r.add(c)
			var inputs []string
			for _, f := range r.files[from:] {
				base := filepath.Base(f)
				if strings.Contains(base, ".forward") && !strings.Contains(base, ".output.") {
					inputs = append(inputs, f)
				}
			}
			if k < len(inputs) {
				without[name] = true
				told[inputs[k]]++
				if err := damage[k%len(damage)](inputs[k]); err != nil {
					t.Fatal(err)
				}
			}
		}
		findings, bad, err := RecordingJob{Recordings: r.write(), Workers: 4}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range CoverageOf(findings, bad, nil).Damaged {
			told[d.File]--
		}
		for file, n := range told {
			if n != 0 {
				t.Errorf("input %d: %s is told %d times, expected once", k, filepath.Base(file), 1-n)
			}
		}
		for _, f := range findings {
			if without[f.Op] && f.Verdict != Unknown {
				if spared++; !unused[f.Type] {
					t.Errorf("%s output %d without its input %d: %v %v", f.Op, f.Index, k, f.Verdict, f.Reasons)
				}
			}
		}
	}
	if spared == 0 {
		t.Error("no result is judged without an input")
	}
}

// unused are the functions of which an input gives only its shape or type, or is there
// to be changed.
var unused = map[string]bool{"Torch.ones_like": true, "Tensor.type_as": true, "Functional.batch_norm": true, "Torch.native_batch_norm": true, "Tensor.fill_": true, "Tensor.copy_": true,
	"Torch.full_like": true, "Tensor.new_full": true, "NPU.copy_memory_": true, "NPU.one_": true, "NPU.npu_view_copy": true,
	// What was kept for going backward is computed again.
	"Aten.log_sigmoid_backward": true, "Aten.native_layer_norm_backward": true, "Aten.native_group_norm_backward": true, "Aten.max_pool2d_with_indices_backward": true,
	"Aten.max_pool3d_with_indices_backward": true, "Aten.nll_loss_backward": true, "Aten.nll_loss2d_backward": true, "Aten.native_batch_norm_backward": true,
	"NPU.npu_geglu_grad": true, "NPU.npu_layernorm_grad": true, "NPU.npu_mhc_post_backward": true, "NPU.npu_dropout_with_add_softmax_backward": true, "NPU.npu_moe_token_permute_grad": true,
	"NPU.npu_moe_token_unpermute_with_routing_map_grad": true}

// TestCallsNonsense gives every argument other values: nothing panics, and an output is
// not explained by accident where it needs the argument. SEEDS=1 tries all values in all places, not a third of them.
func TestCallsNonsense(t *testing.T) {
	cases := callCases(t)
	text := func(s string) caseValue { return caseValue{Leaf: json.RawMessage(s)} }
	strange := []caseValue{{None: true}, text(`{"type":"int","value":-7}`), text(`{"type":"float","value":NaN}`), text(`{"type":"float","value":1e300}`),
		text(`{"type":"int","value":123456789012345678901234567890}`), text(`{"type":"str","value":"no such thing"}`), {List: &[]caseValue{}},
		{List: &[]caseValue{text(`{"type":"int","value":9}`), text(`{"type":"int","value":-9223372036854775808}`), {None: true}}},
		text(`{"type":"slice","value":[5,-5,0]}`), text(`{"type":"bool","value":true}`), text(`{"type":"ellipsis","value":"..."}`)}
	strange = append(strange, caseValue{Tensor: callCases(t)[0].Args[0].Tensor})
	empty := *cases[0].Args[0].Tensor
	empty.Shape, empty.Hex = []int64{0, 3}, ""
	strange = append(strange, caseValue{Tensor: &empty})
	r := newRecorder(t)
	r.shared = map[string]string{}
	turn := 0
	left := func() bool {
		turn++
		return turn%7 != 0 && os.Getenv("SEEDS") == ""
	}
	for n, s := range strange {
		r.entries, r.count = nil, map[string]int{}
		turn = n
		for i := range cases {
			c := cases[i]
			for k := range c.Args {
				if left() {
					continue
				}
				d := c
				d.Args = slices.Clone(c.Args)
				d.Args[k] = s
				r.add(&d)
			}
			for _, key := range slices.Sorted(maps.Keys(c.Kwargs)) {
				if left() {
					continue
				}
				d := c
				d.Kwargs = maps.Clone(c.Kwargs)
				d.Kwargs[key] = s
				r.add(&d)
			}
			if n == 0 {
				d := c
				d.Args = nil
				r.add(&d)
			}
		}
		r.check()
	}
}

// TestStatistics: of statistics alone nothing is known to be right, but a result beyond
// what the inputs allow is wrong.
func TestStatistics(t *testing.T) {
	tensor := func(lo, hi float64) caseValue {
		return caseValue{Leaf: json.RawMessage(fmt.Sprintf(`{"type":"torch.Tensor","dtype":"torch.float32","shape":[4,6],"Max":%g,"Min":%g,"Mean":0.1,"Norm":2.0}`, hi, lo))}
	}
	number := func(x float64) caseValue {
		return caseValue{Leaf: json.RawMessage(fmt.Sprintf(`{"type":"float","value":%g}`, x))}
	}
	for _, c := range []struct {
		name    string
		args    []caseValue
		out     caseValue
		verdict Verdict
	}{
		{"Functional.relu", []caseValue{tensor(-1, 2)}, tensor(0, 2), Unknown},
		{"Functional.relu", []caseValue{tensor(-1, 2)}, tensor(-1, 2), Wrong},
		{"Functional.relu", []caseValue{tensor(-1, 2)}, tensor(0, 2.1), Wrong},
		{"Torch.softmax", []caseValue{tensor(-1, 2), number(1)}, tensor(0, 1.0000005), Unknown},
		{"Torch.softmax", []caseValue{tensor(-1, 2), number(1)}, tensor(0, 1.1), Wrong},
		{"Tensor.__mul__", []caseValue{tensor(-1, 2), number(-3)}, tensor(-6, 3), Unknown},
		{"Tensor.__mul__", []caseValue{tensor(-1, 2), number(-3)}, tensor(-6, 3.5), Wrong},
		{"Torch.add", []caseValue{tensor(-1, 2), tensor(5, 6)}, tensor(3.9999999, 8), Unknown},
		{"Torch.add", []caseValue{tensor(-1, 2), tensor(5, 6)}, tensor(3.9, 8), Wrong},
		{"Functional.linear", []caseValue{tensor(-1, 2), tensor(5, 6)}, tensor(-1e9, 8), Wrong},
		{"Functional.bilinear", []caseValue{tensor(-1, 2), tensor(5, 6), tensor(5, 6)}, tensor(-1e9, 8), Unknown},
	} {
		r := newRecorder(t)
		r.task = "statistics"
		r.add(&callCase{Name: c.name, Args: c.args, Outputs: []caseValue{c.out}})
		f := r.check()
		if len(f) != 1 || f[0].Verdict != c.verdict {
			t.Errorf("%s of %v: %v, expected %v", c.name, c.args, f, c.verdict)
		}
	}
}

// TestFunctions: every function has recorded values of its own, or those of one that it
// is another name of.
func TestFunctions(t *testing.T) {
	recorded := map[*function]bool{}
	for _, c := range callCases(t) {
		prefix, api, _ := strings.Cut(c.Name, ".")
		if prefix == "Module" {
			continue
		}
		f, _, _, _ := called(prefix, api, "pytorch")
		if f == nil {
			t.Errorf("%s is not known", c.Name)
		}
		recorded[f] = true
	}
	for _, name := range slices.Sorted(maps.Keys(functions())) {
		if !recorded[functions()[name]] && !functions()[name].ranks { // of ranks: TestProductsOfRanks
			t.Errorf("%s has no recorded values", name)
		}
	}
	used, kernels := map[string]bool{}, map[string]bool{}
	for _, row := range catalogue.All() {
		if m := row.Module; m != nil && functions()[m.Form] == nil {
			t.Errorf("module %v calls %s, which is not known", row.Names, m.Form)
		}
		for space, call := range row.Calls {
			used[call.Form] = true
			for _, name := range row.Names {
				if f := functions()[strings.TrimPrefix(space+"."+name, ".")]; f != nil && (f.rest != call.Rest || !slices.Equal(f.params, call.Params)) {
					t.Errorf("%s takes %v, the rest as the last: %v; not what its row says", name, f.params, f.rest)
				}
			}
		}
		if kernels[row.Kernel] = true; row.Kernel != "" && kernelForm(row.Kernel) == nil {
			t.Errorf("%v are computed by %s, which is no form of kernels", row.Names, row.Kernel)
		}
	}
	for form := range forms {
		if !used[form] {
			t.Errorf("no row of the catalogue is computed by %s", form)
		}
	}
	functions()
	for form := range builders {
		if !kernels[form] {
			t.Errorf("no kernel of the catalogue is computed by %s", form)
		}
	}
}

// TestCallsGreedy: arguments and shapes that claim more than anything is computed of are refused before it is made.
func TestCallsGreedy(t *testing.T) {
	row := "float32[1,6000]{" + strings.Repeat("1 ", 6000) + "}"
	for _, text := range []string{
		"Torch.repeat_interleave(float32[4]{1 2 3 4}, int64[4]{8000000 8000000 8000000 8000000}, 0) = float32[2]{1 1}",
		"Torch.pdist(float32[8000000,0]{}) = float32[1]{0}",
		"Torch.cumulative_trapezoid(" + row + ") = " + row,
		"Functional.multi_margin_loss(float32[1,3]{1 2 3}, int64[1]{2}, weight=float32[2]{1 1}) = float32[]{1}",
	} {
		r := newRecorder(t)
		c, err := textCase(text)
		if err != nil {
			t.Fatal(err)
		}
		r.add(&c)
		for _, f := range r.check() {
			if name, _, _ := strings.Cut(text, "("); f.Verdict == OK || f.Verdict == Suspect {
				t.Errorf("%s: %v", name, f.Verdict)
			}
		}
	}
}

// otherwise are overloads of aten under whose arguments a row stands for something else in the same place, and what becomes of them.
var otherwise = map[string]string{
	"_native_batch_norm_legit.no_stats": "refused: a truth is no tensor",
	"atleast_1d.Sequence":               "refused: a list is no tensor", "atleast_2d.Sequence": "refused", "atleast_3d.Sequence": "refused",
	"tensordot": "refused: axes of each",
	"max.other": "the form takes a tensor there as the other one", "min.other": "the form takes a tensor there as the other one",
	"repeat_interleave.Tensor": "refused without repeats",
	"chain_matmul":             "one argument each in Python", "einsum": "as that",
	"scatter.value": "the form takes a number as src", "scatter.value_reduce": "as that", "scatter_.value": "as that", "scatter_.value_reduce": "as that",
	"std": "the form takes a truth there as unbiased", "std_mean": "as that", "var": "as that", "var_mean": "as that",
}

// TestSchemas holds the parameters of rows against what PyTorch says of its own functions (testdata/suites/schemas.py): an argument
// is given by its place to the parameter that it is given to by its name, and none that comes by name alone is another one's. What a
// row does not have is refused when it is given.
func TestSchemas(t *testing.T) {
	data, err := os.ReadFile("testdata/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	held, met := 0, map[string]bool{}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		overload := strings.TrimSuffix(words[0]+"."+words[1], ".-")
		f, _, _, _ := called("Aten", overload, "pytorch")
		if f == nil {
			continue // a row of its traits alone
		}
		held++
		given, _, _ := strings.Cut(strings.Join(words[2:], " "), "*")
		for i, name := range strings.Fields(given) {
			if i >= len(f.params) {
				break
			}
			if p := f.param(name); p != f.params[i] && !(ignored[name] && f.rest && i == len(f.params)-1) {
				if met[overload] = true; otherwise[overload] == "" {
					t.Errorf("%s: %s is in the place of %s", overload, name, f.params[i])
				}
				break
			}
		}
	}
	for overload := range otherwise {
		if !met[overload] {
			t.Errorf("%s is as its row has it", overload)
		}
	}
	if held < 600 {
		t.Errorf("only %d functions were held against their definition", held)
	}
}
