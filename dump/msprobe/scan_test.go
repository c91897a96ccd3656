package msprobe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// recorded are recordings of msprobe itself.
const recorded = "../../../shared/real/msprobe"

// scanned reads all of a text.
func scanned(t testing.TB, text string) (calls []*Call, errs []*SyntaxError, h Header) {
	t.Helper()
	s := NewScanner(iotest.OneByteReader(strings.NewReader(text)), "dump.json")
	for s.Scan() {
		switch rec := s.Result().(type) {
		case *Call:
			calls = append(calls, rec.Clone())
		case *SyntaxError:
			errs = append(errs, rec)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return calls, errs, s.Header()
}

// naive reads the same with encoding/json and rules of its own, as texts: one a
// value, and the same of calls.
func naive(t *testing.T, text []byte) (all []string) {
	t.Helper()
	bare := regexp.MustCompile(`(?m)(: |^\s*)(-?Infinity|NaN)(,?)$`)
	text = bare.ReplaceAll(text, []byte(`$1"float:$2"$3`))
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type pair struct {
		key   string
		value any
	}
	var read func() any
	read = func() any {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok {
		case json.Delim('['):
			list := []any{}
			for d.More() {
				list = append(list, read())
			}
			d.Token()
			return list
		case json.Delim('{'):
			object := []pair{}
			for d.More() {
				key, _ := d.Token()
				object = append(object, pair{key.(string), read()})
			}
			d.Token()
			return object
		}
		return tok
	}
	get := func(o []pair, key string) (any, bool) {
		for _, p := range o {
			if p.key == key {
				return p.value, true
			}
		}
		return nil, false
	}
	show := func(v any) string { return strings.Replace(fmt.Sprint(v), "float:", "", 1) }
	var walk func(section, path string, v any)
	walk = func(section, path string, v any) {
		below := func(key string) string {
			if path == "" {
				return key
			}
			return path + "." + key
		}
		switch v := v.(type) {
		case []any:
			for i, x := range v {
				walk(section, below(strconv.Itoa(i)), x)
			}
		case []pair:
			typ, _ := get(v, "type")
			if s, ok := typ.(string); ok {
				line := section + " " + path + " " + s
				for _, k := range []string{"dtype", "shape", "Max", "Min", "Mean", "Norm", "requires_grad", "md5", "data_name", "value", "format"} {
					if x, ok := get(v, k); ok {
						line += " " + k + "=" + show(x)
					}
				}
				all = append(all, line)
				return
			}
			for _, p := range v {
				walk(section, below(p.key), p.value)
			}
		default:
			all = append(all, section+" "+path+" "+show(v))
		}
	}
	data, _ := get(read().([]pair), "data")
	for _, e := range data.([]pair) {
		all = append(all, e.key)
		if strings.HasSuffix(e.key, ".debug") {
			walk("debug", "", e.value)
			continue
		}
		for _, s := range e.value.([]pair) {
			section, ok := map[string]string{"input_args": "input", "input": "input", "input_kwargs": "kwargs", "output": "output", "parameters": "parameters"}[s.key]
			switch {
			case strings.Contains(e.key, "parameters_grad"):
				for _, x := range s.value.([]any) {
					walk("parameters_grad", s.key, x)
				}
			case ok:
				walk(section, "", s.value)
			}
		}
	}
	return all
}

// shown is what naive gives, of calls.
func shown(calls []*Call) (all []string) {
	number := func(n Number) string {
		switch n.Kind {
		case Null:
			return "<nil>"
		case Bool:
			return strconv.FormatBool(n.I != 0)
		}
		return n.S
	}
	for _, c := range calls {
		all = append(all, c.Name)
		for _, v := range c.Values {
			line := v.Section.String() + " " + v.Path + " "
			if v.Kind == None || v.Kind == Bare {
				all = append(all, line+number(v.Value))
				continue
			}
			line += v.Type
			if v.DType != "" {
				line += " dtype=" + v.DType
			}
			if v.Shape != nil {
				line += " shape=" + fmt.Sprint(v.Shape)
			}
			put := func(key string, n Number) {
				switch n.Kind {
				case Absent:
				case Int, Float, Big:
					line += fmt.Sprintf(" %s=%s", key, n)
				default:
					line += " " + key + "=" + number(n)
				}
			}
			put("Max", v.Max)
			put("Min", v.Min)
			put("Mean", v.Mean)
			put("Norm", v.Norm)
			if v.RequiresGrad != NotRecorded {
				line += " requires_grad=" + strconv.FormatBool(v.RequiresGrad == Yes)
			}
			put("md5", v.MD5)
			if v.DataName != "" {
				line += " data_name=" + v.DataName
			}
			switch {
			case v.Items != nil:
				var items []string
				for _, n := range v.Items {
					if n.Kind == Null {
						items = append(items, "<nil>")
					} else {
						items = append(items, n.String())
					}
				}
				line += " value=[" + strings.Join(items, " ") + "]"
			case v.Kind == MemoryFormat:
				put("format", v.Value)
			default:
				put("value", v.Value)
			}
			all = append(all, line)
		}
	}
	return all
}

// sameNumbers compares lines whose numbers may be spelled in other ways.
func sameLine(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(p, q string) bool {
		if p == q {
			return true
		}
		_, p, _ = strings.Cut(p, "=")
		_, q, _ = strings.Cut(q, "=")
		v, err := strconv.ParseFloat(p, 64)
		w, err2 := strconv.ParseFloat(q, 64)
		return err == nil && err2 == nil && (v == w || v != v && w != w)
	})
}

func checkAgainstNaive(t *testing.T, path string) (calls int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, errs, h := scanned(t, string(text))
	for _, e := range errs {
		t.Errorf("%s: %v", path, e)
	}
	if h.Task == "" || h.Level == "" || h.Framework == "" {
		t.Errorf("%s: header %+v", path, h)
	}
	a, b := shown(got), naive(t, text)
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, want %d", path, len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if !sameLine(a[i], b[i]) {
			t.Errorf("%s: line %d\n got %s\nwant %s", path, i, a[i], b[i])
			break
		}
	}
	for _, c := range got {
		if c.Parsed.Form == Other || c.Parsed.String() != c.Name {
			t.Errorf("%s: %s is read as %+v", path, c.Name, c.Parsed)
		}
		for _, v := range c.Values {
			if v.Kind == Unknown || v.Kind == Tensor && !v.Known {
				t.Errorf("%s: %s %s: %+v", path, c.Name, v.Path, v)
			}
			// Files are named by the path of the value.
			if v.Kind == Tensor && v.DataName != "" && c.Parsed.Form != ParametersGrad && c.Parsed.Form != Debug {
				if want := fmt.Sprintf("%s.%s.%s.pt", c.Name, v.Section, v.Path); v.DataName != want {
					t.Errorf("%s: %s, want %s", path, v.DataName, want)
				}
			}
		}
	}
	return len(got)
}

func TestFixtures(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.json")
	n := 0
	for _, p := range paths {
		if !strings.HasSuffix(p, "construct.json") && !strings.HasSuffix(p, "stack.json") && !strings.HasSuffix(p, "stack_old.json") {
			n += checkAgainstNaive(t, p)
		}
	}
	if n == 0 {
		t.Error("no fixtures")
	}
}

func TestRecordings(t *testing.T) {
	files, calls := 0, 0
	err := filepath.WalkDir(recorded, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Name() == "dump.json" || d.Name() == "debug.json") {
			files++
			calls += checkAgainstNaive(t, path)
		}
		return err
	})
	if os.IsNotExist(err) {
		t.Skip("no recordings here")
	}
	if err != nil || files < 40 || calls < 3000 {
		t.Errorf("%d calls in %d files, %v", calls, files, err)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]Number{
		"0": {Kind: Int}, "-7": {Kind: Int, I: -7, F: -7}, "9007199254740993": {Kind: Int, I: 9007199254740993, F: 9007199254740992},
		"-9223372036854775808": {Kind: Int, I: math.MinInt64, F: -1 << 63}, "18446744073709551616": {Kind: Big, F: 1 << 64, S: "18446744073709551616"},
		"1.0": {Kind: Float, F: 1}, "-1e-3": {Kind: Float, F: -0.001}, "1e400": {Kind: Float, F: math.Inf(1)}, "NaN": {Kind: Float, F: math.NaN()},
		"Infinity": {Kind: Float, F: math.Inf(1)}, "-Infinity": {Kind: Float, F: math.Inf(-1)},
	} {
		if n, ok := ParseNumber([]byte(text)); !ok || !n.Same(want) || n.F != want.F && n.F == n.F {
			t.Errorf("%s: %+v %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", "nan", "inf", "Inf", "+1", "0x10", "1_000", "1.5.2", "1e", "--1", "INFINITY", "Infinit", "true"} {
		if n, ok := ParseNumber([]byte(text)); ok {
			t.Errorf("%q is %+v", text, n)
		}
	}
	for n, want := range map[string]string{"1.0": "1.0", "0.1": "0.1", "1e20": "1e+20", "-2": "-2", "NaN": "nan"} {
		if v, _ := ParseNumber([]byte(n)); v.String() != want {
			t.Errorf("%s: %s", n, v)
		}
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]Name{
		"Functional.linear.12.forward":          {API, "Functional", "linear", "", 12, Forward},
		"Aten.add.Tensor.0.backward":            {API, "Aten", "add.Tensor", "", 0, Backward},
		"Torch.fft.fft.0.forward":               {API, "Torch", "fft.fft", "", 0, Forward},
		"Tensor.__add__.0.forward":              {API, "Tensor", "__add__", "", 0, Forward},
		"Module.layers.0.attn.Block.forward.3":  {Module, "Module", "layers.0.attn", "Block", 3, Forward},
		"Module.0.Linear.backward.0":            {Module, "Module", "0", "Linear", 0, Backward},
		"Cell.net.Dense.forward.0":              {Module, "Cell", "net", "Dense", 0, Forward},
		"Module.fc.Linear.parameters_grad.1":    {ParametersGrad, "Module", "fc", "Linear", 1, NoDirection},
		"hidden_grad.0.debug":                   {Debug, "", "hidden_grad", "", 0, NoDirection},
		"a.b.forward.7.debug":                   {Debug, "", "a.b.forward", "", 7, NoDirection},
		"optimizer":                             {API: "optimizer"},
		"forward":                               {API: "forward"},
		"Functional.linear.forward":             {API: "Functional.linear.forward"},
		"linear.0.forward":                      {API: "linear.0.forward"},
		"Functional.linear.99999999999.forward": {API: "Functional.linear.99999999999.forward"},
		"":                                      {},
	} {
		if got := ParseName(s); got != want {
			t.Errorf("%s: %+v, want %+v", s, got, want)
		} else if got.String() != s {
			t.Errorf("%s becomes %s", s, got)
		}
	}
}
