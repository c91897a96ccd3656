package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/internal/each"
	"precision/internal/order"
	catalogue "precision/op"
)

// Across ranks and steps
//
// Each rank and step of a job is judged by itself: what its calls got and gave. What came from
// another rank looks like a beginning there, and so does what an earlier step left behind. Settle
// brings the parts together: ranks meet in collective calls, an input that differs on one of
// them explains the outputs of all, and what nothing recorded explains is explained by what went
// wrong before. It works on what little is kept of each part, so that a job may have any number.

// Piece is what one rank and step of a job tells of the others.
type Piece struct {
	// Step and Rank are -1 where no folder tells.
	Step int `json:"step"`
	Rank int `json:"rank"`
	// Fed says that it was given other data than the other side; nil where it was not.
	Fed *result.Reason `json:"fed_with,omitempty"` // "fed" was a flag once
	// Given are the first tensors that it was given, if some of them differ.
	Given []GivenTensor `json:"given_tensors,omitempty"`
	// Joins is the place of its first call that other ranks take part in, from 1 on; 0 where there is none.
	Joins int `json:"joins,omitempty"`
	// Gathers: its weights are put together of slices that ranks hold, without a call that is recorded.
	Gathers bool `json:"gathers,omitempty"`
	// Stirred: something in it differs that nobody is to blame for.
	Stirred bool `json:"stirred,omitempty"`
	// Behind is the same judged as what follows a step in which something differs that nobody is to
	// blame for ([Options.Behind]); nil where nothing else comes of it.
	Behind *Piece   `json:"behind,omitempty"`
	Roots  []Start  `json:"roots,omitempty"`
	Meets  []Met    `json:"meets,omitempty"`
	Alone  []Absent `json:"alone,omitempty"`
}

// GivenTensor is a tensor that was given to a piece.
type GivenTensor struct {
	// Name is a hash of the call and the place in it, Left and Right tell what is said of either side.
	Name  int64 `json:"name"`
	Left  int64 `json:"left"`
	Right int64 `json:"right"`
	// Order is the place of the call that takes it.
	Order int `json:"order"`
	// Alike: the sides agree. Tells: they do not, and what is said is no mask or the like, which ranks have in common by chance.
	Alike bool `json:"alike,omitempty"`
	Tells bool `json:"tells,omitempty"`
	// Weight: it is a parameter, in the first step.
	Weight bool `json:"weight,omitempty"`
}

// Start is a root of a piece.
type Start struct {
	Op string `json:"op"`
	// Order is its place among the calls of the piece.
	Order int `json:"order"`
	// Open: what goes in differs or is not known, and nothing in the piece explains it.
	Open bool `json:"open,omitempty"`
	// Proven: a check found it wrong from its own inputs.
	Proven bool `json:"proven,omitempty"`
	// Given: it differs in what a run is given, a batch or a weight before any step.
	Given bool `json:"given,omitempty"`
	// Argument tells arguments that differ, by their place and values.
	Argument string `json:"argument,omitempty"`
	// Meets is the name of what ranks run together, where the call is such.
	Meets string `json:"meets,omitempty"`
	// Seen tell what it begins with on either side, as [result.Said.Print] does.
	Seen []int64 `json:"seen,omitempty"`
	// Row is the place along the first axis of what it begins with where that differs most, Rows
	// how many there are; 0 where elements do not tell.
	Row  int64 `json:"row,omitempty"`
	Rows int64 `json:"rows,omitempty"`
}

// Met is a call that ranks run together and that something is amiss with.
type Met struct {
	Name  string `json:"name"`
	Order int    `json:"order"`
	// Brings: an input differs, or is not known.
	Brings bool `json:"brings,omitempty"`
	// Gave tells of a call that nobody waited for, and that gives all ranks the same, what it gave on either side, as
	// [result.Said.Print] does; 0 of what was seen on its way.
	Gave []int64 `json:"gave,omitempty"`
}

// Absent is a call that one side alone has, and what it gave there.
type Absent struct {
	Op    string  `json:"op"`
	Type  string  `json:"type,omitempty"`
	Order int     `json:"order"`
	Made  []int64 `json:"made,omitempty"`
}

// Fate is what becomes of a root when all pieces are known.
type Fate struct {
	// By is the root of which this one is a place (Same) or a consequence; nil for a root. Running: it is of
	// a call behind that root, which was recorded before it was done and says nothing.
	By            *At
	Same, Running bool
	// Alone is the call of one side alone that is the root instead, its place in Piece.Alone
	// of the piece.
	Alone *At
}

// At is a place in a list of a piece.
type At struct{ Piece, At int }

// happening is a root or a meeting of a piece.
type happening struct {
	order int
	root  int // -1 for a meeting
	meets string
}

// Settle says what becomes of the roots of all pieces. Of a piece that only what an earlier step left behind
// explains, it takes Behind in its place.
func Settle(pieces []Piece) [][]Fate {
	s := &settling{pieces: pieces, fates: make([][]Fate, len(pieces)), same: map[string]At{}}
	var steps []int
	for i := range pieces {
		s.fates[i] = make([]Fate, len(pieces[i].Roots))
		steps = append(steps, pieces[i].Step)
	}
	slices.Sort(steps)
	for n, step := range slices.Compact(steps) {
		s.first = n == 0
		s.step(step)
	}
	return s.fates
}

type settling struct {
	pieces []Piece
	fates  [][]Fate
	kept   []At
	same   map[string]At
	first  bool // the first step
}

// step goes through what happened in a step, in an order that it may have had: a call that
// ranks run together comes when all of them are there.
func (s *settling) step(step int) {
	var of []int
	waiting := map[string]int{} // who still comes to a meeting
	lists := map[int][]happening{}
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.Step != step {
			continue
		}
		if p.Behind != nil && len(s.kept) == 0 && slices.ContainsFunc(s.pieces, func(q Piece) bool { return q.Step < step && q.Stirred }) {
			p.Behind.Step, p.Behind.Rank = p.Step, p.Rank
			*p = *p.Behind
			s.fates[i] = make([]Fate, len(p.Roots))
		}
		of = append(of, i)
		var list []happening
		for k := range p.Roots {
			list = append(list, happening{p.Roots[k].Order, k, p.Roots[k].Meets})
		}
		for _, m := range p.Meets {
			list = append(list, happening{m.Order, -1, m.Name})
			waiting[m.Name]++
		}
		// Of one call the meeting comes before its root.
		order.Stable(list, func(a, b happening) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.root, b.root)) })
		lists[i] = list
	}
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(s.pieces[a].Rank, s.pieces[b].Rank) })
	arrived := map[int]bool{} // is at a meeting
	for {
		next, blocked := -1, -1
		for _, i := range of {
			if len(lists[i]) == 0 {
				continue
			}
			h := lists[i][0]
			if h.root < 0 && !arrived[i] {
				arrived[i] = true
				waiting[h.meets]--
			}
			if h.root < 0 && waiting[h.meets] > 0 {
				if blocked < 0 || h.order < lists[blocked][0].order {
					blocked = i
				}
				continue
			}
			if next < 0 || h.order < lists[next][0].order {
				next = i
			}
		}
		if next < 0 {
			next = blocked // ranks that wait for each other met in another order
		}
		if next < 0 {
			return
		}
		h := lists[next][0]
		lists[next], arrived[next] = lists[next][1:], false
		if h.root >= 0 {
			s.settle(next, h.root)
		}
	}
}

// settle decides on a root.
func (s *settling) settle(piece, at int) {
	r, mine := &s.pieces[piece].Roots[at], At{piece, at}
	fate := &s.fates[piece][at]
	key := r.Op
	if r.Argument != "" {
		key = r.Argument
	}
	if r.Meets != "" && r.Argument == "" {
		if fate.By = s.brought(piece, r); fate.By != nil {
			return
		}
		if s.running(piece, r) {
			fate.By, fate.Running = s.before(piece), true
			return
		}
	}
	if fate.By = s.holder(piece, r); fate.By != nil {
		return
	}
	open := r.Argument == "" && r.Meets == "" && r.Open && !(r.Given && s.first)
	if open {
		fate.Alone = s.alone(piece, r)
	}
	if first, known := s.same[key]; known && fate.Alone == nil && (first.Piece != piece || r.Argument != "") && (r.Argument != "" || !r.Open || s.pieces[first.Piece].Step == s.pieces[piece].Step) {
		fate.By, fate.Same = &first, true
		return
	}
	if open && fate.Alone == nil {
		fate.By = s.before(piece)
	}
	if fate.By == nil {
		s.kept = append(s.kept, mine)
		s.same[key] = mine
	}
}

// before is the last root that was kept, of the same rank if there is one.
func (s *settling) before(piece int) *At {
	for k := len(s.kept) - 1; k >= 0; k-- {
		if s.pieces[s.kept[k].Piece].Rank == s.pieces[piece].Rank {
			return &s.kept[k]
		}
	}
	if n := len(s.kept); n > 0 {
		return &s.kept[n-1]
	}
	return nil
}

// brought is the root of a rank whose input of a meeting differs, nil if all bring what they
// should.
func (s *settling) brought(piece int, r *Start) *At {
	for i := range s.pieces {
		p := &s.pieces[i]
		if i == piece || p.Step != s.pieces[piece].Step || !slices.ContainsFunc(p.Meets, func(m Met) bool { return m.Name == r.Meets && m.Brings }) {
			continue
		}
		if by := s.before(i); by != nil {
			return by
		}
	}
	return nil
}

// running tells of a root behind others, at a call that nobody waited for, that its result was still on its way when it was
// recorded: that of some rank is known to be, and no other rank has what this one has, of what gives all of them the same. A
// root before changes when ranks come to it; where there is none, both sides had the same time, and what differs is the call's.
func (s *settling) running(piece int, r *Start) bool {
	gave := func(i int) []int64 {
		p := &s.pieces[i]
		k := slices.IndexFunc(p.Meets, func(m Met) bool { return m.Name == r.Meets })
		if k < 0 || p.Step != s.pieces[piece].Step {
			return nil
		}
		return p.Meets[k].Gave
	}
	mine, onTheWay := gave(piece), false
	for i := range s.pieces {
		other := gave(i)
		if i != piece && len(other) > 0 && slices.Equal(other, mine) {
			return false // it arrived
		}
		onTheWay = onTheWay || slices.Contains(other, 0)
	}
	return mine != nil && onTheWay && len(s.kept) > 0
}

// holder is the root of the rank that holds the slice in which a weight differs on all ranks alike, which the others
// have from it; nil if it is not so, or this is that rank.
func (s *settling) holder(piece int, r *Start) *At {
	mine := &s.pieces[piece]
	if !s.first || !mine.Gathers || !r.Given || r.Rows == 0 {
		return nil
	}
	var ranks []At
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.Step != mine.Step {
			continue
		}
		k := slices.IndexFunc(p.Roots, func(x Start) bool { return x.Op == r.Op && x.Row == r.Row && slices.Equal(x.Seen, r.Seen) })
		if !p.Gathers || k < 0 {
			return nil
		}
		ranks = append(ranks, At{i, k})
	}
	order.Stable(ranks, func(a, b At) int { return cmp.Compare(s.pieces[a.Piece].Rank, s.pieces[b.Piece].Rank) })
	n := int64(len(ranks))
	slice := (r.Rows + n - 1) / n // the last ones may be shorter
	if at := ranks[r.Row/slice]; at.Piece != piece {
		return &at
	}
	return nil
}

// alone is a call of one side alone, of the same rank and before, that gave what a root begins
// with.
func (s *settling) alone(piece int, r *Start) (best *At) {
	mine := &s.pieces[piece]
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.Rank != mine.Rank || p.Step > mine.Step || best != nil && s.pieces[best.Piece].Step > p.Step {
			continue
		}
		for k := range p.Alone {
			a := &p.Alone[k]
			if i == piece && a.Order >= r.Order {
				break
			}
			if slices.ContainsFunc(a.Made, func(v int64) bool { return slices.Contains(r.Seen, v) }) {
				best = &At{i, k}
			}
		}
	}
	return best
}

// Reach is where the error of a root arrives at another rank or step.
type Reach struct {
	// Rank and Step are those of the recording, as its folders name them.
	Rank, Step string
	// Op is the first call there that shows it.
	Op string
}

// mostAbsent bounds how many calls of one side alone are kept of a piece.
const mostAbsent = 4096

// pieces are the ranks and steps of a table, with the places in the table of their roots and of
// their calls that one side alone has.
func (w *recordedWalk) pieces() (list []Piece, roots, alone [][]int) {
	at, start := map[string]int{}, []int{}
	of := make([]int, len(w.operators))
	for i := range w.operators {
		op := &w.operators[i]
		prefix := prefixOf(op.Op.Name)
		k, known := at[prefix]
		if !known {
			k = len(list)
			at[prefix] = k
			step, rank := partOf(op.Op.Name)
			list = append(list, Piece{Stirred: w.noise, Step: numberOf(step, "step"), Rank: numberOf(rank, "rank"), Fed: w.fedOther[[2]string{step, rank}], Given: w.given[prefix]})
			roots, alone, start = append(roots, nil), append(alone, nil), append(start, i)
		}
		of[i] = k
		p := &list[k]
		if op.Op.Made != nil && len(p.Alone) < mostAbsent {
			p.Alone = append(p.Alone, Absent{Op: op.Op.Name[len(prefix):], Type: op.Op.Type, Order: i - start[k], Made: op.Op.Made})
			alone[k] = append(alone[k], i)
		}
		p.Gathers = p.Gathers || op.Op.Type == "narrow" && slices.ContainsFunc(op.Outputs, func(t Tensor) bool { return w.row(&t).Has(result.Unfilled) })
		if p.Joins == 0 && (op.Op.Meets != "" || collective(op)) {
			p.Joins = i - start[k] + 1
		}
		if op.Op.Meets == "" {
			continue
		}
		brings, amiss := false, w.off(op)
		for n := range op.Inputs {
			if a := agreementOf(w.row(&op.Inputs[n])); a != same && !w.row(&op.Inputs[n]).Recorded.Argument {
				brings = true
			}
		}
		if w.lone(i) {
			// What it takes was compared with nothing: it may bring whatever went wrong before.
			amiss = true
			brings = slices.ContainsFunc(w.out.Roots, func(r Root) bool { return start[k] <= r.Operator && r.Operator < i })
		}
		gave := w.gave(op)
		if brings || amiss || gave != nil {
			p.Meets = append(p.Meets, Met{Name: op.Op.Meets, Order: i - start[k], Brings: brings, Gave: gave})
		}
	}
	for n := range w.out.Roots {
		r := &w.out.Roots[n]
		op := &w.operators[r.Operator]
		k := of[r.Operator]
		s := Start{Op: op.Op.Name[len(prefixOf(op.Op.Name)):], Order: r.Operator - start[k], Meets: op.Op.Meets, Open: len(r.Uncompared) > 0, Proven: r.Recomputed}
		if b := r.Begin; b != nil {
			row := &w.table.Rows[b.Row]
			switch rec := row.Recorded; {
			case rec.Argument:
				s.Argument = op.Op.Type + " " + rec.Place + " " + rec.Left.Value + " " + rec.Right.Value
				s.Seen = []int64{printOf(rec.Left.Value), printOf(rec.Right.Value)}
			case row.Op != op.Op.Name && op.Op.Made != nil, b.Instead != "":
				// A call that one side alone has, or takes no notice of, is a beginning.
			default:
				s.Open = !b.vain
				s.Given = len(b.From) == 0 && backwards(op) == 0 && (isWeight(op, rec.Place) || counted(row.Left.DType))
				if f := &row.Result().Facts; row.Compared && f.Known && len(row.Right.Shape) > 0 && f.N > 0 {
					s.Rows = row.Right.Shape[0]
					s.Row = f.Worst.Index / max(1, int64(f.N)/max(1, s.Rows))
				}
				for i, summary := range []*result.Summary{rec.Left, rec.Right} {
					// One full of NaN has the statistics of any other.
					if !math.IsNaN(summary.Stats.Max) || !math.IsNaN(summary.Stats.Norm) || summary.Known == 0 {
						s.Seen = append(s.Seen, summary.Print([][]int64{row.Left.Shape, row.Right.Shape}[i]))
					}
				}
			}
		}
		list[k].Roots = append(list[k].Roots, s)
		roots[k] = append(roots[k], n)
	}
	return list, roots, alone
}

// gave is [Met.Gave] of a call.
func (w *recordedWalk) gave(op *Operator) (list []int64) {
	if !op.Op.Begins || !catalogue.Is(op.Op.Type, catalogue.Shares) {
		return nil
	}
	for k := range op.Outputs {
		switch row := w.row(&op.Outputs[k]); {
		case row.Recorded == nil || row.Recorded.Argument:
		case row.Has(result.Unfilled):
			list = append(list, 0)
		default:
			list = append(list, row.Recorded.Left.Print(row.Left.Shape), row.Recorded.Right.Print(row.Right.Shape))
		}
	}
	return list
}

// prefixOf is the step and rank in front of the name of a call, with what is between.
func prefixOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// numberOf is the number in the name of a step or rank, -1 if there is none.
func numberOf(name, word string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, word))
	if err != nil {
		return -1
	}
	return n
}

// across settles the roots of a table of several ranks and steps, and puts them in the order in
// which things went wrong.
func (w *recordedWalk) across() {
	list, roots, alone := w.pieces()
	w.out.Pieces = list
	if len(list) < 2 {
		return
	}
	if p, own := Exchanged(list); own != nil {
		w.out.Premises, w.apart = []Premise{p}, map[int]bool{}
		measured := map[string]bool{} // arguments: the same at other places is no other finding
		for k := range own {
			for n, is := range own[k] {
				if argument := list[k].Roots[n].Argument; is && !measured[argument] {
					measured[argument] = argument != ""
					w.apart[w.out.Roots[roots[k][n]].Operator] = true
				}
			}
		}
		return
	}
	fates := Settle(list)
	// The root that each one comes down to: itself, or another.
	by := make([]int, len(w.out.Roots))
	for i := range fates {
		for k, f := range fates[i] {
			n := roots[i][k]
			by[n] = n
			if f.By != nil {
				by[n] = roots[f.By.Piece][f.By.At]
			}
		}
	}
	for i := range fates {
		for k, f := range fates[i] {
			n := roots[i][k]
			r := &w.out.Roots[n]
			op := &w.operators[r.Operator]
			switch {
			case f.Alone != nil:
				w.moveTo(n, alone[f.Alone.Piece][f.Alone.At])
			case f.By == nil || f.Running:
			case f.Same:
				w.out.Roots[by[n]].Places = append(w.out.Roots[by[n]].Places, op.Op.Name)
			default:
				step, rank := partOf(op.Op.Name)
				first := &w.out.Roots[by[n]]
				if !slices.ContainsFunc(first.Reached, func(x Reach) bool { return x.Rank == rank && x.Step == step }) {
					first.Reached = append(first.Reached, Reach{rank, step, op.Op.Name})
				}
			}
		}
	}
	w.comesTo(by)
	w.byTime()
}

// moveTo makes a call that one side alone has the root that another call seemed to be.
func (w *recordedWalk) moveTo(n, place int) {
	r := &w.out.Roots[n]
	was := r.Operator
	*r = w.aloneRoot(place, r.Begin, w.operators[was].State == StateBad)
	if op := &w.operators[was]; op.State == StateBad {
		op.State = StateInherited
	}
	w.operators[was].From = []int{n}
}

// aloneRoot is a call that one side alone has as a root: begin is what it makes differ, and bad
// tells whether that is beyond what is allowed.
func (w *recordedWalk) aloneRoot(place int, begin *Begin, bad bool) Root {
	op := &w.operators[place]
	if len(op.Outputs) == 0 {
		op.Outputs = []Tensor{{Row: op.Whole[0]}}
	}
	t := &op.Outputs[0]
	if len(t.Causes) == 0 {
		t.Causes = []Cause{{Kind: Differs, Value: math.NaN(), First: -1}}
		if !w.lone(place) && !w.writes(place) && begin.Instead == "" {
			t.Causes[0] = Cause{Kind: Form, Value: 1, First: -1}
		} else if bad && (begin == nil || begin.Instead == "") {
			t.Causes[0] = Cause{Kind: Alone, Value: 1, First: -1}
		}
		w.profile.waive(w.tensorName(op, t), t.Causes, w.day)
		t.settle()
	}
	op.State = max(op.State, StateSuspect)
	if t.Verdict == Bad {
		op.State = StateBad
	}
	r := w.rootOf(op, place)
	r.Begin, r.Certainty = begin, Likely
	if begin != nil && begin.Instead != "" {
		r.Causes = nil // its own result is right
	}
	return r
}

// alike makes one finding of roots that begin alike, with its places: with an argument that has the same two values in calls of one
// function, or with tensors that are the same number of times too large there, as gradients that one side clips.
func (w *recordedWalk) alike() {
	factor := func(r *result.Row) float64 {
		if a, b := r.Recorded.Left, r.Recorded.Right; a.Has(result.KnownNorm) && b.Has(result.KnownNorm) {
			return a.Stats.Norm / b.Stats.Norm
		}
		return math.NaN()
	}
	type kind struct {
		prefix, typ, place string
		argument           bool
		left, right        string
	}
	by := make([]int, len(w.out.Roots))
	firsts := map[kind][]int{} // roots that others of a kind may be like
	for n := range by {
		by[n] = n
		r := &w.out.Roots[n]
		if word, _ := w.operators[r.Operator].checkWord(); r.Begin == nil || word == checkWrong { // what is wrong by itself is
			continue
		}
		row := &w.table.Rows[r.Begin.Row]
		rec := row.Recorded
		k := kind{prefix: prefixOf(row.Op), typ: row.Type, place: rec.Place, argument: rec.Argument}
		if rec.Argument {
			k.left, k.right = rec.Left.Value, rec.Right.Value
		}
		at := slices.IndexFunc(firsts[k], func(i int) bool {
			first := &w.table.Rows[w.out.Roots[i].Begin.Row]
			if rec.Argument || first == row {
				return true
			}
			limit := max(1e-3, 2*roundedOff(row), 2*roundedOff(first))
			f := factor(row)
			return f > 0 && math.Abs(f-1) > mostLeap[1]*limit && math.Abs(f-factor(first)) <= limit*f && !math.IsInf(f, 1)
		})
		if at < 0 {
			firsts[k] = append(firsts[k], n)
			continue
		}
		by[n] = firsts[k][at]
		w.out.Roots[by[n]].Places = append(w.out.Roots[by[n]].Places, w.operators[r.Operator].Op.Name)
	}
	w.comesTo(by)
}

// byUnknownWays gives what a root begins with, and no call is known to have given, to a call before it that one side alone makes and that is a root
// by what takes its result: that came to light later, and may have gone there by a way that was not recorded.
func (w *recordedWalk) byUnknownWays() {
	by := make([]int, len(w.out.Roots))
	for n := range by {
		by[n] = n
		r := &w.out.Roots[n]
		if r.Begin == nil || len(r.Begin.From) > 0 || w.lone(r.Operator) {
			continue
		}
		row, op := &w.table.Rows[r.Begin.Row], &w.operators[r.Operator]
		if row.Recorded.Argument || isWeight(w.named(row.Op), row.Recorded.Place) || row.Recorded.Parameter != "" || counted(row.Left.DType) {
			continue
		}
		if m := slices.IndexFunc(w.out.Roots, func(o Root) bool {
			from := &w.operators[o.Operator]
			return len(from.Whole) > 0 && o.Operator < r.Operator && prefixOf(from.Op.Name) == prefixOf(op.Op.Name) && backwards(from) == backwards(op)
		}); m >= 0 {
			by[n] = m
		}
	}
	w.comesTo(by)
}

// comesTo leaves only roots that come down to themselves; who inherits from another inherits
// from what that comes down to.
func (w *recordedWalk) comesTo(by []int) {
	for n := range by {
		if by[n] != n {
			w.operators[w.out.Roots[n].Operator].From = []int{n}
		}
	}
	for i := range w.operators {
		w.operators[i].From = each.Of(w.operators[i].From, func(n int) int { return by[n] })
	}
	w.keepRoots(w.out, func(n int, _ *Root) bool { return by[n] == n })
}

// byTime sorts the roots by step, then by their places among the calls of their ranks.
func (w *recordedWalk) byTime() {
	start := map[string]int{}
	for i := range w.operators {
		if p := prefixOf(w.operators[i].Op.Name); start[p] == 0 {
			start[p] = i + 1
		}
	}
	when := func(n int) (step, order int) {
		name := w.operators[w.out.Roots[n].Operator].Op.Name
		s, _ := partOf(name)
		return numberOf(s, "step"), w.out.Roots[n].Operator - start[prefixOf(name)]
	}
	w.arrange(func(a, b int) int {
		s, i := when(a)
		t, k := when(b)
		return cmp.Or(cmp.Compare(s, t), cmp.Compare(i, k), cmp.Compare(w.out.Roots[a].Operator, w.out.Roots[b].Operator))
	})
}

// behindAlone is the call of one side alone that fed what a root begins with, or whose gradient is
// part of what is summed there; -1 if there is none.
func (w *recordedWalk) behindAlone(op *Operator, begin *Begin) int {
	for _, name := range begin.From {
		if k, ok := w.place[name]; ok && w.lone(k) {
			return w.leading(k)
		}
	}
	// What no call of gradients takes, and none or one of those gave, is summed over all passes.
	gradient := func(name string) bool { from := w.named(name); return from != nil && backwards(from) == 1 }
	if backwards(op) == 1 || isWeight(op, w.table.Rows[begin.Row].Recorded.Place) || slices.ContainsFunc(begin.From, func(name string) bool { return !gradient(name) }) {
		return -1
	}
	prefix := prefixOf(op.Op.Name)
	for k := w.place[op.Op.Name] - 1; k >= 0 && prefixOf(w.operators[k].Op.Name) == prefix; k-- {
		if w.lone(k) && backwards(&w.operators[k]) == 1 {
			return w.leading(k)
		}
	}
	return -1
}

// shownAlone is the last call of one side alone before an input that no call is known to have given, whose largest and smallest numbers stand in that
// and not on the other side: what lies between was not recorded and computes none, as windows that are cut from it; -1 if there is none.
func (w *recordedWalk) shownAlone(op *Operator, begin *Begin) int {
	r := &w.table.Rows[begin.Row]
	e, ok := extremesOf(r)
	if len(begin.From) > 0 || !ok || !r.Left.DType.IsFloat() || sameEnds(r) || isWeight(op, r.Recorded.Place) {
		return -1
	}
	prefix := prefixOf(op.Op.Name)
	for k := w.place[op.Op.Name] - 1; k >= 0 && prefixOf(w.operators[k].Op.Name) == prefix; k-- {
		if !w.lone(k) || backwards(&w.operators[k]) != backwards(op) {
			continue
		}
		if slices.ContainsFunc(w.operators[k].Op.Gives, func(g result.Given) bool {
			const ends = result.KnownMax | result.KnownMin
			gave := func(most, least float64) bool { return g.Stats.Max == most && g.Stats.Min == least && most != least }
			return strings.HasPrefix(g.Place, "output") && g.Known&ends == ends && (gave(e.leftMax, e.leftMin) || gave(e.rightMax, e.rightMin))
		}) {
			return k
		}
	}
	return -1
}

// untaken is the call right before another whose result one side alone takes for what a root begins with,
// where the other takes what went into that call; -1 if it is not so.
func (w *recordedWalk) untaken(op *Operator, begin *Begin) int {
	if len(begin.From) != 2 {
		return -1
	}
	for k, name := range begin.From {
		call, instead := w.named(name), begin.From[1-k]
		if call == nil || w.off(call) || len(call.Whole) > 0 || !slices.ContainsFunc(call.Op.Inputs, func(p result.Port) bool { return p.Op == instead }) {
			continue
		}
		at := w.place[name]
		if slices.ContainsFunc(w.operators[at+1:max(at+1, w.place[op.Op.Name])], func(x Operator) bool { return !strings.Contains(x.Op.Name, "Module.") }) {
			continue // it may have got lost in between
		}
		begin.Instead = instead
		return at
	}
	return -1
}

// spoiled is the first of the calls of one side alone on the way to another that gives NaN or infinities, if that does; else the
// other itself.
func (w *recordedWalk) spoiled(place int) int {
	gives := func(k int) bool {
		return w.lone(k) && slices.ContainsFunc(w.operators[k].Op.Gives, func(g result.Given) bool {
			return strings.HasPrefix(g.Place, "output") && nonFinite(&result.Summary{Known: g.Known, Stats: g.Stats})
		})
	}
	for next := place; gives(next); {
		place, next = next, -1
		for _, p := range w.operators[place].Op.Inputs {
			if k, ok := w.place[p.Op]; ok && k < place && gives(k) {
				next = k
			}
		}
		if next < 0 {
			break
		}
	}
	return place
}

// writes tells of a call that one side alone has it and that it works in place.
func (w *recordedWalk) writes(place int) bool {
	op := &w.operators[place]
	name, _, _ := strings.Cut(op.Op.Type, ".")
	return len(op.Whole) > 0 && (inPlace(name) || catalogue.Is(name, catalogue.Fills|catalogue.Mends))
}

// inPlace tells by the name of a function that it writes to its first argument.
func inPlace(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return strings.HasPrefix(name, "__i") || strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__")
}

// lostUpdates makes roots of updates that one side alone makes, as of a weight whose gradient got lost: nothing behind shows it before the
// next step. They stand behind all gradients, among more calls of their function that both sides make, one of which follows: what is
// missing at the end of a recording, or computed by other calls, tells nothing.
func (w *recordedWalk) lostUpdates() {
	type function struct{ prefix, name string }
	type updates struct {
		alone      []int
		both, last int
	}
	found, started := map[function]*updates{}, map[string]bool{}
	for i := range w.operators {
		op := &w.operators[i]
		f := function{prefixOf(op.Op.Name), op.Op.Type}
		switch {
		case backwards(op) == 1: // what was before is of another step, which the next one shows, or no update
			started[f.prefix] = true
			maps.DeleteFunc(found, func(of function, _ *updates) bool { return of.prefix == f.prefix })
		case !started[f.prefix], !w.writes(i) && (len(op.Outputs) == 0 || !inPlace(op.Op.Type)), catalogue.Is(op.Op.Type, catalogue.Fills):
		default:
			if found[f] == nil {
				found[f] = &updates{}
			}
			if u := found[f]; w.lone(i) {
				u.alone = append(u.alone, i)
			} else {
				u.both, u.last = u.both+1, i
			}
		}
	}
	var lost []int
	for _, u := range found {
		if len(u.alone) <= u.both/leastBoth {
			lost = append(lost, slices.DeleteFunc(u.alone, func(i int) bool { return i > u.last || len(w.before(&w.operators[i])) > 0 })...)
		}
	}
	slices.Sort(lost)
	for _, i := range lost {
		w.out.Roots = append(w.out.Roots, w.aloneRoot(i, nil, true))
	}
}

// leastBoth is how many updates both sides make at least for each that one of them makes alone.
const leastBoth = 3

// reaches tells of a call of one side alone that it may write to what others gave and a call takes: it takes what they
// gave, or a tensor of that shape, which may be a view of it.
func reaches(lone *Operator, taken *result.Row, from []string) bool {
	return slices.ContainsFunc(lone.Op.Inputs, func(p result.Port) bool { return slices.Contains(from, p.Op) }) ||
		len(from) > 0 && slices.ContainsFunc(lone.Op.Gives, func(g result.Given) bool {
			return slices.Equal(g.Shape, taken.Left.Shape) || slices.Equal(g.Shape, taken.Right.Shape)
		})
}

// swallowed is the last call of one side alone before another that what it begins with may be a part of: nothing that
// was recorded feeds that, and the other side's lies between the numbers that go into the call, or the call works in place and
// no other function was called since; of what a call gave that agrees, also one in place that may have
// written to it. It lies in the module that got the same, if one is known around the call. -1 if there is none.
func (w *recordedWalk) swallowed(op *Operator, begin *Begin) int {
	r := &w.table.Rows[begin.Row]
	if len(begin.From) > 1 || isWeight(w.named(r.Op), r.Recorded.Place) || !r.Left.DType.IsFloat() || backwards(op) == 1 {
		return -1
	}
	prefix, next, inner := prefixOf(op.Op.Name), true, w.within(r)
	for k := w.place[op.Op.Name] - 1; k >= 0 && prefixOf(w.operators[k].Op.Name) == prefix; k-- {
		lone := &w.operators[k]
		if len(begin.From) > 0 && w.operators[k].Op.Name == begin.From[0] {
			return -1
		}
		next = next && (k == w.place[op.Op.Name]-1 || ofModule(w.operators[k+1].Op.Name))
		if (next || reaches(lone, r, begin.From)) && w.writes(k) {
			return k
		}
		if !w.lone(k) && !w.writes(k) || len(begin.From) > 0 || backwards(lone) == 1 || inner != "" && !w.inside(lone.Op.Name, inner) {
			continue
		}
		other, shape := r.Recorded.Right, r.Right.Shape
		if w.table.Rows[lone.Whole[0]].Has(result.NoLeftCall) {
			other, shape = r.Recorded.Left, r.Left.Shape
		}
		for _, p := range lone.Op.Inputs {
			from := w.named(p.Op)
			if from == nil || w.off(from) {
				continue
			}
			if out := from.output(p.Index); out != nil && contains(w.row(out), other, shape) {
				// It is the first of all that one side alone makes of this.
				return slices.IndexFunc(w.operators[:k+1], func(x Operator) bool {
					return w.lone(w.place[x.Op.Name]) && slices.Contains(x.Op.Inputs, p) || x.Op.Name == lone.Op.Name
				})
			}
		}
	}
	return -1
}

// otherForm is the backward call that gives what another one begins with, by what their forward calls take from each other, if it got
// the same and hands out another form on each side: its function was computed otherwise. -1 if there is none.
func (w *recordedWalk) otherForm(op *Operator, begin *Begin) int {
	name, backward := strings.CutSuffix(op.Op.Name, ".backward")
	if !backward || len(begin.From) > 1 {
		return -1
	}
	for k := w.place[op.Op.Name] - 1; k >= 0; k-- {
		x := &w.operators[k]
		of, backward := strings.CutSuffix(x.Op.Name, ".backward")
		use := w.named(of + ".forward")
		if !backward || use == nil || len(begin.From) > 0 && begin.From[0] != x.Op.Name || !slices.ContainsFunc(use.Op.Inputs, func(p result.Port) bool { return w.maker(p) == name+".forward" }) {
			continue
		}
		form := func(t Tensor) bool { return ofLastStep(w.row(&t)) }
		differs := func(t Tensor) bool { return agreementOf(w.row(&t)) == different }
		if slices.ContainsFunc(x.Outputs, form) && !slices.ContainsFunc(x.Inputs, differs) && !slices.ContainsFunc(x.Outputs, differs) {
			return k
		}
	}
	return -1
}

// maker is the function whose result modules hand on as an output of the outermost of them.
func (w *recordedWalk) maker(p result.Port) string {
	for range 64 {
		from := w.named(p.Op)
		if from == nil || !ofModule(p.Op) || from.output(p.Index) == nil {
			break
		}
		next := w.row(from.output(p.Index)).Facts.Producer
		if next.Op == "" || next == p {
			break
		}
		p = next
	}
	return p.Op
}

// contains tells that a tensor that is the same on both sides may have a part that looks so, by its extremes.
func contains(whole *result.Row, part *result.Summary, shape []int64) bool {
	const extremes = result.KnownMax | result.KnownMin
	a := whole.Recorded.Right
	return agreementOf(whole) == same && whole.Right.DType.IsFloat() && a.Has(extremes) && part.Has(extremes) &&
		elements(shape) <= elements(whole.Right.Shape) && a.Stats.Min <= part.Stats.Min && part.Stats.Max <= a.Stats.Max
}

// turns tells of a call that one side alone has it and that it may put elements that it gets in another order.
func (w *recordedWalk) turns(place int) bool {
	op := w.operators[place].Op
	takes := len(op.Inputs) > 0 || slices.ContainsFunc(op.Gives, func(g result.Given) bool { return !strings.HasPrefix(g.Place, "output") })
	return w.lone(place) && takes && catalogue.Is(op.Type, catalogue.Moves) && !catalogue.Is(op.Type, catalogue.Straight|catalogue.Reshapes|catalogue.Returns)
}

// turnedAlone makes a call a root that one side alone has and that only gives elements in another order, where all that is known of what takes its
// result, and differs nowhere, are statistics, which are the same in any order.
func (w *recordedWalk) turnedAlone() {
	for i := range w.operators {
		op := &w.operators[i]
		for k := range op.Inputs {
			r := w.row(&op.Inputs[k])
			if r.Recorded == nil || r.Compared || r.Recorded.Hashed || !r.Left.DType.IsFloat() {
				continue
			}
			for _, p := range []result.Port{r.Facts.Producer, r.Recorded.Golden} {
				if at, ok := w.place[p.Op]; ok && w.turns(at) && catalogue.Is(w.operators[at].Op.Type, catalogue.Turns) {
					w.out.Roots = append(w.out.Roots, w.aloneRoot(at, &Begin{Row: op.Inputs[k].Row}, false))
					return
				}
			}
		}
	}
}

// taken are the calls whose results are known to go into others.
func (w *recordedWalk) taken() map[string]bool {
	read := map[string]bool{}
	for i := range w.operators {
		op := &w.operators[i]
		for _, p := range op.Op.Inputs {
			read[p.Op] = true
		}
		for k := range op.Inputs {
			if r := w.row(&op.Inputs[k]); r.Recorded != nil {
				read[r.Facts.Producer.Op], read[r.Recorded.Golden.Op] = true, true
			}
		}
	}
	return read
}

// lone tells that one side alone has a call.
func (w *recordedWalk) lone(place int) bool {
	op := &w.operators[place]
	return op.Op.Made != nil && len(op.Whole) > 0
}

// leading is the call that a call of one side alone follows from: a gradient from the first
// forward call that this side alone has in the piece, as of a second pass. -1 for the gradient of a call that both sides make.
func (w *recordedWalk) leading(place int) int {
	name := w.operators[place].Op.Name
	if backwards(&w.operators[place]) == 0 {
		return place
	}
	if of, ok := w.place[turnedName(name, ".backward", ".forward")]; ok && !w.lone(of) {
		return -1
	}
	prefix := prefixOf(name)
	at := place
	for k := place - 1; k >= 0 && prefixOf(w.operators[k].Op.Name) == prefix; k-- {
		if w.lone(k) && strings.Contains(w.operators[k].Op.Name, ".forward") {
			at = k
		}
	}
	return at
}

// PlaceOf are the step and the rank in front of the name of a call where a table of recordings has several; -1 where
// they are not told.
func PlaceOf(call string) (step, rank int) {
	s, r := partOf(call)
	return numberOf(s, "step"), numberOf(r, "rank")
}
