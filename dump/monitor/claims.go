package monitor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Claim is what a tool of msprobe concluded of a tensor of a monitor, or of a call; nobody vouches for it.
type Claim struct {
	// Rank and Step are where; Step is -1 of a call.
	Rank int
	Step int64
	// Metric, Name and Stage are those of a series; of a call there is the Name alone.
	Metric, Name, Stage string
	// Rule is the rule of a monitor (AnomalyNan, AnomalyTurbulence) and Of the number that it looks at, or the name of a tool.
	Rule, Of string
	// Sources are the ranks that NaN or infinities of a call are said to come from; none where the tool names the call itself.
	Sources []int
}

// concluded are the names of files with claims.
var concluded = []string{"anomaly.json", "anomaly_analyze_*.json", "cross_rank_analysis.json"}

// conclusions are the files at a path, or up to two folders below it, with what msprobe's tools concluded: the rules of a monitor
// (anomaly.json), overflow_check and cross_rank_analyzer. They have no numbers that were recorded.
// Folders are listed and nothing is looked at that is no folder: beside a recording lie as many files as it has tensors.
func conclusions(path string) (files []string) {
	found := make([][]string, len(concluded))
	add := func(dir, name string) {
		for i, pattern := range concluded {
			if ok, _ := filepath.Match(pattern, name); ok {
				found[i] = append(found[i], filepath.Join(dir, name))
			}
		}
	}
	if plainfile.IsFile(path) {
		add(filepath.Dir(path), filepath.Base(path))
	}
	for dirs, depth := []string{path}, 0; depth <= 2; depth++ {
		var next []string
		for _, dir := range dirs {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if at := filepath.Join(dir, e.Name()); e.IsDir() || e.Type()&fs.ModeSymlink != 0 && plainfile.IsFolder(at) {
					next = append(next, at)
				} else {
					add(dir, e.Name())
				}
			}
		}
		dirs = next
	}
	return slices.Concat(found...)
}

// Conclusion is the name of the first file of [Claims], empty where there is none.
func Conclusion(path string) string {
	if files := conclusions(path); len(files) > 0 {
		return filepath.Base(files[0])
	}
	return ""
}

// Named are the first of the tensors and calls that claims are about, with their ranks.
func Named(claims []Claim) string {
	var names []string
	for _, c := range claims {
		name := fmt.Sprintf("%s (rank %d)", strings.TrimPrefix(c.Metric+" "+c.Name, " "), c.Rank)
		if slices.Contains(names, name) {
			continue
		}
		if names = append(names, name); len(names) > mostNamed {
			names[mostNamed] = "…"
			break
		}
	}
	return strings.Join(names, ", ")
}

// mostNamed is how many fit a message.
const mostNamed = 4

// mostClaims bounds a file of claims: one of a thousand ranks, with a hundred tensors each, has fewer bytes.
const mostClaims = 64 << 20

// Claims reads what msprobe's tools concluded at a path or below it, by rank, name and step. bad are files that cannot be read, of
// which nothing is taken.
func Claims(path string) (claims []Claim, bad []error) {
	for _, file := range conclusions(path) {
		text, err := plainfile.ReadFile(file, "what a tool concluded", mostClaims)
		if err == nil {
			var list []Claim
			list, err = must.Of(func() []Claim { return claimsIn(filepath.Base(file), text) })
			claims = append(claims, list...)
			err = plainfile.At(file, err)
		}
		if err != nil {
			bad = append(bad, err)
		}
	}
	slices.SortFunc(claims, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Stage, b.Stage),
			cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Of, b.Of), slices.Compare(a.Sources, b.Sources))
	})
	return claims, bad
}

// claimsIn are the claims of a file, by the tool that its name tells; objects have no order.
func claimsIn(name string, text []byte) (claims []Claim) {
	text = bare().ReplaceAll(text, []byte(": null")) // Python writes what JSON has not
	switch name {
	case "anomaly.json":
		return ofRules(text)
	case "cross_rank_analysis.json":
		return ofCalls(text)
	}
	var ranks map[string][]struct {
		Call string `json:"op_name"`
	}
	must.Do(json.Unmarshal(text, &ranks))
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		n, err := strconv.Atoi(strings.TrimPrefix(rank, "rank_"))
		must.Not(err != nil, "%q: found no rank, expected rank_<n>", rank)
		for _, c := range ranks[rank] {
			claims = append(claims, Claim{Rank: n, Step: -1, Name: c.Call, Rule: "overflow_check"})
		}
	}
	return claims
}

var (
	// A series in a tag: <stage>:<name>[:<micro batch>]/rank<n>/<metric>, or <exchange>/rank<n>/pre_<i> and post_<i>.
	claimed = lazy.Regexp(`^(?:(-?\d+):)?(.*?)(?::\d+)?/rank(\d+)/(\w+)$`)
	bare    = lazy.Regexp(`:\s*(?:NaN|-?Infinity)\b`)
	message = lazy.Regexp(`^Rule (\w+) .*', '(\w+)'\) at step`)
)

// claimedMetrics are metrics under the names that rules have for them.
var claimedMetrics = map[string]string{"acc_grad": "grad_unreduced", "post_grad": "grad_reduced"}

func ofRules(text []byte) (claims []Claim) {
	var entries map[string]struct {
		Step    *int64
		Tag     string `json:"tag_name"`
		Message string
	}
	must.Do(json.Unmarshal(text, &entries))
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		e := entries[key]
		at, said := claimed().FindStringSubmatch(e.Tag), message().FindStringSubmatch(e.Message)
		must.Not(at == nil || said == nil || e.Step == nil, "%q: found the tag %q with %q, expected <stage>:<name>/rank<n>/<metric> with a rule at a step", key, e.Tag, e.Message)
		c := Claim{Step: *e.Step, Stage: at[1], Name: at[2], Metric: at[4], Rule: said[1], Of: said[2]}
		c.Rank, _ = strconv.Atoi(at[3])
		if metric := claimedMetrics[c.Metric]; metric != "" {
			c.Metric = metric
		} else if c.Stage == "" && (strings.HasPrefix(c.Metric, "pre_") || strings.HasPrefix(c.Metric, "post_")) {
			c.Name, c.Metric = c.Name+"/"+c.Metric, "comm"
		}
		claims = append(claims, c)
	}
	return claims
}

func ofCalls(text []byte) (claims []Claim) {
	var calls map[string]struct {
		Sources []int `json:"source_ranks"`
		Reached []int `json:"propagated_ranks"`
	}
	must.Do(json.Unmarshal(text, &calls))
	for name, c := range calls {
		for _, rank := range append(slices.Clone(c.Sources), c.Reached...) {
			claims = append(claims, Claim{Rank: rank, Step: -1, Name: name, Rule: "cross_rank_analyzer", Sources: c.Sources})
		}
	}
	return claims
}
