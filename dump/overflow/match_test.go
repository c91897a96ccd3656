package overflow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/dump"
	"precision/internal/msg"
	"precision/testdata/workshop/msgtest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name                          string
		task, stream, context, thread uint64
		files                         string
		want                          []int
	}{
		{"task and stream", 5, 6, None, None, "A.a.5.6.1630000000000001 A.b.5.7.1630000000000001 A.c.6.5.1630000000000001", []int{0}},
		{"oldest first", 5, 6, None, None, "A.a.5.6.1630000000000003 A.a.5.6.1630000000000001 A.a.5.6.1630000000000002", []int{1, 2, 0}},
		{"no stream in the name", 5, 6, None, None, "A.a.5.1630000000000003 A.a.4.1630000000000003", []int{0}},
		{"a sequence number", 5, 6, None, None, "A.a.5.6.7.1630000000000003 A.a.7.5.6.1630000000000003", []int{1}},
		{"context and thread", 5, 6, 2, 3, "A.a.5.6.1630000000000001.4.2.3.0 A.a.5.6.1630000000000001.4.3.2.0 A.a.5.6.1630000000000001", []int{0}},
		{"no context recorded", 5, 6, None, None, "A.a.5.6.1630000000000001.4.2.3.0 A.a.5.6.1630000000000002", []int{0, 1}},
		{"context 0, exactly", 5, 6, 0, 0, "A.a.5.6.1630000000000001.4.1.0.0 A.a.5.6.1630000000000002.4.0.0.0", []int{1}},
		{"context 0, no better", 5, 6, 0, 0, "A.a.5.6.1630000000000001.4.1.0.0 A.a.5.6.1630000000000000.4.2.0.0", []int{1, 0}},
		{"context 0, none in the name", 5, 6, 0, 0, "A.a.5.6.1630000000000001", []int{0}},
		{"FFTS+ without stream", 5, 6, 2, 3, "A.a.5.1630000000000001.4.2.3.0", []int{0}},
		{"results of a converter, records", 5, 6, None, None,
			"A.a.5.6.1630000000000001.input.0.npy A.a.5.6.1630000000000001.csv Opdebug.Node_OpDebug.5.6.1630000000000001 a.5.1630000000000001.npy x", nil},
		{"a task that no name can have", 1<<64 - 1, 6, None, None, "A.a.5.6.1630000000000001", nil},
	} {
		var names []dump.Name
		for f := range strings.FieldsSeq(c.files) {
			names = append(names, dump.ParseName(f))
		}
		got := Match(&Block{Task: c.task, Stream: c.stream, Context: c.context, Thread: c.thread}, names)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	var names []dump.Name
	for _, time := range []int{10, 20, 30} {
		names = append(names, dump.ParseName(fmt.Sprintf("A.a.5.6.16300000000000%d", time)))
	}
	for time, want := range map[uint64]int{5: 0, 10: 0, 11: 1, 29: 2, 31: 2} {
		if got := Nearest([]int{0, 1, 2}, names, 1630000000000000+time); got != want {
			t.Errorf("%d: %d, want %d", time, got, want)
		}
	}
	if Nearest(nil, names, 0) != -1 {
		t.Error("found something among nothing")
	}
}

func touch(t *testing.T, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	const debug = "Opdebug.Node_OpDebug.1.2.163000000000000"
	touch(t, dir, "b", debug+"3")
	touch(t, dir, "a", debug+"3") // of the same name: both count
	touch(t, dir, "a", "c", debug+"1")
	touch(t, dir, "a", debug+"1.output.0.json")
	touch(t, dir, "a", "Add.x.1.2.1630000000000000")
	touch(t, dir, "a", "12345")
	if err := os.WriteFile(filepath.Join(dir, "a", "mapping.csv"), []byte("12345,"+debug+"2\n678,"+debug+"9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	deep := slices.Repeat([]string{"d"}, maxDepth+1)
	touch(t, append(append([]string{dir}, deep...), debug+"0")...)
	touch(t, append(append([]string{dir}, deep[1:]...), debug+"4")...)
	tree, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range tree.Records {
		rel, _ := filepath.Rel(dir, e.Path)
		found = append(found, filepath.ToSlash(rel))
	}
	want := []string{"a/c/" + debug + "1", "a/12345", "a/" + debug + "3", "b/" + debug + "3", strings.Repeat("d/", maxDepth) + debug + "4"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q\nwant %q", found, want)
	}
	if len(tree.Dumps) != 1 {
		t.Errorf("%v", tree.Dumps)
	}
	if len(tree.Warnings) != 2 {
		t.Errorf("%v", tree.Warnings)
	}
}

func TestFindErrors(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "file")
	for _, path := range []string{filepath.Join(dir, "gone"), filepath.Join(dir, "file")} {
		if _, err := Find(path); dump.Code(err) != dump.CodePath {
			t.Errorf("%s: %v", path, err)
		}
	}
	if tree, err := Find(dir); err != nil || len(tree.Records) != 0 || Usable(Analyse(tree, Options{})) {
		t.Error(tree, err)
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		block Block
		want  string
	}{
		{Block{Detector: AICore, Status: []uint64{0}}, ""},
		{Block{Detector: AICore, Status: []uint64{0x5b8}}, "smallest signed|integer addition|floating-point|negative number|converting|matrix unit"},
		{Block{Detector: AICore, Status: []uint64{0x10001}}, "bits 0x10001,"},
		{Block{Detector: DHAAtomicAdd, Status: []uint64{0xC05}}, "destination of"},
		{Block{Detector: DHAAtomicAdd, Status: []uint64{1}}, "status 0x1 with the code 0,"},
		{Block{Detector: L2AtomicAdd, Status: []uint64{0x20000}}, "underflowed"},
		{Block{Detector: L2AtomicAdd, Status: []uint64{0x60000}}, "status 0x60000 with the code 6,"},
		{Block{Detector: AIV, Status: []uint64{0, 5, 0, 6}}, "status 0x5;|status 0x6;"},
	} {
		var got []string
		for _, m := range Explain(&c.block) {
			got = append(got, m.In(msg.English))
		}
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = nil
		}
		ok := len(got) == len(want)
		for i := 0; ok && i < len(got); i++ {
			ok = strings.Contains(got[i], want[i])
		}
		if !ok {
			t.Errorf("%v %#x: %q", c.block.Detector, c.block.Status, got)
		}
	}
}

// That inputs are sound is said only of inputs that were read.
func TestAdvice(t *testing.T) {
	tensor := func(input, extreme bool, err error) Tensor {
		return Tensor{Tensor: dump.Tensor{Input: input}, Stats: Stats{Extreme: extreme}, Err: err}
	}
	const in, out, extreme, sound = true, false, true, false
	cut := errors.New("cut")
	for i, c := range []struct {
		tensors []Tensor
		want    Message
	}{
		{nil, AdviceNoTensors},
		{[]Tensor{tensor(in, sound, cut), tensor(out, sound, cut)}, AdviceNoTensors},
		{[]Tensor{tensor(in, sound, nil), tensor(out, extreme, nil)}, AdviceHere},
		{[]Tensor{tensor(in, sound, nil), tensor(out, extreme, nil), tensor(out, sound, cut)}, AdviceHere},
		{[]Tensor{tensor(in, extreme, nil), tensor(out, extreme, nil)}, AdviceUpstream},
		{[]Tensor{tensor(in, sound, cut), tensor(in, extreme, nil)}, AdviceUpstream},
		{[]Tensor{tensor(in, sound, nil), tensor(out, sound, nil)}, AdviceInside},
		{[]Tensor{tensor(out, extreme, nil)}, AdviceIncomplete},
		{[]Tensor{tensor(out, sound, nil)}, AdviceIncomplete},
		{[]Tensor{tensor(in, sound, nil), tensor(in, sound, cut), tensor(out, extreme, nil)}, AdviceIncomplete},
		{[]Tensor{tensor(in, sound, nil)}, AdviceIncomplete},
		{[]Tensor{tensor(in, sound, nil), tensor(out, sound, cut)}, AdviceIncomplete},
	} {
		op := Op{Tensors: c.tensors}
		if got := op.Advice(); got != c.want {
			t.Errorf("%d: %s, want %s", i, got.In(msg.English), c.want.In(msg.English))
		}
	}
}

func TestTexts(t *testing.T) { msgtest.Check(t, texts) }
