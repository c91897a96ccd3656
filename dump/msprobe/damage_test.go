package msprobe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func fixture(t testing.TB, name string) string {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A file cut short anywhere gives the calls and values before the cut, and one
// error that says so.
func TestCutShort(t *testing.T) {
	text := fixture(t, "dump.json")
	calls, errs, _ := scanned(t, text)
	if len(errs) > 0 || len(calls) != 8 {
		t.Fatal(len(calls), errs)
	}
	whole := shown(calls)
	most := 0
	for n := range len(text) - 1 {
		calls, errs, _ := scanned(t, text[:n])
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "found the end of the file") || errs[0].Offset > int64(n) {
			t.Fatalf("cut at %d: %v", n, errs)
		}
		got := shown(calls)
		if len(got) > 0 && calls[len(calls)-1].Cut {
			if !strings.Contains(errs[0].Expected, "cut short") {
				t.Fatalf("cut at %d: %v", n, errs[0])
			}
		}
		if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
			t.Fatalf("cut at %d: %d lines are not those of the whole file:\n%s", n, len(got), got[len(got)-1])
		}
		if len(got) < most {
			t.Fatalf("cut at %d: %d lines, less than %d of a shorter file", n, len(got), most)
		}
		most = len(got)
	}
	if most < len(whole)-1 {
		t.Errorf("at most %d lines of %d", most, len(whole))
	}
}

// What is broken in one entry loses no other.
func TestBrokenEntries(t *testing.T) {
	text := fixture(t, "dump.json")
	calls, _, _ := scanned(t, text)
	var names []string
	for _, c := range calls {
		names = append(names, c.Name)
	}
	const victim = "Aten.add.Tensor.3.forward"
	at := strings.Index(text, victim)
	for _, c := range []struct{ old, new, found string }{
		{`"type": "slice"`, `"type": "slice`, `found`},
		{`"type": "slice"`, `"type": slice`, `found "slice`},
		{`"type": "slice",`, `"type": "slice"`, `expected a comma`},
		{`null,`, `nul,`, `found "nul,`},
		{`NaN`, `nan`, `found "nan`},
		{`[`, ``, `found`},
		{`"input_args":`, `"input_args"`, `expected :`},
		{`"input_args":`, `"input_args": [], "input_args":`, `each of a call's keys once`},
		{`{`, ``, `expected {`},
		{`{`, "\x00\x01", `found`},
	} {
		broken := text[:at+len(victim)+2] + strings.Replace(text[at+len(victim)+2:], c.old, c.new, 1)
		for _, form := range []string{"lines", "one line"} {
			if form == "one line" {
				broken = strings.ReplaceAll(broken, "\n", " ")
			}
			calls, errs, _ := scanned(t, broken)
			if len(errs) == 0 || !strings.Contains(errs[0].Error(), c.found) || !strings.Contains(errs[0].Error(), "dump.json: offset ") {
				t.Errorf("%q for %q in %s: %v", c.new, c.old, form, errs)
			}
			var got []string
			for _, call := range calls {
				got = append(got, call.Name)
				if call.Cut != (call.Name == victim) && form == "lines" {
					t.Errorf("%q for %q: %s: cut %v", c.new, c.old, call.Name, call.Cut)
				}
			}
			// Without lines, brackets that do not match lose what follows.
			if form == "lines" && !slices.Equal(got, names) || !slices.Contains(got, names[0]) {
				t.Errorf("%q for %q in %s: calls %q, errors %v", c.new, c.old, form, got, errs)
			}
		}
	}
}

func TestForms(t *testing.T) {
	const call = `"Tensor.a.0.forward": {"input_args": [{"type": "int", "value": 1}], "output": []}`
	for what, c := range map[string]struct {
		text       string
		calls      int
		err, names string
	}{
		"compact":            {`{"task":"statistics","data":{` + call + `,` + strings.Replace(call, "a.0", "b.1", 1) + `}}`, 2, "", ""},
		"byte order mark":    {"\xef\xbb\xbf" + `{"data": {` + call + `}}`, 1, "", ""},
		"header after data":  {`{"data": {` + call + `}, "task": "tensor"}`, 1, "", ""},
		"the same name":      {`{"data": {` + call + `,` + call + `}}`, 2, "", ""},
		"no data":            {`{"task": "tensor"}`, 0, "", ""},
		"data null":          {`{"data": null, "level": "L1"}`, 0, "", ""},
		"unknown keys":       {`{"x": [1, {"y": "]}"}], "z": NaN, "data": {` + call + `}, "w": "}"}`, 1, "", ""},
		"null entry":         {`{"data": {"Tensor.a.0.forward": null, ` + call + `}}`, 2, "", ""},
		"UTF-16":             {"\xff\xfe{\x00", 0, "UTF-16", ""},
		"a list":             {`[1]`, 0, "expected an object", ""},
		"empty":              {``, 0, "the end of the file", ""},
		"entry is a number":  {`{"data": {"Tensor.a.0.forward": 5, ` + call + `}}`, 2, `found "5, `, ""},
		"entries not quoted": {`{"data": {x: 1}}`, 0, "the name of an entry", ""},
		"bad text":           {"{\"data\": {\"Tensor.\xff\\ud800.0.forward\": {}}}", 1, "", "Tensor.\uFFFD\uFFFD.0.forward"},
		"damaged header":     {`{"task": "a\q", "data": {` + call + `}}`, 1, "the value of task", ""},
		"damaged key":        {"{\n \"level\n \"x\": 1,\n \"data\": {\n  " + call + "\n }\n}", 1, "a key and its value", ""},
		"unknown escape":     {`{"data": {"Tensor.x.0.forward": {"output": ["\q"]}, ` + call + `}}`, 2, `found "\\q`, ""},
		"no closing quote":   {"{\n \"data\": {\n  \"Tensor.x.0.forward\": {\"output\": [\"x],\n  " + call + "\n }\n}", 2, "the quote that closes a text", ""},
		"escapes":            {`{"data": {"Tensor.\u4e2d\n\ud83d\ude00.0.forward": {}}}`, 1, "", "Tensor.中\n😀.0.forward"},
	} {
		calls, errs, _ := scanned(t, c.text)
		if len(calls) != c.calls {
			t.Errorf("%s: %d calls, %v", what, len(calls), errs)
		}
		if c.err == "" && len(errs) > 0 || c.err != "" && (len(errs) == 0 || !strings.Contains(errs[0].Error(), c.err)) {
			t.Errorf("%s: %v, want %q", what, errs, c.err)
		}
		if c.names != "" && (len(calls) == 0 || calls[0].Name != c.names) {
			t.Errorf("%s: %q", what, calls[0].Name)
		}
	}
}

// A dict of the user may have a key "type", and values may have types and keys
// that nobody knows.
func TestOddValues(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": {"type": "int", "value": 1}, "b": null}`:                       "0.type Scalar int 1; 0.b None",
		`{"type": "x", "b": {"type": "int", "value": 1}}`:                        "0.type Bare  x; 0.b Scalar int 1",
		`{"value": 3, "type": "int"}`:                                            "0 Scalar int 3",
		`{"b": {"type": "int", "value": 1}, "dtype": "x"}`:                       "0.b Scalar int 1; 0.dtype Bare  x",
		`{"class_type": "torch.distributed.P2POp", "op": "isend", "peer": 1}`:    "0.class_type Bare  torch.distributed.P2POp; 0.op Bare  isend; 0.peer Bare  1",
		`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": "x"}`:       `0 Tensor torch.Tensor  shape="x"`,
		`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1.5]}`:     `0 Tensor torch.Tensor  shape=[1.5]`,
		`{"type": "torch.Tensor", "dtype": 7, "shape": [1], "Max": {"a": NaN}}`:  `0 Tensor torch.Tensor  dtype=7 Max={"a": NaN}`,
		`{"type": "DTensor", "dtype": "torch.int8", "shape": [], "mesh": [[0]]}`: "0 Tensor DTensor  mesh=[[0]]",
		`{"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "a"}`: `0 Group torch.ProcessGroup [0 1] group_id="a"`,
		`{"type": "slice", "value": [null, 1, [2]]}`:                             `0 Slice slice  value=[null, 1, [2]]`,
		`{"type": "new", "value": {"x": 1}}`:                                     `0 Unknown new  value={"x": 1}`,
		`{"type": "int", "value": 123456789012345678901234567890}`:               "0 Scalar int 123456789012345678901234567890",
		`[[], {}, [[{}]]]`: "",
	} {
		calls, errs, _ := scanned(t, `{"data": {"Tensor.a.0.forward": {"input_args": [`+text+`]}}}`)
		if len(errs) > 0 || len(calls) != 1 {
			t.Errorf("%s: %v", text, errs)
			continue
		}
		var parts []string
		for _, v := range calls[0].Values {
			s := strings.TrimSpace(fmt.Sprintf("%s %s", v.Path, kindNames[v.Kind]))
			if v.Kind != None {
				s += " " + v.Type + " "
				if v.Items != nil {
					s += fmt.Sprint(v.Items)
				} else {
					s += v.Value.String()
				}
			}
			for _, e := range v.Extra {
				s += " " + e.Key + "=" + e.JSON
			}
			parts = append(parts, s)
		}
		if got := strings.Join(parts, "; "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// A result of which nothing is told is one all the same.
func TestResultsNotRecorded(t *testing.T) {
	for text, want := range map[string]int{`"input_args": [{}], "output": []`: 0, `"output": [{}]`: 1, `"output": [[{}, {"a": {}}]]`: 2} {
		calls, errs, _ := scanned(t, `{"data": {"Tensor.a.0.forward": {`+text+`}}}`)
		if len(errs) > 0 || len(calls) != 1 || len(calls[0].Values) != want || want > 0 && calls[0].Values[0].Kind != Tensor {
			t.Errorf("%s: %v, %+v", text, errs, calls)
		}
	}
}

// A tensor of integers has no largest element with a fraction; one that is quantised may.
func TestTypeOfStatistics(t *testing.T) {
	for _, c := range []struct {
		dtype, most string
		odd         bool
	}{
		{"torch.int8", "0.37", true}, {"torch.int8", "37.0", false}, {"torch.bool", "0.37", true}, {"torch.bool", "1.0", false}, {"torch.int64", "NaN", false}, {"torch.float16", "0.37", false}, {"torch.qint8", "0.37", false}, {"torch.quint8", "0.37", false},
		{"torch.float99", "0.37", false},
	} {
		calls, _, _ := scanned(t, `{"data": {"Tensor.a.0.forward": {"input_args": [{"type": "torch.Tensor", "dtype": "`+c.dtype+`", "shape": [2], "Max": `+c.most+`, "Min": 0, "Mean": 0.1}]}}}`)
		if v := calls[0].Values[0]; (v.Odd != nil) != c.odd || c.odd && v.Odd.Offset <= 0 {
			t.Errorf("%q, %s: %v", c.dtype, c.most, v.Odd)
		}
	}
}

// A tensor whose dtype or shape cannot be read is a tensor, of which something is damaged.
func TestBrokenTensor(t *testing.T) {
	for text, key := range map[string]string{`"dtype": 7, "shape": [2], "Max": 1`: "dtype", `"dtype": null, "shape": [2], "Max": 1`: "dtype", `"dtype": "torch.int8", "shape": "x", "Max": 1`: "shape", `"dtype": "torch.int8", "shape": [2], "Max": 1`: ""} {
		calls, _, _ := scanned(t, `{"data": {"Tensor.a.0.forward": {"input_args": [{"type": "torch.Tensor", `+text+`}]}}}`)
		v := calls[0].Values[0]
		if v.Kind != Tensor || (v.Odd != nil) != (key != "") || key != "" && (!strings.Contains(v.Odd.Expected, key) || v.Odd.Offset <= 0) {
			t.Errorf("%s: %+v, odd: %v", text, v, v.Odd)
		}
	}
}

// Of a statistic that is there twice neither counts.
func TestStatisticTwice(t *testing.T) {
	calls, _, _ := scanned(t, `{"data": {"Tensor.a.0.forward": {"input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Mean": 100, "Max": 2, "Mean": 1}]}}}`)
	if v := calls[0].Values[0]; v.Odd == nil || v.Mean.Kind != Null || v.Max.Kind != Int {
		t.Errorf("%+v, odd: %v", v, v.Odd)
	}
}

var kindNames = map[Kind]string{None: "None", Tensor: "Tensor", Scalar: "Scalar", Bare: "Bare", Unknown: "Unknown", Group: "Group", Slice: "Slice"}

// peak runs f and returns how far the heap grew meanwhile.
func peak(f func()) (most uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	done := make(chan bool)
	go func() { f(); close(done) }()
	for {
		select {
		case <-done:
			return most
		case <-time.After(2 * time.Millisecond):
			if runtime.ReadMemStats(&m); m.HeapAlloc > before {
				most = max(most, m.HeapAlloc-before)
			}
		}
	}
}

// Memory stays below twice the file and 64 MB, whatever an entry claims to be.
func TestBombs(t *testing.T) {
	const size = 12 << 20
	entry := func(unit string) string {
		return `{"data": {"Tensor.a.0.forward": {"input_args": [` + strings.Repeat(unit+",", size/len(unit)) + `0]}, "Tensor.b.0.forward": {}}}`
	}
	for what, text := range map[string]string{
		"nulls":          entry("null"),
		"values":         entry(`{"type":"i","value":[1]}`),
		"extras":         entry(`{"type":"i","value":1,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}`),
		"items":          entry(`{"type":"slice","value":[` + strings.Repeat("1,", 1<<16) + `1]}`),
		"shapes":         entry(`{"type":"t","dtype":"x","shape":[` + strings.Repeat("1,", 60) + `1]}`),
		"names":          entry(`{"` + strings.Repeat("k", 250) + `":null}`),
		"nested":         entry("[[[["),
		"deep":           `{"data": {"Tensor.a.0.forward": {"input_args": ` + strings.Repeat("[", size) + `, "Tensor.b.0.forward": {}}}`,
		"one long text":  `{"data": {"Tensor.a.0.forward": {"input_args": ["` + strings.Repeat("x", size) + `"]}, "Tensor.b.0.forward": {}}}`,
		"long unknown":   `{"x": [` + strings.Repeat("[1],", size/4) + `1], "data": {"Tensor.b.0.forward": {}}}`,
		"one long digit": `{"x": ` + strings.Repeat("1", size) + `, "data": {"Tensor.b.0.forward": {"input_args": [` + strings.Repeat("1", size/4) + `]}}}`,
	} {
		errs, last := 0, ""
		most := peak(func() {
			s := NewScanner(strings.NewReader(text), "dump.json")
			for s.Scan() {
				switch r := s.Result().(type) {
				case *SyntaxError:
					if errs++; len(r.Error()) > 500 {
						t.Errorf("%s: a message of %d bytes", what, len(r.Error()))
					}
				case *Call:
					last = r.Name
				}
			}
		})
		if limit := 2*uint64(len(text)) + 64<<20; most > limit {
			t.Errorf("%s: %d MB for a file of %d MB", what, most>>20, len(text)>>20)
		}
		if errs > 2 || last != "Tensor.b.0.forward" && what != "deep" && what != "nested" {
			t.Errorf("%s: %d errors, the last call is %s", what, errs, last)
		}
	}
}

func TestReadError(t *testing.T) {
	s := NewScanner(io.MultiReader(strings.NewReader(`{"data": {"Tensor.a.0.forward": {}, `), errReader{}), "dump.json")
	n := 0
	for s.Scan() {
		n++
	}
	if n != 1 || !errors.Is(s.Err(), errDisk) {
		t.Error(n, s.Err())
	}
}

var errDisk = errors.New("disk")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errDisk }

// A comma too many or too few is what a lost entry leaves behind.
func TestLostEntries(t *testing.T) {
	const entry = `"Torch.add.%d.forward": {"input_args": [], "input_kwargs": {}, "output": []}`
	a, b := fmt.Sprintf(entry, 0), fmt.Sprintf(entry, 1)
	for text, lost := range map[string]int{
		a + ",\n" + b: 0, a + "\n": 0, "": 0,
		",\n" + a: 1, a + ",\n": 1, a + "\n" + b: 1, ",": 1,
	} {
		for file, want := range map[string]int{`{"task": "statistics", "data": {` + text + `}}`: lost, `{"data": {` + text + `},}`: lost + 1, `{"level": "L1" "data": {` + text + `}}`: lost + 1} {
			calls, errs, _ := scanned(t, file)
			if len(errs) != want || len(calls) != strings.Count(text, "Torch") {
				t.Errorf("%s: %d calls, %v", file, len(calls), errs)
			}
		}
		c, err := ReadConstruct(strings.NewReader("{"+strings.ReplaceAll(text, `{"input_args": [], "input_kwargs": {}, "output": []}`, `""`)+"}"), "construct.json")
		if err != nil || len(c.Errors) != lost || len(c.Parent) != strings.Count(text, "Torch") {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

func TestConstruct(t *testing.T) {
	c, err := ReadConstruct(strings.NewReader(fixture(t, "construct.json")), "construct.json")
	if err != nil || len(c.Errors) > 0 {
		t.Fatal(err, c.Errors)
	}
	if len(c.Parent) != 5 || c.Parent["Functional.linear.0.forward"] != "Module.fc.Linear.forward.0" || c.Parent["Tensor.add.0.forward"] != "Module.fc.Linear.forward.0" ||
		c.Parent["optimizer"] != "" {
		t.Errorf("%+v", c)
	}
	c, err = ReadConstruct(strings.NewReader("{\n \"a\": \"b\",\n \"c\": 5,\n \"d\": \"e\",\n \"f\": \"g"), "construct.json")
	if err != nil || len(c.Parent) != 2 || c.Parent["d"] != "e" || len(c.Errors) != 2 {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = ReadConstruct(strings.NewReader("{}"), ""); err != nil || len(c.Parent)+len(c.Errors) > 0 {
		t.Error(c, err)
	}
}

func TestStack(t *testing.T) {
	want := Frame{"/train/net.py", 12, `x = self.fc(x, "y")`}
	for file, other := range map[string]Frame{"stack.json": {"/a, b/c.py", 3, "main()"}, "stack_old.json": {Source: "odd"}} {
		s, err := ReadStack(strings.NewReader(fixture(t, file)), file)
		if err != nil || len(s.Errors) > 0 {
			t.Fatal(err, s.Errors)
		}
		frames := slices.Collect(s.Of("Functional.linear.0.forward"))
		if len(frames) != 2 || frames[0] != want || frames[1] != other {
			t.Errorf("%s: %+v", file, frames)
		}
		for range s.Of("Tensor.none.0.forward") {
			t.Errorf("%s: frames of a call that is not there", file)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(fixture(f, "dump.json")))
	f.Add([]byte(fixture(f, "debug.json")))
	f.Add([]byte(`{"data":{"Tensor.a.0.forward":{"input_args":[{"type":"int","value":1}],"input_kwargs":{"type":{},"b":NaN}}}}`))
	f.Add([]byte("{\n \"data\": {\n  \"a.b.0.forward\": {\n   \"output\": [nul]\n  },\n  \"c.d.1.backward\": {}\n }\n}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewScanner(bytes.NewReader(b), "f")
		at := int64(-1)
		for n := 0; s.Scan(); n++ {
			_, offset := s.Result().Pos()
			if offset < 0 || offset > int64(len(b)) {
				t.Fatalf("offset %d of %d", offset, len(b))
			}
			if _, ok := s.Result().(*Call); ok {
				if offset <= at {
					t.Fatalf("a call at %d after one at %d", offset, at)
				}
				at = offset
			}
			if n > 2*len(b) {
				t.Fatal("no end")
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
	})
}

func FuzzBeside(f *testing.F) {
	for _, name := range []string{"construct.json", "stack.json", "stack_old.json"} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ReadConstruct(bytes.NewReader(b), "c"); err != nil || len(c.Errors) > maxErrors {
			t.Fatal(err)
		}
		if s, err := ReadStack(bytes.NewReader(b), "s"); err != nil || len(s.Errors) > maxErrors {
			t.Fatal(err)
		}
	})
}

// generated is a dump.json without end, as the recorder spells it.
func generated(calls int) []byte {
	var b bytes.Buffer
	b.WriteString("{\n \"task\": \"tensor\",\n \"level\": \"L1\",\n \"framework\": \"pytorch\",\n \"dump_data_dir\": \"/d\",\n \"data\": {")
	tensor := func(name, section string, i int) {
		fmt.Fprintf(&b, "\n    {\n     \"type\": \"torch.Tensor\",\n     \"dtype\": \"torch.bfloat16\",\n     \"shape\": [\n      4,\n      1024,\n      %d\n     ],\n"+
			"     \"Max\": %v,\n     \"Min\": %v,\n     \"Mean\": %v,\n     \"Norm\": %v,\n     \"requires_grad\": true,\n     \"data_name\": \"%s.%s.%d.pt\",\n     \"md5\": \"%08x\"\n    }",
			4096+i, 1.6907901763916016+float64(i), -1.6821985244750977, 0.08758386224508286/float64(i+1), 3324.1500854492188, name, section, i, uint32(i*2654435761))
	}
	for i := range calls {
		if i > 0 {
			b.WriteByte(',')
		}
		name := fmt.Sprintf("Functional.linear.%d.forward", i)
		fmt.Fprintf(&b, "\n  %q: {\n   \"input_args\": [", name)
		for k := range 3 {
			tensor(name, "input", k)
			b.WriteByte(',')
		}
		b.WriteString("\n    {\n     \"type\": \"int\",\n     \"value\": 7\n    },\n    null\n   ],\n   \"input_kwargs\": {},\n   \"output\": [")
		tensor(name, "output", i%7)
		b.WriteString("\n   ]\n  }")
	}
	b.WriteString("\n }\n}\n")
	return b.Bytes()
}

// The other rows are there to be compared with in the same run.
func BenchmarkScan(b *testing.B) {
	text := generated(20000)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	run("scan", func() {
		s := NewScanner(bytes.NewReader(text), "dump.json")
		n := 0
		for s.Scan() {
			if _, ok := s.Result().(*Call); ok {
				n++
			}
		}
		if n != 20000 {
			b.Fatal(n)
		}
	})
	run("json.Valid", func() {
		if !json.Valid(text) {
			b.Fatal("not JSON")
		}
	})
	run("json.Token", func() {
		d := json.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := d.Token(); err == io.EOF {
				return
			} else if err != nil {
				b.Fatal(err)
			}
		}
	})
}
