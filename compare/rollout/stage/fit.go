package stage

import (
	"math"
	"slices"
	"strconv"

	"precision/dump/dtype"
	"precision/dump/msprobe"
)

// scalars are numbers that calls of a side were given, between some sites or in all calls: epsilons, scales, caps.
func (s *side) scalars(keep func(c *msprobe.Call) bool) (list []float64) {
	for _, p := range s.passes[:min(len(s.passes), 2)] {
		for _, c := range p.calls {
			if c.Parsed.Form == msprobe.Module || !keep(c) {
				continue
			}
			for i := range c.Values {
				v := &c.Values[i]
				if v.Section == msprobe.Output || v.Kind != msprobe.Scalar {
					continue
				}
				if x, ok := v.Value.Value(); ok && v.Value.Kind != msprobe.Bool && x != 0 && !slices.Contains(list, x) && len(list) < 64 {
					list = append(list, x)
				}
			}
		}
	}
	return list
}

// caps are what scores are divided by ahead of a tanh.
func (s *side) caps() (list []float64) {
	for _, p := range s.passes[:min(len(s.passes), 2)] {
		for i, c := range p.calls {
			if i == 0 || c.Parsed.API != "tanh" {
				continue
			}
			if x, ok := scalar(p.calls[i-1], msprobe.Input, "1"); ok && x > 0 {
				list = unique(list, x)
			}
		}
	}
	return list
}

func within(list []float64, lo, hi float64) (some []float64) {
	for _, x := range list {
		if x >= lo && x <= hi {
			some = append(some, x)
		}
	}
	return some
}

func unique(list []float64, more ...float64) []float64 {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// variants are functions that a stage may have. Of the trainer's the one that fits its own recording is taken, base first; of the rollout's,
// the one that explains it is named.
func (n *net) variants(c *cut, s *side, base options) (list []options) {
	add := func(name string, change func(o *options), args ...any) {
		o := base
		o.name, o.args = name, args
		change(&o)
		list = append(list, o)
	}
	all := s.scalars(func(*msprobe.Call) bool { return true })
	switch c.stage {
	case "embed":
		add("factor", func(o *options) { o.factor = math.Sqrt(float64(n.hidden)) }, math.Sqrt(float64(n.hidden)))
	case "norm", "qk_norm", "post_norm", "latent_norm":
		for _, e := range unique(within(all, 1e-13, 0.05), 1e-6, 1e-5, 1e-8, 1e-12, 1e-4, 1e-3) {
			if e != base.eps {
				add("eps", func(o *options) { o.eps = e }, e)
			}
			add("plus", func(o *options) { o.eps, o.plusOne = e, !base.plusOne })
		}
		add("weightless", func(o *options) { o.noWeight = true })
	case "rope", "latent_kv":
		add("interleaved", func(o *options) { o.interleaved, o.apart = !base.interleaved, false })
		if n.latent {
			add("interleaved", func(o *options) { o.interleaved, o.apart = true, true })
		}
		for _, t := range unique(within(all, 1000, 1e9), 1e4, 1e6, 5e5, 1e7, 1.5e5) {
			add("theta", func(o *options) { o.theta = t }, t)
			add("theta.interleaved", func(o *options) { o.theta, o.interleaved = t, true }, t)
			add("theta.bfloat16", func(o *options) { o.theta, o.kv = t, dtype.BFloat16 }, t)
		}
		for _, d := range []int{1, -1} {
			add("shift", func(o *options) { o.shift = d }, d)
		}
	case "attn":
		d := float64(n.dim)
		scales := unique(within(all, 1e-3, 2), 1/math.Sqrt(d), 1/d, 1, base.scale/2, base.scale*2)
		for _, x := range scales {
			if math.Abs(x-base.scale) > 1e-9*x {
				add("scale", func(o *options) { o.scale = x }, x, base.scale)
			}
		}
		for _, a := range []int{1, -1} {
			add("mask", func(o *options) { o.ahead = a }, a)
		}
		for _, w := range n.windows(s) {
			if w != base.window {
				add("window", func(o *options) { o.window = w }, w)
			}
		}
		if base.window > 0 {
			add("nowindow", func(o *options) { o.window = 0 })
		}
		add("tiled", func(o *options) { o.tiled = true })
		for _, x := range unique(within(all, 5, 1000), s.caps()...) {
			add("softcap", func(o *options) { o.softcap = x }, x)
		}
		if base.softcap > 0 {
			add("nosoftcap", func(o *options) { o.softcap = 0 })
		}
	case "act":
		for _, a := range []string{"silu", "gelu", "gelu_tanh", "relu", "relu2", "sigmoid", "mish"} {
			if a != base.act {
				add("act", func(o *options) { o.act = a }, a)
			}
		}
	case "router":
		add("nobias", func(o *options) { o.noBias = true })
	case "gate_weights":
		for _, f := range unique([]float64{1}, within(all, 0.1, 64)...) {
			for _, sigmoid := range []bool{false, true} {
				for _, renorm := range []bool{false, true} {
					name := "weights.plain"
					if renorm {
						name = "weights.renorm"
					}
					add(name, func(o *options) { o.sigmoid, o.renorm, o.factor = sigmoid, renorm, f })
				}
			}
		}
	case "logp":
		behind := s.scalars(func(c *msprobe.Call) bool {
			return c.Parsed.API == "__truediv__" || c.Parsed.API == "__mul__" || c.Parsed.API == "div" || c.Parsed.API == "div_" || c.Parsed.API == "mul"
		})
		if base.softcap > 0 {
			add("nosoftcap", func(o *options) { o.softcap = 0 })
		}
		if base.temp > 0 && base.temp != 1 {
			add("notemperature", func(o *options) { o.temp = 0 })
		}
		for _, x := range within(behind, 0.05, 1000) {
			if x == 1 {
				continue
			}
			add("softcap", func(o *options) { o.softcap = x }, x)
			add("temperature", func(o *options) { o.temp = x }, x)
			for _, y := range within(behind, 0.05, 1000) {
				if y != x && y != 1 {
					add("softcap", func(o *options) { o.softcap, o.temp = x, y }, x)
				}
			}
		}
	}
	return list
}

// explained is what a function of another number leaves of an error that this number is the cause of.
const explained = 1.0 / 8

// temperatures are what a side divided its logits by ahead of the log-probs, where these are off so far that no rounding is why: samplers do so outside of the model, where
// nothing is recorded. One is sought that explains the error, to three digits; there is none for stages that are no log-probs.
func (j *judge) temperatures(side, k int, base options) []options {
	if j.cuts[j.cutAt[k]].stage != "logp" || k == 0 || j.cutAt[k-1] != j.cutAt[k]-1 {
		return nil
	}
	off := func(o options, t float64) float64 {
		o.temp = t
		if st := j.function(side, k, &o); st != nil {
			return j.away(side, k, st)
		}
		return math.NaN()
	}
	was := off(base, base.temp)
	if !(was > OtherLogits) {
		return nil
	}
	best, least := base, math.Inf(1)
	for _, c := range unique([]float64{base.softcap}, j.sides[side].caps()...) { // a cap that is fitted without the temperature is another one
		o := base
		o.softcap = c
		for middle, step := 1.0, 1.4; step > 1.0005; step = math.Pow(step, 1.0/8) { // 1/15 to 15, then around the best so far
			at, low := middle, math.Inf(1)
			for i := -8; i <= 8; i++ {
				t := middle * math.Pow(step, float64(i))
				if x := off(o, t); x < low {
					at, low = t, x
				}
			}
			if middle = at; low < least {
				best, least = o, low
				best.temp, _ = strconv.ParseFloat(strconv.FormatFloat(at, 'g', 3, 64), 64)
			}
		}
	}
	if best.name, best.args = "temperature", []any{best.temp}; !(off(best, best.temp) < explained*was) {
		return nil
	}
	return []options{best}
}

// windows are those that masks, or the arguments of attention, tell.
func (n *net) windows(s *side) (list []int) {
	for _, p := range s.passes[:min(len(s.passes), 2)] {
		for _, c := range p.calls {
			if !attends(c) {
				continue
			}
			if w, ok := scalar(c, msprobe.Kwargs, "pre_tokens"); ok && w > 0 && w < 1<<30 {
				list = append(list, int(w))
			}
			for i := range c.Values {
				v := &c.Values[i]
				if v.Kind != msprobe.Tensor || v.Path != "attn_mask" || len(v.Shape) != 4 || v.Shape[3] <= 0 || len(list) > 8 {
					continue
				}
				m, err := p.load(v)
				if err != nil {
					continue
				}
				t, most := int(v.Shape[3]), 0
				for at := 0; at+t <= len(m); at += t {
					k := 0
					for _, x := range m[at : at+t] {
						if v.Elem.IsBool() && x != 0 || !v.Elem.IsBool() && x == 0 {
							k++
						}
					}
					most = max(most, k)
				}
				if most > 0 && most < t && !slices.Contains(list, most) {
					list = append(list, most)
				}
			}
		}
	}
	for _, w := range []int{4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096} {
		if w < n.longest() && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

func (n *net) longest() (l int) {
	for _, q := range n.tok.seqs {
		l = max(l, q.hi-q.lo)
	}
	return l
}
