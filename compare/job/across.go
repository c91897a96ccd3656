package job

import (
	"slices"

	"precision/compare/result"
	"precision/compare/verdict"
)

// Reach is where the error of an origin arrives in another recording.
type Reach struct {
	Step int    `json:"step"`
	Rank int    `json:"rank"`
	Op   string `json:"op"`
}

// rootAt is a root of a part.
type rootAt struct{ part, root int }

// settled is what all parts together say of their roots: which are none of their own.
type settled struct {
	fates map[int][]verdict.Fate // by part
	part  []int                  // of a piece
	piece []verdict.Piece
}

// settle brings together what the parts of recordings of calls tell of each other.
func (r *Result) settle() *settled {
	s := &settled{fates: map[int][]verdict.Fate{}}
	for i, d := range r.Digests {
		if d.Piece == nil {
			continue
		}
		p := *d.Piece
		p.Step, p.Rank = r.Plan.Parts[i].Step, r.Plan.Parts[i].Rank
		s.piece, s.part = append(s.piece, p), append(s.part, i)
	}
	for k, list := range verdict.Settle(s.piece) {
		i := s.part[k]
		d := r.Digests[i]
		if s.fates[i] = list; d.Behind != nil && s.piece[k].Behind == nil {
			d.Verdict, d.Counts, d.Roots, d.Others = d.Behind.Verdict, d.Behind.Counts, d.Behind.Roots, d.Behind.Others
		}
		d.Piece.Behind, d.Behind = nil, nil // of a job it is settled
	}
	return s
}

// Premise is what a comparison takes for granted and does not hold, see [verdict.Premise].
type Premise struct {
	Kind   verdict.PremiseKind `json:"kind"`
	Reason result.Reason       `json:"reason"`
	// Part is the one of the parts of a job that it is about, "" for all.
	Part string `json:"part,omitempty"`
}

// premise is what does not hold of the whole job, so that little that was computed tells of a call: ranks are in another order, or
// all that were compared were given other data than the other side. nil if there is nothing. Own says of roots that they
// have nothing to do with that.
func (s *settled) premise() (p *Premise, own map[rootAt]bool) {
	own = map[rootAt]bool{}
	if p, list := verdict.Exchanged(s.piece); list != nil {
		for k := range list {
			for n, is := range list[k] {
				own[rootAt{s.part[k], n}] = is
			}
		}
		return &Premise{Kind: p.Kind, Reason: p.Reason}, own
	}
	first := -1
	for k := range s.piece {
		if p := &s.piece[k]; p.Fed != nil && (first < 0 || p.Step < s.piece[first].Step) {
			first = k
		}
	}
	if first < 0 || slices.ContainsFunc(s.piece, func(p verdict.Piece) bool { return p.Step == s.piece[first].Step && p.Fed == nil }) {
		return nil, nil
	}
	for k := range s.piece {
		for n := range s.piece[k].Roots {
			own[rootAt{s.part[k], n}] = s.piece[k].Roots[n].Proven || s.piece[k].Step < s.piece[first].Step
		}
	}
	return &Premise{Kind: verdict.PremiseInputs, Reason: *s.piece[first].Fed}, own
}

// running tells of a root that it was recorded before it was done, and says nothing.
func (s *settled) running(at rootAt) bool {
	list := s.fates[at.part]
	return at.root < len(list) && list[at.root].Running
}

// comes is the root that one comes down to, and the call of one side alone that it is, if it is
// one; same tells that it is a place of that root, and no consequence.
func (s *settled) comes(at rootAt) (to rootAt, same bool, alone *verdict.Absent, part int) {
	list := s.fates[at.part]
	if at.root >= len(list) {
		return at, true, nil, at.part
	}
	f := list[at.root]
	to, same = at, true
	if f.By != nil {
		to, same = rootAt{s.part[f.By.Piece], f.By.At}, f.Same
	}
	if a := s.fates[to.part][to.root].Alone; a != nil {
		return to, same, &s.piece[a.Piece].Alone[a.At], s.part[a.Piece]
	}
	return to, same, nil, to.part
}
