package oracle

import (
	"math"
	"strings"

	"precision/dump"
)

func isCollective(t string) bool { return strings.HasPrefix(t, "Hcom") }

// collective checks an operator that several devices ran together. HcomAllReduce:
// y is the reduction of the inputs of all ranks, equal to the last bit on all of
// them. B = g(R-1)·Σ|x_r| for a sum, and v·(R-1)·Σ|x_r| where every partial sum
// may be rounded to a narrow type. Prototype: hcom_ops.h.
func (j Job) collective(t task, r *dump.Reader, s Settings) []Finding {
	findings := make([]Finding, len(r.Outputs))
	for i := range findings {
		findings[i] = blank(t.op, r, i)
	}
	if t.op.Type != "HcomAllReduce" {
		return refused(findings, because(NoOperator, t.op.Type))
	}
	calls, mine, closers, err := j.group(t, r, s)
	defer func() {
		for _, c := range closers {
			c.Close()
		}
	}()
	if err != nil {
		return failed(findings, err, "")
	}
	if len(calls) < 2 {
		return refused(findings, because(OneRank, len(calls)))
	}
	for i := range findings {
		checkAllReduce(&findings[i], calls, mine, i, s)
	}
	return findings
}

// group opens the same operator of all devices of the step.
func (j Job) group(t task, r *dump.Reader, s Settings) (calls []*Call, mine int, closers []*dump.Reader, err error) {
	me := j.Devices[t.device]
	for d, device := range j.Devices {
		if device.Step != me.Step {
			continue
		}
		reader := r
		if d == t.device {
			mine = len(calls)
		} else {
			rec := device.Folder.Op(t.op.Name)
			if rec == nil {
				return nil, 0, closers, refuse(NoInput, "rank "+itoa(device.Rank))
			}
			if reader, err = rec.Newest().Open(); err != nil {
				return nil, 0, closers, refuse(BadDump, err)
			}
			closers = append(closers, reader)
		}
		c, _, err := newCall(t.op, reader, s.Env)
		if err != nil {
			return nil, 0, closers, err
		}
		calls = append(calls, c)
	}
	return calls, mine, closers, nil
}

func checkAllReduce(f *Finding, calls []*Call, mine, i int, s Settings) {
	me := calls[mine]
	if i >= len(me.outs) || me.outs[i] == nil || i >= len(me.slots) {
		f.Reasons = append(f.Reasons, because(BadTensor, "output "+itoa(i), "not read"))
		return
	}
	var in []Values
	for _, c := range calls {
		if i >= len(c.slots) || c.slots[i] == nil || i >= len(c.outs) || c.outs[i] == nil {
			f.Reasons = append(f.Reasons, because(NoInput, itoa(i)))
			return
		}
		in = append(in, c.slots[i])
	}
	v, err := reduceRanks(me, in)
	if err != nil {
		f.fail(err, "")
		return
	}
	c := checker{call: me, index: 0, rec: me.outs[i], full: s.Full}
	c.check(f, []Reading{{Out: []Values{v}}})
	c.againstOthers(f, calls, mine, i)
}

func reduceRanks(c *Call, in []Values) (Values, error) {
	n := float64(len(in))
	v := precisionFor(c.outs[0].typ).v
	unit := max(gamma(n, u32), v*(n-1))
	reduction := c.attrs.Get("reduction").Text()
	return attempt(func() Values {
		return elementsOf(func(x, e [][]float64, y, b []float64) {
			for i := range y {
				size := 0.0
				y[i] = x[0][i]
				for _, rank := range x {
					size += abs(rank[i])
				}
				for _, rank := range x[1:] {
					switch reduction {
					case "max":
						y[i] = math.Max(y[i], rank[i])
					case "min":
						y[i] = math.Min(y[i], rank[i])
					case "prod":
						y[i] *= rank[i]
					default:
						y[i] += rank[i]
					}
				}
				if b == nil {
					continue
				}
				switch reduction {
				case "max", "min":
					b[i] = 0
				case "prod":
					b[i] = unit * abs(y[i])
				default:
					b[i] = unit * size
				}
			}
		}, nil, false, in)
	})
}

// againstOthers holds the output against that of the other ranks: it must be
// the same to the last bit. A rank that differs from all others, which agree,
// is wrong; where its output is its own input, that is said.
func (c *checker) againstOthers(f *Finding, calls []*Call, mine, i int) {
	n := c.rec.view.Len()
	differs := func(a, b *operand) int64 {
		if a.view.Len() != b.view.Len() {
			return n
		}
		x, y := make([]float64, min(n, slab)), make([]float64, min(n, slab))
		count := int64(0)
		for lo := int64(0); lo < n; lo += slab {
			k := min(slab, n-lo)
			if a.Range(lo, x[:k], nil) != nil || b.Range(lo, y[:k], nil) != nil {
				return 0
			}
			for p := range k {
				if x[p] != y[p] && !(math.IsNaN(x[p]) && math.IsNaN(y[p])) {
					count++
				}
			}
		}
		return count
	}
	from, agree := int64(0), 0
	for r, call := range calls {
		if r == mine {
			continue
		}
		if d := differs(c.rec, call.outs[i]); d > 0 {
			from = max(from, d)
		} else {
			agree++
		}
	}
	if from == 0 {
		return
	}
	own := differs(c.rec, calls[mine].slots[i]) == 0
	switch {
	case f.Verdict == Unknown && len(f.Reasons) > 0 && f.Reasons[0].Kind == InPlace:
		return
	case own || agree == 0 && len(calls) > 2 || f.Verdict == Wrong:
		f.Verdict = Wrong
	case f.Verdict == OK:
		f.Verdict = Suspect
	}
	f.Reasons = append(f.Reasons, because(RankDiffers, from))
	if own {
		f.Reasons = append(f.Reasons, because(OwnInput))
	}
}
