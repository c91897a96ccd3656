package job

import (
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strconv"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/whole"
)

// Result is what became of a job: the digests of its parts and what they come to
// together.
type Result struct {
	Plan *Plan
	// Digests and Mets are those of the plan's parts and meetings, in their order.
	Digests []*Digest
	Mets    []*Met
	// Verdict is that of the job: bad, inconclusive, suspect or good, the first of these that one
	// part has. A part that failed is inconclusive, and so is a job with a recording of either side
	// that has no partner.
	Verdict string
	// Counts are the parts by verdict; failed ones are under "failed".
	Counts map[string]int
	// Premise is what does not hold of the job, or of a part where the verdict is inconclusive for that; nil elsewhere.
	Premise *Premise
	// Losses are what the verdict does without, the gravest first.
	Losses []verdict.Loss
	// Origins are where errors begin, the earliest step first, and of a step in the order of
	// execution.
	Origins []Origin
	// Deviations are tensors that some ranks have otherwise than their peers.
	Deviations []Deviation
	// After is what became of the roots of an earlier result, nil without one.
	After *After
	// Pages are the pages of parts, below the folder of the job; empty for parts without one.
	Pages []string
}

// How many ranks have an origin.
const (
	ScopeAll  = "all"  // each rank that was compared: the software
	ScopeHost = "host" // the ranks of one host
	ScopeRank = "rank" // one rank of several: its hardware or its data
	ScopeSome = "some" // several ranks
	ScopeOnly = "only" // the only rank there is
)

// Origin is a root of one rank or of several.
type Origin struct {
	Op     string `json:"op"`
	Type   string `json:"type,omitempty"`
	Output int    `json:"output"`
	// Verdict is the worst of all ranks; Cause, Value and Limit are those of the first.
	Verdict string        `json:"verdict"`
	Cause   string        `json:"cause,omitempty"`
	Value   result.Number `json:"value"`
	Limit   result.Number `json:"limit"`
	// First is the step at which it appears, Ranks are the ranks that have it then, Steps
	// and AllRanks the steps and ranks that ever have it: lists such as 0,4-7.
	First    int    `json:"first_step"`
	Ranks    string `json:"ranks"`
	Steps    string `json:"steps"`
	AllRanks string `json:"all_ranks"`
	Scope    string `json:"scope"`
	Host     string `json:"host,omitempty"`
	// Through: the operator is a collective that did as it should, so that the error
	// came from the ranks From.
	Through bool   `json:"through,omitempty"`
	From    string `json:"from,omitempty"`
	// Collective: the operator is a collective that itself went wrong, as its meeting
	// tells.
	Collective bool `json:"collective,omitempty"`
	// Argument is what it begins with, nil where that is no argument of a call.
	Argument *Argument `json:"argument,omitempty"`
	// Calls: it is a call of a recording. Places are other calls that have the same fault, Reached
	// is where else its error arrives.
	Calls   bool     `json:"-"`
	Places  []string `json:"places,omitempty"`
	Reached []Reach  `json:"reached,omitempty"`
	// Later: errors appear at an earlier step, of which this may be a consequence.
	Later bool `json:"later,omitempty"`

	order int
}

// conclude draws the units in the journal of a folder together and writes what they
// come to.
func (p *Plan) conclude(ctx context.Context, dir *whole.Folder, s *Settings) *Result {
	byName := map[string]*Part{}
	for i := range p.Parts {
		byName[p.Parts[i].Name] = &p.Parts[i]
	}
	peers := &peerSet{}
	done := must.Get(readJournal(dir.Path(""), func(e *entry) {
		if part := byName[e.Unit]; part != nil && e.Digest != nil {
			peers.add(part, e.Digest.Peers)
		}
	})).done
	r := &Result{Plan: p, Digests: make([]*Digest, len(p.Parts)), Mets: make([]*Met, len(p.Meetings))}
	for i := range p.Parts {
		if e := done[p.Parts[i].Name]; e != nil && e.Digest != nil {
			r.Digests[i] = e.Digest
		} else {
			r.Digests[i] = &Digest{Failed: "nothing was found of it"}
		}
	}
	for i := range p.Meetings {
		if e := done[p.Meetings[i].Name]; e != nil {
			r.Mets[i] = e.Met
		}
	}
	all := r.settle()
	r.count()
	r.origins(all)
	r.Deviations = peers.deviations(p)
	if r.Verdict == verdict.Good.String() && len(r.Deviations) > 0 {
		r.Verdict = verdict.Suspect.String()
	}
	r.goOn()
	must.Do(dir.Fill(ResultFile, func(w io.Writer) error { return writeJSON(w, r.Saved()) }))
	if s.PartPage != nil {
		r.pages(ctx, dir, s)
	}
	if s.Page != nil {
		must.Do(dir.Fill(PageFile, func(w io.Writer) error { return s.Page(w, r) }))
	}
	return r
}

// mostPages is how many parts have a page of their own beside that of the job: each takes some 150 kB and the time of reading
// its table again, and one looks at the first that are wrong. precision report makes those of others.
const mostPages = 24

// pageName is the page of a part, below the folder of the job.
func pageName(x *Part) string { return path.Join(TableFolder, x.Name+".html") }

// pages writes the pages of parts that are not good: those where errors begin, then bad ones before the others; or all pages that
// were asked for and are not yet there. Pages of an earlier run that are no longer among them go.
func (r *Result) pages(ctx context.Context, dir *whole.Folder, s *Settings) {
	gravity := func(i int) int {
		part, d := &r.Plan.Parts[i], r.Digests[i]
		for k := range r.Origins {
			if o := &r.Origins[k]; o.First == part.Step && slices.ContainsFunc(d.Roots, func(x Root) bool { return x.Op == o.Op }) {
				return 0
			}
		}
		if d.Verdict == verdict.Bad.String() {
			return 1
		}
		return 2
	}
	var wrong []int
	for i, d := range r.Digests {
		if d.Failed == "" && d.Verdict != verdict.Good.String() {
			wrong = append(wrong, i)
		}
	}
	grave := map[int]int{}
	for _, i := range wrong {
		grave[i] = gravity(i)
	}
	slices.SortStableFunc(wrong, func(a, b int) int { return grave[a] - grave[b] })
	wrong = wrong[:min(len(wrong), mostPages)]
	r.Pages = make([]string, len(r.Digests))
	missing := map[int]bool{}
	for i := range r.Plan.Parts {
		x := &r.Plan.Parts[i]
		if r.Digests[i].Failed != "" || !s.AllPages && !slices.Contains(wrong, i) {
			must.Do(dir.Remove(pageName(x)))
			continue
		}
		r.Pages[i] = pageName(x)
		missing[i] = true
		if s.paged != nil {
			_, written := s.paged.Load(x.Name)
			missing[i] = !written
		}
	}
	must.Do(r.Each(ctx, dir.Path(""), func(part int) bool { return missing[part] }, func(i int, j *verdict.Judged) error {
		return dir.Fill(r.Pages[i], func(w io.Writer) error { return s.PartPage(w, j) })
	}))
}

// count counts parts by verdict, and gives the job its own.
func (r *Result) count() {
	r.Counts = map[string]int{}
	for _, d := range r.Digests {
		if d.Failed != "" {
			r.Counts["failed"]++
		} else {
			r.Counts[d.Verdict]++
		}
	}
	r.Losses = r.losses()
	breaks := func(l verdict.Loss) bool { return l.Breaks }
	switch {
	case r.Counts[verdict.Bad.String()] > 0 || r.metWrong():
		r.Verdict = verdict.Bad.String()
	case r.Counts[verdict.Inconclusive.String()] > 0 || slices.ContainsFunc(r.Losses, breaks):
		r.Verdict = verdict.Inconclusive.String()
	case r.Counts[verdict.Suspect.String()] > 0:
		r.Verdict = verdict.Suspect.String()
	default:
		r.Verdict = verdict.Good.String()
	}
}

// metWrong tells that a collective was found wrong from what its ranks brought.
func (r *Result) metWrong() bool {
	return slices.ContainsFunc(r.Mets, func(m *Met) bool { return m != nil && m.Verdict == MetWrong })
}

// losses lists what the job does without: parts that could not be compared and recordings
// without a partner, then what its parts lost.
func (r *Result) losses() (list []verdict.Loss) {
	if n := r.Counts["failed"]; n > 0 {
		l := verdict.Loss{Kind: verdict.LossParts, Count: n, Of: len(r.Digests), Breaks: true}
		for i, d := range r.Digests {
			if d.Failed != "" && len(l.Names) < mostNames {
				l.Names = append(l.Names, r.Plan.Parts[i].Name)
			}
		}
		list = append(list, l)
	}
	partners := verdict.Loss{Kind: verdict.LossPartners, Breaks: true}
	for i := range r.Plan.Alone {
		a := &r.Plan.Alone[i]
		if a.Why == AloneOlder {
			continue // another one of it was compared
		}
		if partners.Count++; len(partners.Names) < mostNames {
			partners.Names = append(partners.Names, "step"+number(a.Step)+"_rank"+number(a.Rank))
		}
	}
	if partners.Of = partners.Count + len(r.Digests); partners.Count > 0 {
		list = append(list, partners)
	}
	for _, kind := range verdict.LossKinds() {
		sum := verdict.Loss{Kind: kind}
		for i, d := range r.Digests {
			for _, l := range d.Lost {
				if l.Kind != kind {
					continue
				}
				sum.Count, sum.Of, sum.Breaks = sum.Count+l.Count, sum.Of+l.Of, sum.Breaks || l.Breaks
				for _, name := range l.Names {
					if len(sum.Names) < mostNames {
						sum.Names = append(sum.Names, r.Plan.Parts[i].Name+" "+name)
					}
				}
			}
		}
		if sum.Count > 0 || sum.Breaks {
			list = append(list, sum)
		}
	}
	return list
}

// mostNames is how many names a loss carries.
const mostNames = 5

// Standing is how the job stands before a gate.
func (r *Result) Standing() verdict.Standing {
	return verdict.Standing{Verdict: verdict.ParseVerdict(r.Verdict), Itself: r.Itself(), Losses: r.Losses}
}

// Itself tells whether both sides of a part are one recording.
func (r *Result) Itself() bool {
	return slices.ContainsFunc(r.Digests, func(d *Digest) bool { return d.Itself })
}

// origins brings together the roots of all parts that are the same output.
func (r *Result) origins(all *settled) {
	type key struct {
		op     string
		output int
	}
	type place struct{ step, rank, part int }
	at := map[key]int{}
	where := [][]place{}
	premise, unexplained := all.premise()
	r.Premise = premise
	for i, d := range r.Digests {
		if r.Verdict == verdict.Inconclusive.String() && r.Premise == nil && d.Premise != nil {
			r.Premise = &Premise{Kind: d.Premise.Kind, Reason: d.Premise.Reason, Part: r.Plan.Parts[i].Name}
		}
	}
	for i := range r.Plan.Parts {
		for k := range r.Digests[i].Roots {
			if all.running(rootAt{i, k}) {
				continue
			}
			found := rootAt{i, k}
			to, same, alone, part := all.comes(found)
			if premise != nil {
				if mine, known := unexplained[found]; known && !mine {
					continue
				}
				to, same, alone, part = found, true, nil, i // what else comes down to the same says nothing now
			}
			own := &r.Digests[i].Roots[k]
			root, x := r.Digests[to.part].Roots[to.root], &r.Plan.Parts[part]
			if alone != nil {
				root.Op, root.Type, root.Output, root.Order = alone.Op, alone.Type, 0, alone.Order
				root.Cause, root.Value, root.Limit, root.Argument = string(verdict.Alone), 1, 0, nil
			}
			id := key{root.Op, root.Output}
			n, known := at[id]
			if !known {
				n = len(r.Origins)
				at[id] = n
				r.Origins = append(r.Origins, Origin{Op: root.Op, Type: root.Type, Output: root.Output, Verdict: root.Verdict,
					Cause: root.Cause, Value: root.Value, Limit: root.Limit, Argument: root.Argument, First: x.Step, Calls: r.Plan.Parts[i].Calls, order: root.Order})
				where = append(where, nil)
			}
			o := &r.Origins[n]
			if root.Verdict == verdict.Bad.String() {
				o.Verdict = root.Verdict
			}
			here := &r.Plan.Parts[i]
			if reached := func(x Reach) bool { return x.Step == here.Step && x.Rank == here.Rank }; (!same || alone != nil && part != i) && !slices.ContainsFunc(o.Reached, reached) {
				o.Reached = append(o.Reached, Reach{here.Step, here.Rank, own.Op})
			}
			switch {
			case !same:
				if where[n] == nil {
					where[n] = append(where[n], place{x.Step, x.Rank, part})
				}
				continue
			case alone == nil:
				for _, place := range append([]string{own.Op}, own.Places...) {
					if place != root.Op && !slices.Contains(o.Places, place) {
						o.Places = append(o.Places, place)
					}
				}
			}
			at := place{here.Step, here.Rank, i}
			if alone != nil {
				at = place{x.Step, x.Rank, part}
			}
			where[n] = append(where[n], at)
		}
	}
	if premise != nil && !r.metWrong() && len(r.Origins) == 0 {
		r.Verdict = verdict.Inconclusive.String()
	}
	firstBad := -1
	for i := range r.Origins {
		if o := &r.Origins[i]; o.Verdict == verdict.Bad.String() {
			for _, w := range where[i] {
				if firstBad < 0 || w.step < firstBad {
					firstBad = w.step
				}
			}
		}
	}
	for n := range r.Origins {
		o := &r.Origins[n]
		for _, w := range where[n] {
			o.First = min(o.First, w.step)
		}
		var first, ranks, steps []int
		hosts := map[string]bool{}
		models := map[string]bool{}
		for _, w := range where[n] {
			if w.step == o.First {
				first = append(first, w.rank)
				hosts[r.Plan.Parts[w.part].Host] = true
				models[r.Plan.Parts[w.part].Model] = true
			}
			ranks, steps = append(ranks, w.rank), append(steps, w.step)
		}
		first = unique(first)
		o.Ranks, o.AllRanks, o.Steps = ranges(first), ranges(unique(ranks)), ranges(unique(steps))
		o.scope(first, hosts, r.compared(o.First, models))
		o.Later = firstBad >= 0 && o.First > firstBad
	}
	r.throughCollectives()
	order.Stable(r.Origins, func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.First, b.First), order.FalseFirst(a.Through, b.Through), cmp.Compare(a.order, b.order), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Output, b.Output))
	})
}

// scope says how many of the ranks that were compared have it.
func (o *Origin) scope(ranks []int, hosts map[string]bool, compared []int) {
	for h := range hosts {
		o.Host = h
	}
	switch {
	case len(compared) == 1:
		o.Scope = ScopeOnly
	case len(ranks) == len(compared):
		o.Scope, o.Host = ScopeAll, ""
	case len(ranks) == 1:
		o.Scope = ScopeRank
	case len(hosts) == 1 && o.Host != "":
		o.Scope = ScopeHost
	default:
		o.Scope, o.Host = ScopeSome, ""
	}
}

// compared are the ranks of a step and some models that have a verdict.
func (r *Result) compared(step int, models map[string]bool) []int {
	var ranks []int
	for i := range r.Plan.Parts {
		if x := &r.Plan.Parts[i]; x.Step == step && models[x.Model] && r.Digests[i].Failed == "" {
			ranks = append(ranks, x.Rank)
		}
	}
	return unique(ranks)
}

// throughCollectives looks at origins that are collectives: one that did as it should
// handed on what other ranks brought in, those where the error of a root arrives at it.
func (r *Result) throughCollectives() {
	list := make([]*Origin, len(r.Origins))
	for n := range r.Origins {
		list[n] = &r.Origins[n]
	}
	slices.SortStableFunc(list, func(a, b *Origin) int { return a.order - b.order })
	through := map[string]bool{} // what came by a collective did not begin there
	for _, o := range list {
		m := r.met(o.First, o.Op)
		if m != nil {
			o.Collective = m.Verdict == MetWrong
		}
		if m == nil || m.Verdict != MetOK {
			continue
		}
		var from []int
		for i := range r.Plan.Parts {
			if r.Plan.Parts[i].Step != o.First {
				continue
			}
			for _, root := range r.Digests[i].Roots {
				if slices.Contains(root.Into, o.Op) && !through[o.at(root.Op)] {
					from = append(from, r.Plan.Parts[i].Rank)
				}
			}
		}
		if o.Through = len(from) > 0; o.Through {
			o.From = ranges(unique(from))
			through[o.at(o.Op)] = true
		}
	}
}

// at is an operator at the step of an origin.
func (o *Origin) at(op string) string { return strconv.Itoa(o.First) + " " + op }

// met is what was found of an operator that ranks of a step ran together, nil if there
// is none.
func (r *Result) met(step int, op string) *Met {
	for i := range r.Plan.Meetings {
		if m := &r.Plan.Meetings[i]; m.Step == step && r.Mets[i] != nil && slices.Contains(r.Mets[i].Ops, op) {
			return r.Mets[i]
		}
	}
	return nil
}

// unique sorts numbers and leaves out repetitions.
func unique(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}
