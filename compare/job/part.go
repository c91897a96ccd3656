package job

import (
	"strconv"
	"strings"
)

// Part is the comparison of one rank and step.
type Part struct {
	// Name is that of its tables, step0_rank3.
	Name string `json:"name"`
	Step int    `json:"step"`
	Rank int    `json:"rank"`
	// Host is where the rank ran, as far as folders or the number of ranks of a host
	// tell; else empty.
	Host    string `json:"host,omitempty"`
	Model   string `json:"model,omitempty"`
	ModelID string `json:"model_id,omitempty"`
	// Time is when the recording began, 14 digits; empty if no folder tells.
	Time string `json:"-"`
	// Left and Right are the folders that are compared.
	Left  string `json:"left"`
	Right string `json:"right"`
	// Calls: both are recordings of the calls of a program.
	Calls bool `json:"calls,omitempty"`
	// Files and Bytes are what is to be read, of the left side and the right one.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Stamp tells other inputs apart: the names, sizes and times of all files.
	Stamp string `json:"stamp"`

	seen    string // which files they were: change times and inodes, of this machine
	shared  []sharedOp
	strange error // the graph that was named is not that of its dumps
}

// slot is what two recordings of a job have in common only if one replaces the
// other.
type slot struct {
	step, rank     int
	model, modelID string
}

func (p *Part) slot() slot { return slot{p.Step, p.Rank, p.Model, p.ModelID} }

// sharedOp is an operator that ranks ran together.
type sharedOp struct {
	Key, Type string
	Bytes     int64
}

// Why a recording takes no part.
const (
	AloneNoGolden  = "no-golden" // the right side has none for it
	AloneNoDump    = "no-dump"   // the left side has none for it
	AloneAmbiguous = "ambiguous" // no folder tells its rank or step, and those of several fit
	AloneOlder     = "older"     // there is a newer one of the same rank, step and model
	AloneUnplaced  = "unplaced"  // no folder tells rank and step, or they are those of another
	AloneMissing   = "missing"   // the rank has no such step, which others have
	AloneUnread    = "unread"    // the folder cannot be read
)

// Alone is a recording without a partner.
type Alone struct {
	Why  string `json:"why"`
	Path string `json:"path,omitempty"`
	Step int    `json:"step"`
	Rank int    `json:"rank"`
	// Says adds to Why: an error, the path that was looked for.
	Says string `json:"says,omitempty"`
}

// named gives parts their names: by step and rank, and by the model where a rank has
// several.
func named(parts []Part) {
	type place struct{ step, rank int }
	count := map[place]int{}
	for i := range parts {
		count[place{parts[i].Step, parts[i].Rank}]++
	}
	taken := map[string]bool{}
	for i := range parts {
		p := &parts[i]
		p.Name = "step" + number(p.Step) + "_rank" + number(p.Rank)
		if count[place{p.Step, p.Rank}] > 1 {
			p.Name += "_" + safe(p.Model+"_"+p.ModelID)
		}
		for name, n := p.Name, 2; taken[p.Name]; n++ {
			p.Name = name + "_" + strconv.Itoa(n)
		}
		taken[p.Name] = true
	}
}

// number is a step or a rank in a name; x where there is none.
func number(n int) string {
	if n < 0 {
		return "x"
	}
	return strconv.Itoa(n)
}

// safe is a text as a part of the name of a file.
func safe(text string) string {
	const most = 80
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, text)
	return text[:min(len(text), most)]
}
