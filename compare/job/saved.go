package job

// Result is what was saved, for faces that show results: with the parts, meetings and conclusions, and without what only a
// run needs.
func (s *Saved) Result() *Result {
	r := &Result{Plan: &Plan{Request: Request{Left: s.Left, Right: s.Right, Graph: s.Graph, Version: s.Version}, Alone: s.Alone, Chosen: s.Chosen, options: s.Options, judged: s.Profile},
		Verdict: s.Verdict, Premise: s.Premise, After: s.After, Counts: s.Counts, Losses: s.Lost, Origins: s.Origins, Deviations: s.Deviations}
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.Digest == nil {
			p.Digest = &Digest{}
		}
		r.Plan.Parts = append(r.Plan.Parts, Part{Name: p.Table, Step: p.Step, Rank: p.Rank, Host: p.Host, Model: p.Model, ModelID: p.ModelID, Left: p.Left, Right: p.Right})
		r.Digests = append(r.Digests, p.Digest)
	}
	for _, m := range s.Collectives {
		r.Plan.Meetings = append(r.Plan.Meetings, Meeting{Step: m.Step, Op: m.Op, Type: m.Type})
		r.Mets = append(r.Mets, m.Met)
	}
	return r
}
