package trainlog

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/internal/each"
)

// Difference is what two logs differ in, quantity by quantity.
type Difference struct {
	A, B *Log
	// Quantities are those that both logs have; OnlyA and OnlyB name the others.
	Quantities   []Quantity
	OnlyA, OnlyB []string
	// Settings are those that both logs tell, or one of two that tell some, with different values: those that only tell where
	// things are come last.
	Settings []Changed
}

// Set counts the settings that may be why two trainings differ.
func (d *Difference) Set() int {
	if n := slices.IndexFunc(d.Settings, func(s Changed) bool { return s.Place }); n >= 0 {
		return n
	}
	return len(d.Settings)
}

// Differs tells whether a quantity parts, or the loss scale falls in one log and
// not, or not as often, in the other.
func (d *Difference) Differs() bool {
	return slices.ContainsFunc(d.Quantities, func(q Quantity) bool { return q.Parts }) || d.A.DropCount != d.B.DropCount || d.Set() > 0
}

// leastCommon is the share of the steps that both logs must have for nothing to be found to
// show anything: a log cut short has the steps in which trainings diverge last.
const leastCommon = 0.95

// Short tells of how many steps, of how many that one of the logs reaches, only one has the
// quantity; ok is false where both have nearly all. Logs that note every tenth step reach as
// far as others.
func (d *Difference) Short() (q *Quantity, common, of int64, ok bool) {
	for i := range d.Quantities {
		q := &d.Quantities[i]
		if len(q.A.Points) == 0 || len(q.B.Points) == 0 {
			continue
		}
		firstA, lastA := q.A.Points[0].Step, q.A.Points[len(q.A.Points)-1].Step
		firstB, lastB := q.B.Points[0].Step, q.B.Points[len(q.B.Points)-1].Step
		common, of := min(lastA, lastB)-max(firstA, firstB)+1, max(lastA, lastB)-min(firstA, firstB)+1
		common -= q.A.holes(q.B) + q.B.holes(q.A)
		// The last steps of a log that notes every n-th one are none that it lacks.
		if slack := max(interval(q.A), interval(q.B)) - 1; float64(common+slack) < leastCommon*float64(of) {
			return q, max(common, 0), of, true
		}
	}
	return nil, 0, 0, false
}

// Lost tells that one of the logs lacks something that the other has, be it a step, that its last line has no end, that
// values were replaced by those of steps that came again, or that a quantity says nothing in either.
func (d *Difference) Lost() bool {
	return d.A.Torn+d.B.Torn != "" || len(d.OnlyA)+len(d.OnlyB) > 0 || d.A.Replayed+d.B.Replayed > 0 || slices.ContainsFunc(d.Quantities, func(q Quantity) bool {
		return q.Common < max(len(q.A.Points), len(q.B.Points)) || q.Blank
	})
}

// around is how many gaps between values tell how many steps a log goes from one to the next there: a log may note every
// step first, and then every tenth one.
const around = 9

// holes counts the steps that a series lacks between its first and its last one, beyond those that it leaves out as a rule,
// where another one has some.
func (s *Series) holes(other *Series) (n int64) {
	gaps := make([]int64, max(0, len(s.Points)-1))
	for i := range gaps {
		gaps[i] = s.Points[i+1].Step - s.Points[i].Step
	}
	near := make([]int64, 0, around)
	k := 0
	for i, gap := range gaps {
		at := min(max(0, i-around/2), max(0, len(gaps)-around))
		near = append(near[:0], gaps[at:min(len(gaps), at+around)]...)
		slices.Sort(near)
		if usual := near[len(near)/2]; gap > usual {
			for k < len(other.Points) && other.Points[k].Step <= s.Points[i].Step {
				k++
			}
			if k < len(other.Points) && other.Points[k].Step < s.Points[i+1].Step {
				n += gap - usual
			}
		}
	}
	return n
}

// interval is how many steps lie between two values, of most.
func interval(s *Series) int64 {
	n := int64(len(s.Points))
	if n < 2 {
		return 1
	}
	return max(1, (s.Points[n-1].Step-s.Points[0].Step)/(n-1))
}

// Inconclusive tells that nothing was found to differ, and that the logs have too little in
// common for that to show anything.
func (d *Difference) Inconclusive() bool {
	_, _, _, short := d.Short()
	return !d.Differs() && (len(d.Quantities) == 0 || short || d.Lacks() != "" || d.Blank() || d.Few() != nil)
}

// Lacks is a quantity without which two logs cannot be told to be together, and which one of them lacks: the loss, or
// what was asked for by an expression.
func (d *Difference) Lacks() string {
	for _, name := range slices.Concat(d.OnlyA, d.OnlyB) {
		if name == Loss || d.A.Given {
			return name
		}
	}
	return ""
}

// Few is the first quantity that common steps are too few to judge, or nil.
func (d *Difference) Few() *Quantity {
	if i := slices.IndexFunc(d.Quantities, func(q Quantity) bool { return q.Few }); i >= 0 {
		return &d.Quantities[i]
	}
	return nil
}

// Blank tells that no quantity that is computed says anything, or that the loss is no number at any step.
func (d *Difference) Blank() bool {
	said, blank := 0, 0
	for i := range d.Quantities {
		switch q := &d.Quantities[i]; {
		case q.Blank && q.Name == Loss && !finite(float64(q.FirstA)):
			return true
		case q.Blank:
			blank++
		case !q.set():
			said++
		}
	}
	return blank > 0 && said == 0
}

// Quantity is a series of both logs.
type Quantity struct {
	Name string  `json:"name"`
	A    *Series `json:"-"`
	B    *Series `json:"-"`
	// Common counts the steps that both have.
	Common int `json:"common_steps"`
	// First is the first of them, with the values of both.
	FirstStep int64  `json:"first_step"`
	FirstA    Number `json:"first_a"`
	FirstB    Number `json:"first_b"`
	// Parts tells that they part, where Parting says, which is never nil, for the reason Why.
	Parts bool `json:"parts"`
	*Parting
	Why Why `json:"why,omitempty"`
	// Noise is by how much the two differ before that from step to step, and Drift
	// by how much on average behind it, both relative to the size of the values.
	Noise Number `json:"noise"`
	Drift Number `json:"drift"`
	// Last is by how much the last common values differ, relatively.
	Last Number `json:"last_relative_difference"`
	// Blank: in both logs it is the same number at every step, 0, or none: that they agree shows nothing.
	Blank bool `json:"blank,omitempty"`
	// Few: there are too few common steps to tell noise, and in their second half the two are further apart on average, by
	// Drift, than what parts: neither that they part nor that they do not is shown.
	Few bool `json:"few,omitempty"`
}

// Parting is the step at which two series part, and their values there.
type Parting struct {
	PartStep int64  `json:"part_step"`
	PartA    Number `json:"part_a"`
	PartB    Number `json:"part_b"`
}

// set tells of a quantity that the program sets, and does not compute: it is the same, or it is not.
func (q *Quantity) set() bool { return q.Name == Scale || q.Name == Rate }

// blank tells that values of either log say nothing.
func (c *both) blank() bool {
	first := c.a[0]
	return !slices.ContainsFunc(slices.Concat(c.a, c.b), func(v float64) bool { return v != first && finite(v) }) && (len(c.a) > 1 || first == 0 || !finite(first))
}

// Why is the reason why two series part.
type Why string

// The reasons.
const (
	NotFinite Why = "not-finite" // NaN or Inf on one side only
	Start     Why = "start"      // from the first step on
	Apart     Why = "apart"      // beyond the noise there was before, to stay
	Unequal   Why = "unequal"    // of what is set and not computed: it is not the same
	// Noisier: step by step the two were close, and from one step on they are not, to
	// neither side on average, as when batches are drawn in another order. Drift is the root
	// mean square of the differences from there, Noise the most that windows had before.
	Noisier Why = "noise"
	// Leap: a factor apart at once, far more than the logs ever were before, for a few steps or to the
	// end. Drift is the factor, less 1.
	Leap Why = "leap"
)

const (
	// DefaultFloor is the relative difference of means below which nothing parts: trainings that differ by less than 2 %
	// in their loss are not told apart.
	DefaultFloor = 0.02
	// leastStart is that of the first values which nothing but rounding explains if weights and data are the same: the
	// first loss is the same to 2 %, also in float16.
	leastStart = 0.02
)

// Diff compares two logs.
func Diff(a, b *Log, floor float64) *Difference {
	d := &Difference{A: a, B: b, Settings: changed(a, b)}
	for _, s := range a.Series {
		if t := b.Find(s.Name); t != nil && a.ByEpoch == b.ByEpoch {
			if q := compare(s, t, floor); q.Common > 0 {
				d.Quantities = append(d.Quantities, q)
				continue
			}
		}
		d.OnlyA = append(d.OnlyA, s.Name)
	}
	for _, t := range b.Series {
		if s := a.Find(t.Name); s == nil || !slices.ContainsFunc(d.Quantities, func(q Quantity) bool { return q.Name == t.Name }) {
			d.OnlyB = append(d.OnlyB, t.Name)
		}
	}
	return d
}

// both are two series at the steps they have in common.
type both struct {
	steps []int64
	a, b  []float64
	printed
	// low is the last digit that is printed or, of values to both sides of zero, a tenth of the usual ones: those that are close to zero tell
	// nothing.
	low float64
}

func common(s, t *Series) (c both) {
	for i, j := 0, 0; i < len(s.Points) && j < len(t.Points); {
		p, q := s.Points[i], t.Points[j]
		if p.Step <= q.Step {
			i++
		}
		if q.Step <= p.Step {
			j++
		}
		if p.Step == q.Step {
			c.steps, c.a, c.b = append(c.steps, p.Step), append(c.a, p.Value), append(c.b, q.Value)
		}
	}
	c.printed, c.low = printed{}, math.Inf(1)
	for _, list := range [][]float64{c.a, c.b} {
		c.see(list)
		if slices.ContainsFunc(list, func(v float64) bool { return v < 0 }) {
			c.low = min(c.low, quantile(each.Of(list, math.Abs), 1, 2)/10)
		}
	}
	if math.IsInf(c.low, 1) {
		for _, unit := range c.printed {
			c.low = min(c.low, unit)
		}
	}
	return c
}

func compare(s, t *Series, floor float64) Quantity {
	q := Quantity{Name: s.Name, A: s, B: t, Parting: &Parting{}}
	c := common(s, t)
	if q.Common = len(c.steps); q.Common == 0 {
		return q
	}
	q.FirstStep, q.FirstA, q.FirstB = c.steps[0], Number(c.a[0]), Number(c.b[0])
	q.Last = Number(relative(c.a[q.Common-1], c.b[q.Common-1]))
	at, why := -1, Why("")
	switch {
	case q.set(): // Logs round what they print.
		for i := range c.a {
			if relative(c.a[i], c.b[i]) > 2e-3 {
				at, why = i, Unequal
				break
			}
		}
	default:
		at, why = q.part(&c, floor)
		// A leap tells more than a little that came before it.
		l := q
		if leap, how := l.leap(&c, at < 0); leap >= 0 && (at < 0 || leap < at || why == Apart && leap > at && float64(l.Noise) < driftOver*floor) {
			q, at, why = l, leap, how
		}
	}
	if bad := notFinite(&c); bad >= 0 && (at < 0 || bad <= at) {
		at, why = bad, NotFinite
	}
	q.Blank = !q.set() && c.blank()
	if at >= 0 {
		q.Parts, q.Why, q.Few = true, why, false
		q.Parting = &Parting{c.steps[at], Number(c.a[at]), Number(c.b[at])}
	}
	return q
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// notFinite is the first place where one side has a number and the other has none.
func notFinite(c *both) int {
	for i := range c.a {
		if finite(c.a[i]) != finite(c.b[i]) {
			return i
		}
	}
	return -1
}

func relative(a, b float64) float64 {
	if a == b || !finite(a) && !finite(b) {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// windowsOfNoise is how many windows tell noise.
const windowsOfNoise = 4

// part finds where two series of computed values part.
//
// Two trainings never print the same numbers, and how far apart they are from
// step to step tells how much that means: much where batches are drawn in another
// order, little where they are the same. Differences are taken relative to the
// size of the values and averaged over windows. A window is off if its mean is
// beyond the floor and beyond three and a half standard errors of a mean of this noise. They
// part at the first of the windows that are off to one side from there to the end,
// which is a sixth of them at least, or for four windows by five times as much:
// trainings drift apart for a while, and come together again. Within the first of these, at the first step beyond three times the
// noise.
func (q *Quantity) part(c *both, floor float64) (int, Why) {
	n := len(c.a)
	level := make([]float64, n) // size of the values, smoothed
	d := make([]float64, n)
	size := 0.0
	for i := range d {
		if m := max(math.Abs(c.a[i]), math.Abs(c.b[i])); finite(m) {
			size = cmp.Or(size, m)
			size += (m - size) / 8
			size = max(size, m/4)
		}
		level[i] = max(size, math.SmallestNonzeroFloat64)
		if d[i] = (c.a[i] - c.b[i]) / level[i]; !finite(d[i]) {
			d[i] = 0
		}
	}
	width := min(max(n/50, 5), 200)
	windows := n / width
	if windows < windowsOfNoise {
		// Too short for noise: the first values are all that tells.
		if relative(c.a[0], c.b[0]) > leastStart && c.tell(c.a[0], c.b[0]) {
			return 0, Start
		}
		if by := mean(d[n/2:]); math.Abs(by) > floor && c.tell(c.a[n-1], c.b[n-1]) {
			q.Few, q.Drift = true, Number(by)
		}
		return -1, ""
	}
	means := make([]float64, windows)
	for w := range means {
		end := (w + 1) * width
		if w == windows-1 {
			end = n
		}
		means[w] = mean(d[w*width : end])
	}
	// Noise from step to step, and that of windows among their neighbours, which
	// is more where differences hang together. The smaller part of the windows
	// says: behind the parting there is no noise but drift.
	noise := spread(d)
	q.Noise = Number(noise)
	deviation := max(noise/math.Sqrt(float64(width)), spread(means))
	limit := max(floor, 3.5*deviation)
	from, run := -1, 0
	for w := windows - 1; w >= 0; w-- {
		switch {
		case math.Abs(means[w]) <= limit:
			run = 0
			continue
		case run > 0 && means[w]*means[w+1] < 0:
			run = 0
		}
		run++
		lasting := w+run == windows && run >= max(3, windows/6)
		if lasting || run >= 4 && slices.Min(each.Of(means[w:w+run], math.Abs)) > 5*limit {
			from = w
		}
	}
	if from < 0 {
		if at := q.noisier(d, width, floor); at >= 0 {
			return at, Noisier
		}
		// What grows from step to step is noise to so few windows; to one side in the second half it may be a parting.
		if by := mean(d[n/2:]); windows < 2*windowsOfNoise && math.Abs(by) > floor && stays(d[n/2:], by) {
			q.Few, q.Drift = true, Number(by)
		}
		return -1, ""
	}
	// What hangs together behind the parting, where most windows may lie, is no noise: where there was little before, that says how
	// early it begins.
	if from >= windowsOfNoise {
		if before := spread(d[:from*width]); 3.5*max(before/math.Sqrt(float64(width)), spread(means[:from])) <= floor {
			noise, q.Noise = before, Number(before)
			for from > 0 && means[from-1]*means[from] > 0 && math.Abs(means[from-1]) > floor {
				from--
			}
		}
	}
	q.Drift = Number(mean(means[from:]))
	if from == 0 && relative(c.a[0], c.b[0]) > max(leastStart, 3*noise) {
		return 0, Start
	}
	for i := max(from-1, 0) * width; i < n; i++ {
		if math.Abs(d[i]) > max(floor/2, 3*noise) && d[i]*means[from] > 0 && (i >= from*width || stays(d[i:from*width], means[from])) {
			return i, Apart
		}
	}
	return from * width, Apart
}

// noiseJump is how many times as far apart steps must be, from one step to the end, as
// they ever were before. In trainings that differ by rounding alone (TestTrained) distances
// grow step by step, and no window has more than twice what all before it had; behind a
// fault that keeps the mean they had 22 times as much.
const noiseJump = 8

// noisier finds the step from which two series that were close are far apart in every
// window, and sets Noise and Drift; -1 where there is none. What is below a quarter of the
// floor counts as that: logs round what they print.
func (q *Quantity) noisier(d []float64, width int, floor float64) int {
	windows := len(d) / width
	sizes := make([]float64, windows)
	for w := range sizes {
		sizes[w] = rootMeanSquare(d[w*width : (w+1)*width])
	}
	after := make([]float64, windows+1) // the least from a window on
	after[windows] = math.Inf(1)
	for w := windows - 1; w >= 0; w-- {
		after[w] = min(sizes[w], after[w+1])
	}
	before := floor / 4
	for w := range windows {
		// It happens within a window: what is behind it is far apart.
		if rest := windows - w - 1; w >= 4 && rest >= max(3, windows/6) && after[w+1] > noiseJump*before {
			at := w * width
			for at < (w+1)*width && math.Abs(d[at]) <= 3*before {
				at++
			}
			q.Noise, q.Drift = Number(before), Number(rootMeanSquare(d[at:]))
			return at
		}
		before = max(before, sizes[w])
	}
	return -1
}

const (
	// leastLeap is the factor by which values are apart at once that no rounding makes, leastTail that by which they are to the end.
	leastLeap, leastTail = 2.0, 1.3
	// equalLeap is the factor that is enough where the steps before were equal to the last digit, or nearly: what rounding makes of
	// equal trainings grows from step to step.
	equalLeap = 1.04
	// leapAfter is how many steps there have to be before, and leapOwn how many, for the steps that the logs take by themselves to
	// be no reason any more; before that they are not where they are calmOver times as large as what lies between the logs.
	leapAfter, leapOwn, calmOver = 2, 8, 10
	// leapSteps is how many times as large as these a leap is with fewer.
	leapSteps = 3
	// leapChance is how likely a leap is found in two healthy logs, if how far apart they are falls off as tails say.
	leapChance = 0.001
	// tailOver is how many times as far apart as ever before all steps are, half of them, if that stays so to the end.
	tailOver = 2
	// aloneOver is how many times as far apart as ever behind it is what stands alone.
	aloneOver = 1.25
	// driftOver is how many times the floor two logs have drifted apart where a leap behind that is not what matters.
	driftOver = 5
	// spikeSteps is over how many steps a spike decays.
	spikeSteps = 10
)

// tails is how the greatest of values that are how far apart two logs are compares with those that come. Their tails are taken
// to fall off with exp(-x^power), which the greatest and the one in the middle tell, but not faster than 1.5.
type tails struct {
	seen  []float64
	most  float64
	power float64
}

func (t *tails) see(x float64) {
	t.seen, t.most = append(t.seen, x), max(t.most, x)
	if n := len(t.seen); n >= 16 && n&(n-1) == 0 { // is kept until there are twice as many
		middle := quantile(slices.Clone(t.seen), 1, 2)
		t.power = min(max(math.Log(math.Log(float64(n))/math.Ln2)/math.Log(t.most/middle), 1), 1.5)
	}
}

// over is how many times as large as the greatest so far a value is that is none of them: with exponential tails the greatest of n values
// is log n times their scale, so that another is c times as large with n to the power of -c, and one of all that come
// with n^(1-c)/(c-1). Tails that fall off faster count for one that stands out from what comes behind it, too: noise may grow.
func (t *tails) over(alone bool) float64 {
	c := 1 - math.Log(leapChance)/math.Log(float64(len(t.seen)+1))
	if alone && t.power > 1 {
		c = math.Pow(c, 1/t.power)
	}
	return c
}

// leap finds the first step at which the values of two logs are a factor apart, or, with tail, from which they are to the end, that neither the
// steps before nor what the logs do by themselves explain; -1 where there is none. Noise is
// estimated from what lies before alone, and that of the first steps, which have too few before, from all but
// a twentieth of those behind.
func (q *Quantity) leap(c *both, tail bool) (int, Why) {
	n := len(c.a)
	own := leapSteps * min(jitter(c.a), jitter(c.b)) // the other may have the leap
	calm := math.Inf(1)
	if n >= 8*leapAfter {
		var list []float64
		for i := 2 * leapAfter; i < n; i++ {
			if by, ok := c.apart(i); ok {
				list = append(list, by)
			}
		}
		if len(list) > 0 {
			calm = 4 * quantile(list, 19, 20)
		}
	}
	rest := behind(c)
	var before tails
	large, small := math.Log(leastLeap), math.Log(equalLeap)
	for i := range c.a {
		apart, ok := c.apart(i)
		if !ok {
			continue
		}
		why := Why("")
		if i < 2*leapAfter && apart >= max(large, calm, own) {
			why = Leap
		}
		if i >= leapAfter && c.tell(c.a[i], c.b[i]) {
			most, over := before.most, before.over(apart > aloneOver*rest[i+min(spikeSteps, (n-i)/2)].later)
			unlike := i >= leapOwn || most == 0 || apart >= own ||
				i > leapAfter && min(jitter(c.a[:i]), jitter(c.b[:i])) > calmOver*most
			switch {
			case !unlike || apart < small:
			// What is less than twice as much has to be so many times further from what was.
			case apart*min(apart, large) >= over*most*large:
				why = Leap
			case tail && i < n-1 && rest[i].least > most && rest[i].middle >= max(math.Log(leastTail), most*max(tailOver, over/float64(n-i))):
				why, apart = Apart, rest[i].middle
			}
		}
		if why != "" {
			q.Noise, q.Drift = Number(math.Expm1(before.most)), Number(math.Expm1(apart))
			return i, why
		}
		before.see(apart)
	}
	return -1, ""
}

// rest is how far apart two logs are behind a step, at most, and from it on, if they are to one side all the time: at least, and in the middle.
type rest struct{ later, least, middle float64 }

func behind(c *both) []rest {
	n := len(c.a)
	list, logs := make([]rest, n+1), make([]float64, n)
	later, least, side := 0.0, math.Inf(1), 0.0
	for i := n - 1; i >= 0; i-- {
		list[i].later = later
		far := c.a[i] - c.b[i]
		if logs[i], _ = c.apart(i); far*side < 0 {
			least = 0
		}
		side, least, later = far, min(least, logs[i]), max(later, logs[i])
		list[i].least, list[i].middle = least, logs[(i+n)/2]
	}
	return list
}

// apart is the factor between the values of a step, as a logarithm. Of values to either side of zero it is that from the smaller
// one to what lies between them, of which no less than [both.low] counts.
func (c *both) apart(i int) (by float64, ok bool) {
	a, b := c.a[i], c.b[i]
	low, high := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
	switch {
	case !finite(a) || !finite(b):
		return 0, false
	case a == b:
		return 0, true
	case a*b <= 0:
		high += low
	}
	return math.Log(high / max(low, min(c.low, high))), true
}

// jitter is how far a log goes, as logarithms, from where the steps about a step let expect it, in all but a twentieth of its
// steps: a curve that falls has none.
func jitter(list []float64) float64 {
	var steps []float64
	for i := 1; i+1 < len(list); i++ {
		if v := list[i] * list[i]; list[i-1]*list[i+1] > 0 && v > 0 && finite(v) && finite(list[i-1]*list[i+1]) {
			steps = append(steps, math.Abs(math.Log(v/(list[i-1]*list[i+1])))/2)
		}
	}
	return quantile(steps, 19, 20)
}

// quantile is the value of a list below which so many of so many are; it sorts the list.
func quantile(list []float64, of, all int) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*of/all]
}

// printed is the unit of the last digit that logs print, for values of every power of ten.
type printed map[int]float64

func (p printed) see(list []float64) {
	for _, v := range list {
		text := strconv.FormatFloat(v, 'e', -1, 64)
		mantissa, power, ok := strings.Cut(text, "e")
		exponent, err := strconv.Atoi(power)
		if !ok || err != nil || v == 0 {
			continue
		}
		// A first digit, a point and the others, of which there is one at least.
		unit := math.Pow10(exponent - max(len(strings.TrimLeft(mantissa, "-"))-2, 1))
		if u, seen := p[exponent]; !seen || unit < u {
			p[exponent] = unit
		}
	}
}

// tell tells whether two values are further apart than what is printed of equal ones.
func (p printed) tell(a, b float64) bool {
	large := max(math.Abs(a), math.Abs(b))
	if large == 0 || !finite(large) {
		return true
	}
	return math.Abs(a-b) > 1.5*p[int(math.Floor(math.Log10(large)))]
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(max(1, len(list)))
}

func rootMeanSquare(list []float64) float64 {
	return math.Sqrt(mean(each.Of(list, func(x float64) float64 { return x * x })))
}

// stays tells whether most differences have the sign of a drift.
func stays(d []float64, drift float64) bool {
	n := 0
	for _, x := range d {
		if x*drift > 0 {
			n++
		}
	}
	return 10*n >= 9*len(d)
}

// spread is the standard deviation of a series about what it drifts to, from the
// median of what changes from one to the next, which single jumps do not move.
func spread(list []float64) float64 {
	var steps []float64
	for i := 1; i < len(list); i++ {
		steps = append(steps, math.Abs(list[i]-list[i-1]))
	}
	return quantile(steps, 1, 2) * 1.4826 / math.Sqrt2
}
