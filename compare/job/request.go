package job

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"precision/compare/engine"
	"precision/compare/verdict"
	"precision/dump/msprobe"
)

// Request says what to compare.
type Request struct {
	// Left is the folder of the job's recordings. Right is the folder of the golden
	// ones: one for each rank or step, or one for all; {rank} and {step} in it stand for
	// the numbers.
	Left, Right string
	// Graph is the graph of the left side or a folder of graphs, Quant and Closed as
	// in [engine.Job]; empty takes what lies beside the dumps.
	Graph, Quant, Closed string
	// Ranks and Steps choose numbers, Models names, with * and ?, or ids of models;
	// nil takes all.
	Ranks, Steps Numbers
	Models       []string
	// Mapping says which calls of recordings belong together, beside the profile; nil for nothing.
	Mapping *msprobe.Mapping
	// PerHost is how many ranks a host has; 0 takes hosts from the folders.
	PerHost int
	// Options are those of each comparison; of Unshard the rank is filled in. Profile is
	// what is allowed.
	engine.Options
	Profile *verdict.Profile
	// Check has every operator recomputed from its own inputs, as far as those were recorded.
	Check bool
	// After is an earlier result to go on from, as [Open] reads it, nil without one.
	After *verdict.Judged
	// Day is the day waivers are held against.
	Day time.Time
	// Version is that of the program: results of another one are not taken over.
	Version string
}

// Hash tells requests apart whose results may differ. Workers and the day are not in
// it, but waivers that count no more are.
func (r *Request) Hash() string {
	profile := r.profile()
	var expired []string
	for _, w := range profile.Waivers {
		if w.ExpiredOn(r.Day) {
			expired = append(expired, fmt.Sprint(w.Line))
		}
	}
	asked := []any{r.Left, r.Right, r.Graph, r.Quant, r.Closed, r.Ranks, r.Steps, r.Models, r.PerHost, r.Unshard, r.Numerics, r.Metrics,
		r.MaxElements, r.Overflow, r.TableOnly, profile.Hash(), expired}
	if r.Check {
		asked = append(asked, "check")
	}
	if r.Mapping != nil {
		asked = append(asked, r.Mapping)
	}
	if r.After != nil {
		asked = append(asked, r.After.Table.Meta.Left.Dir, r.expected())
		for i := range r.After.Table.Rows {
			asked = append(asked, r.After.Table.Rows[i].Tensor(), r.After.Table.Rows[i].Left.Shape)
		}
	}
	text, _ := json.Marshal(asked)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (r *Request) profile() *verdict.Profile {
	return cmp.Or(r.Profile, verdict.Default())
}

// wanted tells whether a part is among those that were chosen.
func (r *Request) wanted(p *Part) bool {
	if p.Rank >= 0 && !r.Ranks.Has(p.Rank) || p.Step >= 0 && !r.Steps.Has(p.Step) {
		return false
	}
	return len(r.Models) == 0 || slices.ContainsFunc(r.Models, func(m string) bool {
		ok, _ := path.Match(m, p.Model)
		return ok || m == p.ModelID
	})
}

// chosen says what was asked for, as options say it.
func (r *Request) chosen() string {
	var list []string
	for _, o := range []struct {
		name string
		n    Numbers
	}{{"-ranks ", r.Ranks}, {"-steps ", r.Steps}} {
		if o.n != nil {
			list = append(list, o.name+o.n.String())
		}
	}
	if len(r.Models) > 0 {
		list = append(list, "-models "+strings.Join(r.Models, ","))
	}
	return strings.Join(list, ", ")
}

// meets tells whether a part that was not chosen is of a step and a model that was, and so
// may have met with those that were.
func (r *Request) meets(p *Part) bool {
	all := *r
	all.Ranks = nil
	return all.wanted(p)
}

// ParseUnshard reads how tensors are cut: "auto", a number of slices, or axis:slices.
func ParseUnshard(text string) (*engine.Unshard, error) {
	u := &engine.Unshard{Axis: -1}
	axis, slicesOf, both := strings.Cut(text, ":")
	var err error
	switch {
	case text == "auto":
		return u, nil
	case both:
		if u.Axis, err = strconv.Atoi(axis); err == nil {
			u.Slices, err = strconv.Atoi(slicesOf)
		}
	default:
		u.Slices, err = strconv.Atoi(text)
	}
	if err != nil || u.Slices < 2 || both && u.Axis < 0 {
		return nil, fmt.Errorf("found %q, expected auto, a number of slices, or axis:slices such as 1:2", text)
	}
	return u, nil
}

// CheckModels refuses patterns that are none.
func CheckModels(list string) (models []string, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for m := range strings.SplitSeq(list, ",") {
		m = strings.TrimSpace(m)
		if _, err := path.Match(m, ""); err != nil || m == "" {
			return nil, fmt.Errorf("found %q, expected the name or the id of a model; * and ? stand for other characters", m)
		}
		models = append(models, m)
	}
	return models, nil
}
