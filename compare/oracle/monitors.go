package oracle

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/monitor"
)

// Monitors: what the statistics of a training tell step by step
//
// A series is held against its own history, which says what is usual: the median and the quartiles of the steps before. What
// happens first in the order of a step is what is said; what lies behind it at the same step, or takes it on, follows.

const (
	// leastHistory is how many steps there have to be before.
	leastHistory = 3
	// spikeMedian is the least multiple of the median that a spike is, and spikeFew what is added to it for a history of one
	// step: of few steps little is known of how far they spread. spikeSpread is how many times as far as the quartiles are apart it
	// lies beyond the upper one. Of numbers that spread as logarithms do with a deviation of 0.5, as norms of gradients do, 1 in
	// 10⁵ is a spike by that (TestSpikesOfNoise).
	spikeMedian, spikeFew, spikeSpread = 4, 48, 10
	// longestHistory is how many steps are looked back.
	longestHistory = 128
)

// spikeOf is the first place where numbers spike, with the median of those before; -1 if they do not.
// limit = max(q3 + 10·(q3 − q1), (4 + 48/n)·median) of the n ≤ 128 steps before: 20 times the median after 3 steps,
// 4.4 times after 120. Steps without a number are passed over.
func spikeOf(x []float64) (at int, median float64) {
	var before []float64
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if n := len(before); n >= leastHistory {
			sorted := slices.Clone(before[max(0, n-longestHistory):])
			slices.Sort(sorted)
			n = len(sorted)
			median := sorted[n/2]
			limit := max(sorted[n*3/4]+spikeSpread*(sorted[n*3/4]-sorted[n/4]), (spikeMedian+spikeFew/float64(n))*median)
			if median > 0 && v > limit {
				return i, median
			}
		}
		before = append(before, v)
	}
	return -1, 0
}

// event is what happens to a series first.
type event struct {
	at     *monitor.Series
	index  int // in the list of series
	step   int64
	number bool // it is no number
	why    result.Reason
	ratio  float64
	found  float64
	median float64
}

// order compares events by when in a step they happen; ranks do not tell them apart.
func (e *event) order(o *event) int {
	return cmp.Or(cmp.Compare(e.step, o.step), e.at.Phase()-o.at.Phase(), cmp.Compare(e.at.Micro, o.at.Micro), e.at.Order-o.at.Order)
}

// seriesName is what a series is called in findings.
func seriesName(s *monitor.Series) string {
	return "rank" + strconv.Itoa(s.Rank) + "/" + s.Metric + "/" + s.Name
}

// CheckMonitors judges what monitors recorded, a finding for each series, in the order of ranks and steps.
// A series is unknown where nothing happens to it: statistics alone never say that a tensor is right.
func CheckMonitors(d *monitor.Data) []Finding {
	list := slices.Clone(d.Series)
	slices.SortStableFunc(list, func(a, b *monitor.Series) int {
		return cmp.Or(a.Rank-b.Rank, a.Phase()-b.Phase(), cmp.Compare(a.Metric, b.Metric), a.Order-b.Order, cmp.Compare(a.Micro, b.Micro))
	})
	has := map[string]bool{} // a number at some step of some rank, so that a tensor is expected
	for _, s := range list {
		for i := range s.Points {
			if !math.IsNaN(s.Points[i].Size()) {
				has[peersOf(s)] = true
			}
		}
	}
	findings := make([]Finding, len(list))
	var events []*event
	for i, s := range list {
		f := &findings[i]
		*f = Finding{Op: seriesName(s), Type: s.Metric, ID: int64(i), Rank: -1, Index: int(s.Micro), Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan}
		if s.Again > 0 {
			f.Reasons = append(f.Reasons, because(StepsAgain, s.Again))
		}
		for k := range s.Points {
			f.History = append(f.History, Past{s.Points[k].Step, s.Points[k].Size()})
		}
		e := eventOf(s, has[peersOf(s)], d.Dump)
		switch {
		case e != nil:
			e.index = i
			events = append(events, e)
		case !has[peersOf(s)]:
			unknown(f, because(NoStatistics))
		case d.Dump:
			unknown(f, because(Finite))
		case len(s.Points) <= leastHistory:
			unknown(f, because(FewSteps, len(s.Points)))
		default:
			unknown(f, because(Steady, len(s.Points)))
		}
	}
	slices.SortStableFunc(events, func(a, b *event) int { return a.order(b) })
	peers := map[string]int{}
	for _, e := range events {
		peers[peersOf(e.at)+" "+strconv.FormatInt(e.step, 10)]++
	}
	var first causes
	for _, e := range events {
		f := &findings[e.index]
		f.Ratio, f.Found, f.Expected = e.ratio, e.found, e.median
		f.Reasons = append(f.Reasons, e.why)
		if cause := first.of(e); cause != nil {
			f.Verdict = Unknown
			f.Reasons = append(f.Reasons, because(Behind, cause.step, findings[cause.index].Op))
			continue
		}
		f.Verdict = Suspect
		if ranks := ranksOf(list, e.at); ranks > 1 {
			f.Reasons = append(f.Reasons, because(OnRanks, peers[peersOf(e.at)+" "+strconv.FormatInt(e.step, 10)], ranks))
		}
	}
	parted(list, findings)
	return findings
}

// Past is the size of a tensor at a step, NaN where it had none.
type Past struct {
	Step int64
	Size float64
}

// peersOf is what the series of ranks have in common.
func peersOf(s *monitor.Series) string {
	return strings.Join([]string{s.Metric, s.Stage, s.Name, strconv.FormatInt(s.Micro, 10)}, "\x00")
}

func ranksOf(list []*monitor.Series, of *monitor.Series) int {
	ranks := map[int]bool{}
	for _, s := range list {
		if s.Metric == of.Metric {
			ranks[s.Rank] = true
		}
	}
	return len(ranks)
}

// eventOf is the first step at which a series has no number although it should, spikes, or becomes 0; nil if there is none.
func eventOf(s *monitor.Series, has, dump bool) *event {
	var first *event
	sizes := make([]float64, len(s.Points))
	before, nonzero := 0, true
	for i := range s.Points {
		p := &s.Points[i]
		sizes[i] = p.Size()
		switch {
		case p.NaNs > 0:
			first = &event{at: s, step: p.Step, number: true, why: because(NaNAt, p.Step, p.NaNs), ratio: nan, found: nan, median: nan}
		case math.IsInf(sizes[i], 0):
			first = &event{at: s, step: p.Step, number: true, why: because(InfAt, p.Step), ratio: nan, found: sizes[i], median: nan}
		case math.IsNaN(sizes[i]) && has:
			first = &event{at: s, step: p.Step, number: true, why: because(NothingAt, p.Step), ratio: nan, found: nan, median: nan}
		case sizes[i] == 0 && before >= leastHistory && nonzero && !dump:
			first = &event{at: s, step: p.Step, why: because(ZeroAt, p.Step, before), ratio: nan, found: 0, median: nan}
		}
		if first != nil {
			break
		}
		before++
		nonzero = nonzero && sizes[i] > 0
	}
	if dump {
		return first
	}
	if at, median := spikeOf(sizes[:before]); at >= 0 {
		first = &event{at: s, step: s.Points[at].Step, ratio: sizes[at] / median, found: sizes[at], median: median}
		first.why = because(SpikeAt, first.step, sizes[at], sizes[at]/median, at)
	}
	return first
}

// causes are the first events that others follow from: no number of any before; a spike of one at the same step, or, of moments
// and parameters, of any before. What ranks exchange stands beside the layers, of which one is to be named, too.
// Each has two places: what ranks exchange is in the second.
type causes struct{ number, step, ever [2]*event }

// of is the event that another one follows from, nil where there is none, and remembers it. Events come in their order.
func (c *causes) of(e *event) *event {
	beside := 0
	if e.at.Metric == "comm" {
		beside = 1
	}
	if c.step[0] != nil && c.step[0].step != e.step || c.step[1] != nil && c.step[1].step != e.step {
		c.step = [2]*event{}
	}
	candidates := []*event{c.step[0]}
	if e.number {
		candidates = append(candidates, c.number[0])
	} else if e.at.Phase() >= 6 {
		candidates = append(candidates, c.ever[0])
	}
	if beside == 1 || e.at.Phase() > 5 {
		candidates = append(candidates, c.step[1])
	}
	if beside == 1 && e.number {
		candidates = append(candidates, c.number[1])
	}
	var cause *event
	for _, b := range candidates {
		if b != nil && b.order(e) != 0 && (e.number || !b.number) {
			cause = b
			break
		}
	}
	remember := func(at *[2]*event) {
		if at[beside] == nil {
			at[beside] = e
		}
	}
	remember(&c.step)
	if e.number {
		remember(&c.number)
	} else {
		remember(&c.ever)
	}
	return cause
}

// parted finds ranks whose reduced gradients, moments or parameters were equal at all steps before and are not at one.
// Replicas must have the same after an all_reduce; series are compared to the bit.
func parted(list []*monitor.Series, findings []Finding) {
	of := map[string][]int{}
	for i, s := range list {
		if s.Phase() >= 5 || s.Phase() == 0 {
			of[peersOf(s)] = append(of[peersOf(s)], i)
		}
	}
	for i, s := range list {
		peers := of[peersOf(s)]
		if len(peers) < 2 || peers[0] != i {
			continue
		}
		step, odd := partsAt(list, peers)
		for _, k := range odd {
			f := &findings[k]
			if f.Verdict == Unknown && len(f.Reasons) > 0 && f.Reasons[len(f.Reasons)-1].Kind != Behind {
				f.Verdict, f.Reasons = Suspect, nil
			}
			f.Reasons = append(f.Reasons, because(PeersPart, step, len(peers)))
		}
	}
}

// partsAt is the first step at which series that were the same part, with those that are not what most are: all if there are two.
func partsAt(list []*monitor.Series, peers []int) (step int64, odd []int) {
	for at := 0; ; at++ {
		count := map[float64]int{}
		for _, k := range peers {
			if at >= len(list[k].Points) {
				return 0, nil
			}
			p := &list[k].Points[at]
			if p.Step != list[peers[0]].Points[at].Step || math.IsNaN(p.Size()) {
				return 0, nil
			}
			count[p.Size()]++
		}
		if len(count) == 1 {
			continue
		}
		if at == 0 {
			return 0, nil // they were never the same
		}
		for _, k := range peers {
			if 2*count[list[k].Points[at].Size()] <= len(peers) {
				odd = append(odd, k)
			}
		}
		return list[peers[0]].Points[at].Step, odd
	}
}
