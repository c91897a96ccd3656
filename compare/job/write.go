package job

import (
	"encoding/json"
	"io"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Schema is the form of job.json; docs/jobs.md says what its members mean.
const Schema = "precision/job/1"

// SavedPart is a part in job.json.
type SavedPart struct {
	Step    int    `json:"step"`
	Rank    int    `json:"rank"`
	Host    string `json:"host,omitempty"`
	Model   string `json:"model,omitempty"`
	ModelID string `json:"model_id,omitempty"`
	// Table is where its rows are: tables/<table>.csv and .json.
	Table string `json:"table,omitempty"`
	Left  string `json:"left"`
	Right string `json:"right"`
	*Digest
}

// Saved is job.json.
type Saved struct {
	Schema      string         `json:"schema"`
	Version     string         `json:"version"`
	Options     string         `json:"options"`
	Profile     profileSays    `json:"profile"`
	Left        string         `json:"left"`
	Right       string         `json:"right"`
	Graph       string         `json:"graph,omitempty"`
	Verdict     string         `json:"verdict"`
	Premise     *Premise       `json:"premise,omitempty"`
	After       *After         `json:"after,omitempty"`
	Counts      map[string]int `json:"counts"`
	Chosen      string         `json:"chosen,omitempty"`
	Lost        []verdict.Loss `json:"lost"`
	Damaged     []PartDamage   `json:"damaged"`
	Origins     []Origin       `json:"origins"`
	Collectives []SavedMet     `json:"collectives"`
	Deviations  []Deviation    `json:"deviations"`
	Parts       []SavedPart    `json:"parts"`
	Alone       []Alone        `json:"alone"`
}

// SavedMet is what became of a meeting.
type SavedMet struct {
	Step int    `json:"step"`
	Op   string `json:"op"`
	Type string `json:"type"`
	*Met
}

// OpenJSON reads a job.json.
func OpenJSON(path string) (_ *Saved, err error) {
	defer must.Catch(&err)
	s := &Saved{}
	err = json.Unmarshal(must.Get(plainfile.ReadFile(path, "the result of compare -all", mostFrame)), s)
	must.Not(err != nil, "%s: %w", path, err)
	must.Not(s.Schema != Schema, "%s: schema: found %q, expected %q", path, s.Schema, Schema)
	return s, nil
}

// writeJSON writes what people may read, too.
func writeJSON(to io.Writer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Saved is what is kept of a result.
func (r *Result) Saved() *Saved {
	parts := make([]SavedPart, len(r.Digests))
	for i, d := range r.Digests {
		x := &r.Plan.Parts[i]
		parts[i] = SavedPart{Step: x.Step, Rank: x.Rank, Host: x.Host, Model: x.Model, ModelID: x.ModelID, Left: x.Left, Right: x.Right, Digest: d}
		if d.Failed == "" {
			parts[i].Table = x.Name
		}
	}
	mets := make([]SavedMet, len(r.Mets))
	for i, m := range r.Mets {
		mets[i] = SavedMet{r.Plan.Meetings[i].Step, r.Plan.Meetings[i].Op, r.Plan.Meetings[i].Type, m}
	}
	return &Saved{Schema, r.Plan.Version, r.Plan.options, r.Plan.judged, r.Plan.Left, r.Plan.Right, r.Plan.Graph, r.Verdict, r.Premise, r.After, r.Counts,
		r.Plan.Chosen, nonNil(r.Losses), nonNil(r.damaged()), nonNil(r.Origins), mets, nonNil(r.Deviations), parts, nonNil(r.Plan.Alone)}
}

// PartDamage is what is damaged of a part.
type PartDamage struct {
	Step int `json:"step"`
	Rank int `json:"rank"`
	result.Damage
}

// damaged lists what is damaged, by parts; of a part its first ones. A part that could not be
// compared is damaged as a whole.
func (r *Result) damaged() (list []PartDamage) {
	for i, d := range r.Digests {
		x := &r.Plan.Parts[i]
		for _, one := range d.Damaged {
			list = append(list, PartDamage{x.Step, x.Rank, one})
		}
		if d.Failed != "" {
			list = append(list, PartDamage{x.Step, x.Rank, result.Damage{Name: x.Name, File: x.Left, Offset: -1, Reason: result.Because(result.Text, d.Failed)}})
		}
	}
	return list
}

type profileSays struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// judgedBy says which profile a request has.
func (r *Request) judgedBy() profileSays {
	p := r.profile()
	return profileSays{p.Name, p.Hash()}
}
