package oracle

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precision/dump/dtype"
	"precision/testdata/workshop/dumptest"
)

// Made is what a check finds of what a text describes, for tests of what is said of it: calls as testdata/cases.txt has
// them, one behind another with "; "; or a recorded operator by its type, "op Add", and what is changed of it.
func Made(t *testing.T, text string) []Finding {
	t.Helper()
	words := strings.Fields(text)
	if words[0] != "op" {
		r := newRecorder(t)
		task, rest, _ := strings.Cut(text, ": ")
		if rest == "" {
			task, rest = "", task
		}
		r.statistics = task == "statistics"
		for _, line := range strings.Split(rest, "; ") {
			c, err := textCase(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			r.parts, r.crashes = task == "parts", task == "crashing"
			r.add(&c)
		}
		for i, e := range r.entries {
			switch task {
			case "unwritten": // the first tensor has no file
				e = strings.Replace(e, `"data_name":"`, `"data_name":"gone.`, 1)
			case "backward": // gradients of calls that were not recorded
				e = strings.ReplaceAll(strings.ReplaceAll(e, ".forward\":{", ".backward\":{"), `"input_args"`, `"input"`)
			case "gradients": // which the call has, of its first output for its first input
				name, _, _ := strings.Cut(e[1:], `"`)
				back := strings.Replace(name, ".forward", ".backward", 1)
				one := func(section string) string {
					list := e[strings.Index(e, section):]
					tensor := list[strings.Index(list, "{"):]
					return tensor[:strings.Index(tensor, "}")+1]
				}
				e += `,"` + back + `":{"input":[` + one(`"output":`) + `],"output":[` + one(`"input_args":`) + `]}`
			}
			r.entries[i] = e
		}
		if task == "modules" { // that the last one is made of
			parents := map[string]string{}
			for i, e := range r.entries {
				name, _, _ := strings.Cut(e[1:], `"`)
				if last, _, _ := strings.Cut(r.entries[len(r.entries)-1][1:], `"`); i < len(r.entries)-1 {
					parents[name] = last
				}
			}
			if err := os.WriteFile(filepath.Join(r.dir, "construct.json"), []byte(quote(parents)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r.task = "tensor"; task == "statistics" {
			r.task = task
		}
		return r.check()
	}
	for _, c := range recordedCases(t) {
		if c.Type != words[1] {
			continue
		}
		c = c.clone()
		type spoilt = func(d *dumptest.Dump)
		var changes []spoilt
		for _, w := range words[2:] {
			name, value, _ := strings.Cut(w, "=")
			if attr, ok := strings.CutPrefix(name, "without:"); ok {
				delete(c.Attrs, attr)
				continue
			}
			if attr, ok := strings.CutPrefix(name, "attr:"); ok {
				c.Attrs[attr] = value
				continue
			}
			how, ok := map[string]spoilt{
				"wrong":        func(d *dumptest.Dump) { spoil(t, c, d, 0) },
				"no-inputs":    func(d *dumptest.Dump) { d.Inputs = nil },
				"one-input":    func(d *dumptest.Dump) { d.Inputs = d.Inputs[:1] },
				"more-outputs": func(d *dumptest.Dump) { d.Outputs = append(d.Outputs, d.Outputs[0]) },
				"cut":          func(d *dumptest.Dump) { d.Inputs[0].Data = d.Inputs[0].Data[:len(d.Inputs[0].Data)/2] },
				"text":         func(d *dumptest.Dump) { d.Inputs[0].Type = 13 },
				"layout":       func(d *dumptest.Dump) { d.Inputs[0].Format = 49 },
				"one-element": func(d *dumptest.Dump) {
					d.Inputs[0].Shape, d.Inputs[0].Origin = []int64{1}, []int64{1}
					d.Inputs[0].Data = d.Inputs[0].Data[:dtype.Type(d.Inputs[0].Type).Bits()/8]
				},
				"no-columns": func(d *dumptest.Dump) {
					for i := range d.Inputs {
						d.Inputs[i].Shape = []int64{d.Inputs[i].Shape[0], 0}
						d.Inputs[i].Origin, d.Inputs[i].Data = d.Inputs[i].Shape, nil
					}
				},
				"nan": func(d *dumptest.Dump) {
					for i := range d.Inputs[0].Data { // of a float16 and of a float32
						d.Inputs[0].Data[i] = 0x7f
					}
				},
				"empty": func(d *dumptest.Dump) {
					d.Outputs[0].Shape, d.Outputs[0].Origin, d.Outputs[0].Data = []int64{0}, []int64{0}, nil
				},
				"in-place": func(d *dumptest.Dump) {
					d.Inputs[0].Data = append([]byte{}, d.Outputs[0].Data...)
					d.Inputs[0].Address, d.Outputs[0].Address = 0x1000, 0x1000
				},
				"up": func(d *dumptest.Dump) { // nearly a unit in the last place away from zero
					out := &d.Outputs[0]
					v, half := make([]float64, len(out.Data)/2), []float32{}
					dtype.Widen64(dtype.Float16, v, out.Data)
					for _, x := range v {
						half = append(half, float32(x+0.9/2048*math.Abs(x)))
					}
					out.Data = dumptest.Halves(half)
				},
				"kernel": func(*dumptest.Dump) { c.Kernel = value },
				"type":   func(*dumptest.Dump) { c.Type = value },
			}[name]
			if !ok {
				t.Fatalf("what is %s?", w)
			}
			if name == "kernel" || name == "type" {
				how(nil)
			} else {
				changes = append(changes, how)
			}
		}
		return CheckOp(c.op(t), c.dump(t, func(d *dumptest.Dump) {
			for _, change := range changes {
				change(d)
			}
		}), Settings{})
	}
	t.Fatalf("no operator %s was recorded", words[1])
	return nil
}

// Crashing is what a check finds of what a text describes where a function has a defect.
func Crashing(t *testing.T, name, text string) []Finding {
	t.Helper()
	f := functions()[name]
	was := f.forward
	f.forward = formulaFor(func(*invocation) Values { panic("a defect") })
	defer func() { f.forward = was }()
	return Made(t, text)
}
