package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// mostJoined bounds the tables that are read of a job: those of the parts where errors begin.
const mostJoined = 64

// SchemaOf is the schema that a file of JSON names first, "" if there is none.
func SchemaOf(path string) string {
	from := json.NewDecoder(bytes.NewReader(plainfile.Front(path, 4096)))
	for _, want := range []json.Token{json.Delim('{'), "schema"} {
		if got, err := from.Token(); err != nil || got != want {
			return ""
		}
	}
	schema, _ := from.Token()
	text, _ := schema.(string)
	return text
}

// ResultOf is the job.json that a path names, itself or in a folder of compare -all; empty for other paths.
func ResultOf(path string) string {
	if plainfile.IsFolder(path) {
		path = filepath.Join(path, ResultFile)
	}
	if SchemaOf(path) != Schema {
		return ""
	}
	return path
}

// Open reads a saved result, of a comparison or of a whole job, to go on from. Of a job it is one table of the ranks and
// steps where errors begin, with the job's verdict, and its origins as roots.
func Open(path string, p *verdict.Profile) (_ *verdict.Judged, err error) {
	defer must.Catch(&err)
	if file := ResultOf(path); file != "" {
		return must.Get(OpenJSON(file)).judged(filepath.Join(filepath.Dir(file), TableFolder), p)
	}
	return verdict.Judge(must.Get(report.OpenJSON(path)).Table, verdict.Options{Profile: p}), nil
}

// place is the beginning of the names that a part's operators have beside those of others.
func place(step, rank int) (text string) {
	if step >= 0 {
		text = "step" + strconv.Itoa(step) + "/"
	}
	switch {
	case rank >= 0:
		text += "rank" + strconv.Itoa(rank) + "/"
	case step >= 0:
		text += "proc/"
	}
	return text
}

// first are the origins to go on from: not what collectives handed on, and not what an earlier step may have caused.
func (s *Saved) first() (list []*Origin) {
	for _, wanted := range []func(*Origin) bool{func(o *Origin) bool { return !o.Through && !o.Later }, func(*Origin) bool { return true }} {
		for i := range s.Origins {
			if o := &s.Origins[i]; wanted(o) {
				list = append(list, o)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// judged joins the tables of the parts where errors begin. An origin that several ranks have is looked at on the
// first of them; of what ranks run together any of them may be wrong.
func (s *Saved) judged(tables string, p *verdict.Profile) (_ *verdict.Judged, err error) {
	defer must.Catch(&err)
	t := &result.Table{}
	t.Meta.Left.Dir, t.Meta.Right.Dir, t.Meta.Graph = s.Left, s.Right, s.Graph
	joined := map[string]*result.Table{}
	// The place of an operator in a part, whose table is joined for it.
	at := func(x *SavedPart, is func(*result.Operator) bool) (string, *result.Operator) {
		where := place(x.Step, x.Rank)
		if joined[where] == nil && x.Table != "" && len(joined) < mostJoined {
			saved := must.Get(report.OpenJSON(filepath.Join(tables, x.Table+".json")))
			if m := &saved.Table.Meta; len(joined) == 0 {
				m.Left.Dir, m.Right.Dir, m.Graph, m.Time = s.Left, s.Right, s.Graph, time.Time{}
				t.Meta = *m
			}
			joined[where] = saved.Table
			t.Join(saved.Table, where)
		}
		if joined[where] != nil {
			ops := joined[where].Ops
			for i := range ops {
				if is(&ops[i]) {
					return where + ops[i].Name, &ops[i]
				}
			}
		}
		return "", nil
	}
	var names [][]string // of each origin, that of the first rank in front
	for _, o := range s.first() {
		ranks, err := ParseNumbers(o.Ranks)
		must.Not(err != nil && o.Ranks != unknownRank, "origins: %w", err)
		var here []string
		var op *result.Operator
		for i := range s.Parts {
			if x := &s.Parts[i]; op == nil && x.Step == o.First && (x.Rank < 0 || ranks.Has(x.Rank)) {
				var name string
				if name, op = at(x, func(op *result.Operator) bool { return op.Name == o.Op }); op != nil {
					here = []string{name}
				}
			}
		}
		for i := range s.Parts {
			x := &s.Parts[i]
			if op == nil || op.Meets == "" && !o.Collective || x.Step != o.First {
				continue
			}
			name, _ := at(x, func(p *result.Operator) bool { return p.Meets == op.Meets && (op.Meets != "" || p.Name == op.Name) })
			if name != "" && name != here[0] {
				here = append(here, name)
			}
		}
		if len(here) > 0 {
			names = append(names, here)
		}
	}
	j := verdict.Judge(t, verdict.Options{Profile: p, OfJob: true})
	own := j.Roots
	for i := range j.Operators {
		j.Operators[i].From = nil // of roots that are replaced
	}
	j.Verdict, j.Roots = verdict.ParseVerdict(s.Verdict), nil
	for _, list := range names {
		at := slices.IndexFunc(own, func(r verdict.Root) bool { return j.Operators[r.Operator].Op.Name == list[0] })
		root := verdict.Root{Certainty: verdict.Region}
		if at >= 0 {
			root = own[at]
		} else if root.Operator = slices.IndexFunc(j.Operators, func(op verdict.Operator) bool { return op.Op.Name == list[0] }); root.Operator < 0 {
			continue
		}
		if op := &j.Operators[root.Operator]; len(op.Outputs)+len(op.Inputs) == 0 {
			continue
		}
		root.Region = append(root.Region, list[1:]...)
		j.Roots = append(j.Roots, root)
	}
	return j, nil
}

// After is what a job of a few calls, with their elements, makes of an earlier verdict on all of them.
type After struct {
	// Verdict is what that came to, Roots are where it said that errors begin.
	Verdict string      `json:"verdict"`
	Roots   []AfterRoot `json:"roots"`
}

// AfterRoot is what became of one, see [verdict.AfterRoot]; Now are operators with their step and rank.
type AfterRoot struct {
	verdict.AfterRoot
	Now []string `json:"now,omitempty"`
}

// expected are the roots of the earlier verdict before anything is known of them; nil without one.
func (r *Request) expected() *After {
	if r.After == nil {
		return nil
	}
	a := &After{Verdict: r.After.Verdict.String()}
	for _, at := range r.After.Prominent() {
		root := &r.After.Roots[at]
		a.Roots = append(a.Roots, AfterRoot{verdict.AfterRoot{Op: r.After.Operators[root.Operator].Op.Name, Candidates: 1 + len(root.Region), Outcome: verdict.AfterOpen}, nil})
	}
	return a
}

// goOn says in the digest of a part what became of the earlier roots there.
func (r *runner) goOn(x *Part, d *Digest, j *verdict.Judged) {
	if r.After == nil {
		return
	}
	at := place(x.Step, x.Rank)
	var fault *verdict.AfterError
	switch err := verdict.FitAfter(r.After, j.Table, at); {
	case errors.As(err, &fault) && fault.All == 0 && fault.Tensor == "":
		return // the earlier verdict has nothing of this part
	case err != nil:
		*d = Digest{Failed: err.Error()}
		return
	}
	for _, root := range j.Became(r.After, at) {
		found := AfterRoot{AfterRoot: root}
		for _, k := range root.Now {
			found.Now = append(found.Now, at+j.Operators[j.Roots[k].Operator].Op.Name)
		}
		d.After = append(d.After, found)
	}
}

// goOn brings together what became of the earlier roots in all parts, and makes of both verdicts one.
func (r *Result) goOn() {
	if r.Plan.after == nil {
		return
	}
	a := &After{Verdict: r.Plan.after.Verdict}
	both := verdict.After{Verdict: verdict.ParseVerdict(a.Verdict)}
	for _, root := range r.Plan.after.Roots {
		sum, found := AfterRoot{verdict.AfterRoot{Outcome: verdict.AfterOpen}, nil}, false
		for _, d := range r.Digests {
			for _, x := range d.After {
				switch {
				case x.Op != root.Op:
				case !found:
					sum.AfterRoot, sum.Now, found = x.AfterRoot, slices.Clone(x.Now), true
				default:
					sum.Join(x.AfterRoot)
					sum.Now = append(sum.Now, x.Now...)
				}
			}
		}
		if sum.Outcome == verdict.AfterAgrees && sum.Recorded < root.Candidates {
			sum.Outcome = verdict.AfterOpen // some are of ranks that were not recorded
		}
		both.Roots = append(both.Roots, sum.AfterRoot)
		sum.Op, sum.Candidates = root.Op, root.Candidates
		a.Roots = append(a.Roots, sum)
	}
	r.After, r.Verdict = a, both.Together(verdict.ParseVerdict(r.Verdict)).String()
}
