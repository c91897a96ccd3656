package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/clean"
	"precision/internal/msg"
)

// SARIF writes the roots of a judged table in the Static Analysis Results
// Interchange Format 2.1.0 of OASIS, which code review tools show. The rules are
// the causes. An inconclusive verdict is a notification of level error, what is damaged one of
// level warning.
type SARIF struct{ Lang msg.Lang }

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]any    `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// Write writes the file.
func (x SARIF) Write(to io.Writer, j *verdict.Judged) error {
	s := speaker{x.Lang}
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "precision", Version: j.Table.Meta.Version}},
		Invocations: []sarifInvocation{{Successful: true}},
		Results:     []sarifResult{},
		Properties: map[string]any{
			"verdict": j.Verdict.String(), "profile": map[string]string{"name": j.Profile.Name, "sha256": j.Profile.Hash()},
			"left": j.Table.Meta.Left.Dir, "right": j.Table.Meta.Right.Dir, "graph": j.Table.Meta.Graph,
			"coverage": map[string]int{"expected": j.Coverage.Expected, "compared": j.Coverage.Compared, "constants": j.Coverage.Constants},
		},
	}
	index := map[verdict.Kind]int{}
	for i, k := range verdict.Kinds() {
		index[k] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(k), sarifText{CauseName(x.Lang, k)},
			sarifText{s.say("rule." + string(k))}, sarifConfig{levelOf(k.Suspicion())}})
	}
	notify := func(level, text string) {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{level, sarifText{clean.Line(text)}})
	}
	if j.Verdict == verdict.Inconclusive {
		headline := Text{Lang: x.Lang}.Headline(j)
		notify("error", headline.Text())
	}
	for i := range j.Damaged {
		notify("warning", s.damage(&j.Damaged[i]))
	}
	for i := range j.Roots {
		run.Results = append(run.Results, x.result(j, &j.Roots[i], index))
	}
	e := json.NewEncoder(to)
	e.SetIndent("", " ")
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (x SARIF) result(j *verdict.Judged, r *verdict.Root, index map[verdict.Kind]int) sarifResult {
	s := speaker{x.Lang}
	op := &j.Operators[r.Operator]
	row := j.Row(j.Worst(r))
	tensor := row.Tensor()
	list := []map[string]any{}
	for i := range r.Causes {
		c := &r.Causes[i]
		list = append(list, map[string]any{"kind": string(c.Kind), "value": result.Number(c.Value), "limit": result.Number(c.Limit)})
	}
	worst := r.Causes[0].Kind
	hash := sha256.Sum256([]byte(tensor))
	res := sarifResult{
		Rule: string(worst), RuleIndex: index[worst],
		Level:        levelOf(op.State == verdict.StateSuspect),
		Message:      sarifText{clean.Line(s.say("sarif.root", tensor, strings.Join(s.causes(row, r.Causes), s.say("also")), s.certainty(op, r, 10)))},
		Fingerprints: map[string]string{"tensor/v1": hex.EncodeToString(hash[:])},
		Properties: map[string]any{
			"type": op.Op.Type, "index": op.Op.Index, "causes": list, "certainty": r.Certainty.String(),
			"region": notNil(r.Region), "inherited": r.Inherited, "reaches": notNil(r.Reaches), "framework_ops": notNil(op.Op.Framework),
		},
	}
	loc := sarifLocation{Logical: []sarifLogical{{op.Op.Name, tensor, "function"}}}
	if file := row.Left.File; file != "" {
		loc.Physical = &sarifPhysical{}
		loc.Physical.Artifact.URI = fileURI(file)
	}
	res.Locations = []sarifLocation{loc}
	return res
}

func levelOf(suspicion bool) string {
	if suspicion {
		return "warning"
	}
	return "error"
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// fileURI is a path as a URI: relative to the working folder, or absolute.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
