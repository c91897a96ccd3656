package computed

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHalf(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 65519: 65504, 65520: math.Inf(1), -65520: math.Inf(-1), 0x1p-24: 0x1p-24, 0x1p-25: 0, 1 + 0x1p-11: 1,
		1 + 3*0x1p-11: 1 + 0x1p-9, 0.1: 0.0999755859375} {
		if got := half(v); got != want {
			t.Errorf("half(%v) = %v, want %v", v, got, want)
		}
	}
}

// A clean network is one that both sides compute alike but for rounding; the same
// options make the same files.
func TestClean(t *testing.T) {
	for _, arch := range Archs() {
		o := Options{Arch: arch, Seed: 1}
		n, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		off, most := 0.0, 0.3
		if arch == "w8a8" {
			most = 0.7 // numbers of float8 that noise rounds the other way are an eighth apart
		}
		chosen := map[string]bool{} // what depends on choices may be another one's
		for _, x := range n.nodes {
			for _, in := range append(x.connected(), x.kind) {
				op, _, _ := strings.Cut(in, ":")
				chosen[x.name] = chosen[x.name] || chosen[op] || slices.Contains([]string{"TopKD", "Sort", "ArgMaxD", "NonMaxSuppressionV6", "MaxPoolGrad"}, op)
			}
			if s := x.outputs[0]; x.computed() && !chosen[x.name] && floats(s.dtype) {
				changed, rel := differs(n.golden[x.name+":0"], n.device[x.name+":0"])
				if off = max(off, rel); rel > most {
					t.Errorf("%s: %s is off by %g in %d elements", arch, x.name, rel, changed)
				}
			}
		}
		if off == 0 {
			t.Errorf("%s: the device rounds nothing", arch)
		}
		a, b := t.TempDir(), t.TempDir()
		again, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for dir, n := range map[string]*Network{a: n, b: again} {
			if _, err := n.Write(dir); err != nil {
				t.Fatal(err)
			}
		}
		count := 0
		err = filepath.WalkDir(a, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(a, path)
			x, _ := os.ReadFile(path)
			y, err := os.ReadFile(filepath.Join(b, rel))
			if err != nil || string(x) != string(y) {
				t.Errorf("%s: %s is not the same again: %v", arch, rel, err)
			}
			count++
			return nil
		})
		if err != nil || count < len(n.nodes) {
			t.Errorf("%s: %d files of %d operators, %v", arch, count, len(n.nodes), err)
		}
	}
}

// Everything that can be wrong is, on the side that the answer says: a third of
// the kinds for each architecture, another third for the next.
func TestWrong(t *testing.T) {
	for a, arch := range Archs() {
		clean, err := New(Options{Arch: arch, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			kinds []string
			set   func(o *Options, kind string)
		}{
			{Faults, func(o *Options, kind string) { o.Fault = kind }},
			{Migrations, func(o *Options, kind string) { o.Migration = kind }},
			{Goldens, func(o *Options, kind string) { o.Golden = kind }},
			{Premises, func(o *Options, kind string) { o.Premise = kind }},
		} {
			made, tried := 0, 0
			for i, kind := range c.kinds {
				if i%3 != a%3 {
					continue
				}
				tried++
				o := Options{Arch: arch, Seed: 2}
				c.set(&o, kind)
				n, err := New(o)
				if err != nil {
					continue // not every network has what can be wrong in every way
				}
				made++
				side, device := 0, 0
				for name := range n.golden {
					if d, _ := differs(clean.golden[name], n.golden[name]); d > 0 {
						side++
					}
					if d, _ := differs(clean.device[name], n.device[name]); d > 0 {
						device++
					}
				}
				if kind == "mixed" { // what the device computed is in the dumps, but not in one
					if d, _ := differs(n.device[n.results[0]], n.mixed[n.results[0]]); d == 0 {
						t.Errorf("%s: the outputs of another step are those of this one", arch)
					}
					continue
				}
				if a := n.Answer(); len(a.Faults) == 0 || a.Class == "clean" || (a.Class == "fault") != (device > 0) || (a.Class != "fault") != (side > 0) {
					t.Errorf("%s, %s: %d golden and %d device tensors changed, the answer is %+v", arch, kind, side, device, a)
				}
			}
			if made < tried/2 {
				t.Errorf("%s: only %d of %d of %v can be made", arch, made, tried, c.kinds)
			}
		}
	}
}
