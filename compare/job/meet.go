package job

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"precision/compare/oracle"
	"precision/compare/result"
	"precision/dump"
	"precision/graph"
	"precision/internal/order"
)

// Meeting is an operator that several ranks ran together: what comes out on each depends on
// what went in on all.
type Meeting struct {
	Name string `json:"name"`
	Step int    `json:"step"`
	// Op is the operator as dumps spell it, Type its type. Transfers between ranks are one meeting
	// of a step, without Op.
	Op   string `json:"op,omitempty"`
	Type string `json:"type"`
	// Ranks are those that recorded it, such as 0-7; Absent those that did not, though
	// they ran the same model.
	Ranks  string `json:"ranks"`
	Absent string `json:"absent,omitempty"`
	// Unplaced: there is also a recording of it whose rank no folder tells. It takes no
	// part, for it may be that of another rank or a copy.
	Unplaced bool `json:"unplaced,omitempty"`
	// Bytes is what is to be read: its dumps of all ranks.
	Bytes int64  `json:"bytes"`
	Stamp string `json:"stamp"`

	parts []*Part
	seen  string
}

// folders are what the meeting is read from.
func (m *Meeting) folders() (list []string) {
	for _, x := range m.parts {
		list = append(list, x.Left)
	}
	return list
}

// transfers is the type of the meeting of all transfers of a step.
const transfers = "HcomSend, HcomReceive"

// meet makes the meetings of the parts and of the recordings that only take part in them.
func (p *Plan) meet() {
	type key struct {
		step int
		op   string
		typ  string
	}
	at := map[key]*Meeting{}
	var keys []key
	all := make([]*Part, 0, len(p.Parts)+len(p.extra))
	for i := range p.Parts {
		all = append(all, &p.Parts[i])
	}
	for i := range p.extra {
		all = append(all, &p.extra[i])
	}
	slices.SortStableFunc(all, func(a, b *Part) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name))
	})
	placed := slices.ContainsFunc(all, func(x *Part) bool { return x.Rank >= 0 })
	unplaced := map[key]bool{}
	stamps, seen := map[key][][]byte{}, map[key][][]byte{}
	ranksOf := map[string][]int{} // by model
	for _, x := range all {
		lone := placed && x.Rank < 0
		if model := started().ReplaceAllString(x.Model, ""); !lone {
			ranksOf[model] = append(ranksOf[model], x.Rank)
		}
		for _, op := range x.shared {
			k := key{x.Step, op.Key, op.Type}
			if oracle.IsTransfer(op.Type) {
				k = key{x.Step, "", transfers}
			}
			if lone {
				unplaced[k] = true
				continue
			}
			m := at[k]
			if m == nil {
				m = &Meeting{Step: x.Step, Op: k.op, Type: k.typ}
				at[k] = m
				keys = append(keys, k)
			}
			if n := len(m.parts); n == 0 || m.parts[n-1] != x {
				m.parts = append(m.parts, x)
				stamps[k], seen[k] = append(stamps[k], []byte(x.Stamp)), append(seen[k], []byte(x.seen))
			}
			m.Bytes += op.Bytes
		}
	}
	order.Stable(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.op, b.op), cmp.Compare(a.typ, b.typ))
	})
	taken := map[string]bool{}
	for _, k := range keys {
		m := at[k]
		var ranks, absent []int
		models := map[string]bool{}
		for _, x := range m.parts {
			ranks = append(ranks, x.Rank)
			models[started().ReplaceAllString(x.Model, "")] = true
		}
		ranks = unique(ranks)
		if m.Op != "" {
			for model := range models {
				for _, r := range ranksOf[model] {
					if !slices.Contains(ranks, r) {
						absent = append(absent, r)
					}
				}
			}
		}
		m.Ranks, m.Absent, m.Unplaced = ranges(ranks), ranges(unique(absent)), unplaced[k]
		m.Stamp = both(append(stamps[k], fmt.Append(nil, m.Absent, m.Unplaced))...)
		m.seen = both(seen[k]...)
		m.Name = "step" + number(m.Step) + "_" + safe(cmp.Or(m.Op, "transfers"))
		for name, n := m.Name, 2; taken[m.Name]; n++ {
			m.Name = name + "_" + number(n)
		}
		taken[m.Name] = true
		p.Meetings = append(p.Meetings, *m)
	}
}

// meeting checks an operator that ranks ran together. A worker of the pool does it.
func (r *runner) meeting(ctx context.Context, m *Meeting) (*entry, error) {
	e := &entry{Unit: m.Name, Stamp: m.Stamp, Seen: m.seen}
	var members []oracle.Member
	met := &Met{}
	for _, x := range m.parts {
		folder, err := r.in.Scan(x.Left, true)
		if err != nil {
			met.Why, met.Args = oracle.WhyBadDump, []string{number(x.Rank), err.Error()}
			break
		}
		before := r.before(x)
		for _, op := range x.shared {
			transfer := oracle.IsTransfer(op.Type)
			if transfer != (m.Op == "") || !transfer && op.Key != m.Op {
				continue
			}
			files := folder.Op(op.Key)
			if files == nil {
				met.Why, met.Args = oracle.WhyBadDump, []string{number(x.Rank), "the dump of " + op.Key + " is gone"}
				break
			}
			one := oracle.Member{Rank: x.Rank, Type: op.Type, Entry: files.Newest(), Op: r.graphOp(x, op.Key)}
			if before != nil {
				if old := before.Op(op.Key); old != nil {
					one.Before = old.Newest()
				}
			}
			if one.Op != nil && !slices.Contains(met.Ops, one.Op.Name) {
				met.Ops = append(met.Ops, one.Op.Name)
			}
			members = append(members, one)
		}
	}
	var found oracle.Meeting
	var err error
	if met.Why == "" {
		check := oracle.CheckMeeting
		if m.Op == "" {
			check = oracle.CheckTransfers
		}
		if each := r.pool.Each(ctx, 1, func(int) { found, err = check(ctx, members) }); err == nil {
			err = each
		}
		if err != nil {
			return nil, err
		}
	} else {
		found.Verdict, found.Why, found.Args = oracle.Unknown, met.Why, met.Args
	}
	r.progress(m.Bytes)
	if len(met.Ops) == 0 && m.Op != "" {
		met.Ops = []string{m.Op}
	}
	e.Met = met
	met.take(&found, m)
	return e, nil
}

// before is the recording of the step before that of a part, nil if there is none.
func (r *runner) before(x *Part) *dump.Folder {
	var last *Part
	look := func(list []Part) {
		for i := range list {
			if p := &list[i]; p.Rank == x.Rank && p.Model == x.Model && p.Step < x.Step && (last == nil || p.Step > last.Step) {
				last = p
			}
		}
	}
	look(r.Parts)
	look(r.extra)
	if last == nil {
		return nil
	}
	folder, err := r.in.Scan(last.Left, true)
	if err != nil {
		return nil
	}
	return folder
}

// graphOp is an operator in the graph of a part, nil where none is known. Parts of one
// model share a graph.
func (r *runner) graphOp(x *Part, key string) *graph.Op {
	ops, _ := r.in.ops.of(x.Model+" "+x.ModelID, func() (map[string]*graph.Op, error) {
		path, _ := r.GraphOf(x)
		if path == "" {
			return nil, nil
		}
		m, err := r.in.Graph(path)
		if err != nil {
			return nil, err
		}
		ops := map[string]*graph.Op{}
		for op := range m.Ops() {
			if oracle.IsCollective(op.Type) {
				ops[dump.Normalise(op.Name)] = op
			}
		}
		return ops, nil
	})
	return ops[key]
}

// take makes of what an oracle found what the job keeps: faults of the same kind are one.
func (m *Met) take(f *oracle.Meeting, of *Meeting) {
	m.Verdict = map[oracle.Verdict]string{oracle.OK: MetOK, oracle.Wrong: MetWrong}[f.Verdict]
	if m.Verdict == "" {
		m.Verdict = MetUnknown
	}
	m.Why, m.Args, m.How, m.Reduction = f.Why, f.Args, f.How, f.Reduction
	for _, g := range f.Groups {
		m.Groups = append(m.Groups, ranges(g))
	}
	if f.Verdict == oracle.Wrong && !slices.ContainsFunc(f.Faults, func(x oracle.MetFault) bool { return x.Kind != oracle.MetBeyond }) {
		switch {
		case of.Absent != "":
			m.Verdict, m.Why, m.Args = MetUnknown, WhyAbsent, []string{of.Absent}
			return
		case of.Unplaced:
			m.Verdict, m.Why = MetUnknown, WhyUnplaced
			return
		}
	}
	var ranks [][]int
	for _, x := range f.Faults {
		k := slices.IndexFunc(m.Faults, func(y Fault) bool { return y.Kind == x.Kind && y.Rank == x.Other && y.Output == x.Output })
		if k < 0 {
			k = len(m.Faults)
			m.Faults = append(m.Faults, Fault{Kind: x.Kind, Rank: x.Other, Output: x.Output, Elements: x.Elements, Of: x.Of,
				Expected: result.Number(x.Expected), Found: result.Number(x.Found), Bound: result.Number(x.Bound)})
			ranks = append(ranks, nil)
		}
		ranks[k] = append(ranks[k], x.Rank)
	}
	for k := range m.Faults {
		m.Faults[k].Ranks = ranges(unique(ranks[k]))
		if math.IsNaN(float64(m.Faults[k].Expected)) && m.Faults[k].Kind == oracle.MetDiffers {
			m.Faults[k].Of = 0
		}
	}
}

// WhyAbsent: ranks that ran the same model recorded nothing, so that what is missing may be theirs.
const WhyAbsent = "absent"

// WhyUnplaced: no folder tells the rank of a recording, so that what is missing may be its.
const WhyUnplaced = "unplaced"

func isShared(typ string) bool { return strings.HasPrefix(typ, "Hcom") && oracle.IsCollective(typ) }
