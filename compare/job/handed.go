package job

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"precision/internal/must"
)

// handedForm is raised when what workers are handed changes.
const handedForm = 1

// handed is a plan for workers on other machines: what was found, and what it was found for.
type handed struct {
	Form             int
	Version, Options string
	Parts, Extra     []handedPart
	Meetings         []handedMeeting
}

type handedPart struct {
	Part
	Seen   string     `json:",omitempty"`
	Shared []sharedOp `json:",omitempty"`
}

// handedMeeting has its parts as indices: those of the plan, and behind them the extra ones.
type handedMeeting struct {
	Meeting
	Seen  string `json:",omitempty"`
	Parts []int
}

// HandOver writes the plan for workers, who need not look for recordings again; [Request.TakeOver] reads it.
func (p *Plan) HandOver(to io.Writer) error {
	h := handed{Form: handedForm, Version: p.Version, Options: p.options}
	at := map[*Part]int{}
	give := func(parts []Part) (list []handedPart) {
		for i := range parts {
			x := &parts[i]
			at[x] = len(at)
			list = append(list, handedPart{Part: *x, Seen: x.seen, Shared: x.shared})
		}
		return list
	}
	h.Parts, h.Extra = give(p.Parts), give(p.extra)
	for i := range p.Meetings {
		m := &p.Meetings[i]
		one := handedMeeting{Meeting: *m, Seen: m.seen}
		for _, x := range m.parts {
			one.Parts = append(one.Parts, at[x])
		}
		h.Meetings = append(h.Meetings, one)
	}
	return json.NewEncoder(to).Encode(h)
}

// TakeOver is the plan of a request as another process found it. It is for computing units, not for drawing them together:
// recordings without a partner are not in it.
func (r Request) TakeOver(text []byte) (_ *Plan, err error) {
	defer must.Catch(&err)
	var h handed
	must.Do(json.Unmarshal(text, &h))
	options := r.Hash()
	must.Not(h.Form != handedForm || h.Version != r.Version, "a plan of version %s, form %d; found version %s, form %d: workers run another build",
		h.Version, h.Form, r.Version, handedForm)
	must.Not(h.Options != options, "a plan of the options %.12s, found %.12s: the profile differs from the one that was submitted", h.Options, options)
	p := &Plan{Request: r, options: options, judged: r.judgedBy(), after: r.expected(), in: &inputs{ctx: context.Background()}}
	p.index()
	take := func(list []handedPart) (parts []Part) {
		for _, one := range list {
			x := one.Part
			x.seen, x.shared = one.Seen, one.Shared
			parts = append(parts, x)
		}
		return parts
	}
	p.Parts, p.extra = take(h.Parts), take(h.Extra)
	for _, one := range h.Meetings {
		m := one.Meeting
		m.seen = one.Seen
		for _, k := range one.Parts {
			switch {
			case k >= 0 && k < len(p.Parts):
				m.parts = append(m.parts, &p.Parts[k])
			case k >= 0 && k-len(p.Parts) < len(p.extra):
				m.parts = append(m.parts, &p.extra[k-len(p.Parts)])
			default:
				return nil, fmt.Errorf("%s: found part %d, expected one of %d", m.Name, k, len(p.Parts)+len(p.extra))
			}
		}
		p.Meetings = append(p.Meetings, m)
	}
	return p, checkNames(p.units())
}
