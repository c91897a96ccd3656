package stage

import (
	"math"
	"testing"
)

// TestSlopes holds what the slope of the network tells of every pair against what computing the rest of it behind every stage does: the findings
// are the same, and where errors are those of rounding, the shares and what is expected of rounding, too.
func TestSlopes(t *testing.T) {
	rounded := func(stages ...string) func(c *cut, st state) {
		return func(c *cut, st state) {
			for _, s := range stages {
				if c.stage == s {
					for _, name := range c.out {
						for i := range st[name].v {
							st[name].v[i] *= 1 + 1.5e-3*math.Sin(float64(7*i+3*c.layer))
						}
					}
				}
			}
		}
	}
	all := rounded("norm", "qkv", "rope", "attn", "o_proj", "add", "gate_up", "act", "down", "router", "gate_weights", "experts", "lm_head")
	list := append(faults(),
		fault{name: "rounding", pair: madePair{after: all}},
		fault{name: "rounding, experts", pair: madePair{moe: true, after: all}},
		fault{name: "rounding, plain weights of sigmoids", pair: madePair{moe: true, after: all, base: func(c *cut) {
			if c.stage == "gate_weights" {
				c.opt.sigmoid, c.opt.renorm = true, false
			}
		}}},
		fault{name: "rounding, caps, window, gelu, 1 + weight, interleaved", pair: madePair{numbers: []float64{3}, after: all, base: func(c *cut) {
			switch c.stage {
			case "logp":
				c.opt.softcap = 3
			case "attn":
				c.opt.window = 4
			case "act":
				c.opt.act = "gelu"
			case "norm":
				c.opt.plusOne = true
			case "rope":
				c.opt.interleaved = true
			}
		}}})
	for _, x := range list {
		slope(t, x.name, x.pair.write(t), x.finding == "")
	}
}

// slope judges a pair both ways; small tells that its errors are those of rounding.
func slope(t *testing.T, name string, q *Request, small bool) {
	t.Helper()
	exact, err := Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	undo := Sloped()
	r, err := Run(t.Context(), q)
	undo()
	if err != nil {
		t.Fatal(err)
	}
	if !r.Sloped || exact.Sloped || r.Shares != exact.Shares || len(r.Stages) != len(exact.Stages) {
		t.Fatalf("%s: slopes %t and %t, %d stages", name, r.Sloped, exact.Sloped, len(r.Stages))
	}
	for i, s := range r.Stages {
		e := exact.Stages[i]
		if s.Finding != e.Finding {
			t.Errorf("%s: %s of layer %d is %s, exactly %s", name, s.Name, s.Layer, s.Finding, e.Finding)
		}
		if small && math.Abs(s.Share-e.Share) > 0.05 {
			t.Errorf("%s: %s of layer %d has a share of %.3f, exactly %.3f", name, s.Name, s.Layer, s.Share, e.Share)
		}
	}
	if small && exact.Expected > 0 && (math.Abs(r.Sum-1) > 0.1 || r.Expected/exact.Expected > 1.5 || exact.Expected/r.Expected > 1.5) {
		t.Errorf("%s: the shares are %.3f together, expected is %.3g, exactly %.3g", name, r.Sum, r.Expected, exact.Expected)
	}
	t.Logf("%-45s sum %.3f, expected %.3g (%.3g), factor %.3g (%.3g)", name, r.Sum, r.Expected, exact.Expected, r.Factor, exact.Factor)
}
