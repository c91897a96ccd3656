package report

import (
	"encoding/json"
	"io"
	"math"

	"precision/internal/each"
	"precision/preflight/config"
	"precision/preflight/manifest"
	"precision/preflight/trainlog"
)

// The JSON of a difference: {"kind": "manifest", "differs": true, ...}. Members
// that do not apply are left out; NaN and infinities are texts.

type jsonEntry struct {
	Path   string `json:"path"`
	Size   *int64 `json:"size,omitempty"`
	Unread bool   `json:"unread,omitempty"`
	MD5    string `json:"md5,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

func entryJSON(e *manifest.Entry) jsonEntry {
	j := jsonEntry{Path: e.Path, Unread: e.Unread, MD5: e.MD5, SHA256: e.SHA256}
	if e.Size >= 0 && !e.Unread {
		j.Size = &e.Size
	}
	return j
}

func entriesJSON(list []manifest.Entry) []jsonEntry {
	out := make([]jsonEntry, len(list))
	for i := range list {
		out[i] = entryJSON(&list[i])
	}
	return out
}

func changesJSON(list []manifest.Change) []map[string]jsonEntry {
	out := make([]map[string]jsonEntry, len(list))
	for i := range list {
		out[i] = map[string]jsonEntry{"a": entryJSON(&list[i].A), "b": entryJSON(&list[i].B)}
	}
	return out
}

func encode(to io.Writer, v any) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ManifestJSON writes what two manifests differ in.
func ManifestJSON(to io.Writer, d *manifest.Difference) error {
	moved := make([]map[string]jsonEntry, len(d.Moved))
	for i := range d.Moved {
		moved[i] = map[string]jsonEntry{"a": entryJSON(&d.Moved[i].From), "b": entryJSON(&d.Moved[i].To)}
	}
	return encode(to, map[string]any{
		"kind": "manifest", "differs": d.Differs(), "files_a": d.FilesA, "files_b": d.FilesB, "same": d.Same,
		"changed_count": d.ChangedCount, "changed": changesJSON(d.Changed),
		"only_a_count": d.OnlyACount, "only_a": entriesJSON(d.OnlyA), "only_b_count": d.OnlyBCount, "only_b": entriesJSON(d.OnlyB),
		"moved": moved, "unproven_count": d.UnprovenCount, "unproven": changesJSON(d.Unproven), "unread_count": d.UnreadCount, "unread": changesJSON(d.Unread),
	})
}

type jsonSide struct {
	Key   string `json:"key"`
	Line  int    `json:"line,omitempty"`
	Value string `json:"value"`
}

type jsonPair struct {
	A     *jsonSide `json:"a,omitempty"`
	B     *jsonSide `json:"b,omitempty"`
	How   string    `json:"how,omitempty"`
	Same  bool      `json:"same"`
	Paths bool      `json:"paths,omitempty"`
	Hyper bool      `json:"hyper_parameter,omitempty"`
}

// ConfigJSON writes what two configurations differ in, all keys included.
func ConfigJSON(to io.Writer, d *config.Difference) error {
	side := func(e *config.Entry) *jsonSide {
		if e.Key == "" {
			return nil
		}
		return &jsonSide{e.Key, e.Line, e.Value.Source}
	}
	pairs := make([]jsonPair, len(d.Pairs))
	for i := range d.Pairs {
		p := &d.Pairs[i]
		pairs[i] = jsonPair{side(&p.A), side(&p.B), string(p.How), p.Same, p.Paths, p.Hyper}
	}
	return encode(to, map[string]any{
		"kind": "config", "differs": d.Differs(), "a": d.A.Path, "b": d.B.Path, "format_a": d.A.Format, "format_b": d.B.Format,
		"same": d.Same, "changed": d.Changed, "paths": d.Paths, "only_a": d.OnlyA, "only_b": d.OnlyB, "ignored": d.Ignored, "keys": pairs,
	})
}

// number is a number for JSON, which has no NaN and no infinity.
type number float64

// MarshalJSON writes the number, or its name.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return json.Marshal(figure(v))
	}
	return json.Marshal(float64(n))
}

type jsonQuantity struct {
	Name      string  `json:"name"`
	Common    int     `json:"common_steps"`
	FirstStep int64   `json:"first_step"`
	FirstA    number  `json:"first_a"`
	FirstB    number  `json:"first_b"`
	Parts     bool    `json:"parts"`
	PartStep  *int64  `json:"part_step,omitempty"`
	PartA     *number `json:"part_a,omitempty"`
	PartB     *number `json:"part_b,omitempty"`
	Why       string  `json:"why,omitempty"`
	Noise     number  `json:"noise"`
	Drift     number  `json:"drift"`
	Last      number  `json:"last_relative_difference"`
	Blank     bool    `json:"blank,omitempty"`
	Few       bool    `json:"few,omitempty"`
}

// jsonSetting is a setting that two logs tell differently, with no value for the one that does not tell it.
type jsonSetting struct {
	Name  string  `json:"name"`
	A     *string `json:"a"`
	B     *string `json:"b"`
	Place bool    `json:"place,omitempty"`
}

type jsonDrop struct {
	Step int64  `json:"step"`
	From number `json:"from"`
	To   number `json:"to"`
}

// LogJSON writes what two training logs differ in, without their points.
func LogJSON(to io.Writer, d *trainlog.Difference) error {
	quantities := make([]jsonQuantity, len(d.Quantities))
	for i := range d.Quantities {
		q := &d.Quantities[i]
		quantities[i] = jsonQuantity{Name: q.Name, Common: q.Common, FirstStep: q.FirstStep, FirstA: number(q.FirstA), FirstB: number(q.FirstB),
			Parts: q.Parts, Why: string(q.Why), Noise: number(q.Noise), Drift: number(q.Drift), Last: number(q.Last), Blank: q.Blank, Few: q.Few}
		if q.Parts {
			a, b := number(q.PartA), number(q.PartB)
			quantities[i].PartStep, quantities[i].PartA, quantities[i].PartB = &q.PartStep, &a, &b
		}
	}
	drops := func(l *trainlog.Log) []jsonDrop {
		return each.Of(l.Drops, func(drop trainlog.Drop) jsonDrop { return jsonDrop{drop.Step, number(drop.From), number(drop.To)} })
	}
	settings := make([]jsonSetting, len(d.Settings))
	for i := range d.Settings {
		s := &d.Settings[i]
		settings[i] = jsonSetting{Name: s.Name, Place: s.Place}
		if s.InA {
			settings[i].A = &s.A
		}
		if s.InB {
			settings[i].B = &s.B
		}
	}
	return encode(to, map[string]any{
		"settings": settings,
		"kind":     "log", "differs": d.Differs(), "inconclusive": d.Inconclusive(), "lost": d.Lost(), "torn_a": d.A.Torn, "torn_b": d.B.Torn, "a": d.A.Path, "b": d.B.Path, "quantities": quantities, "only_a": d.OnlyA, "only_b": d.OnlyB,
		"loss_scale_falls_a": d.A.DropCount, "loss_scale_falls_b": d.B.DropCount, "falls_a": drops(d.A), "falls_b": drops(d.B),
	})
}
