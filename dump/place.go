package dump

import (
	"path/filepath"
	"strconv"
	"strings"

	"precision/internal/lazy"
)

// Place is where in a job a folder of recordings was made, as the folders above
// it say. Numbers are -1 and texts empty where they do not.
type Place struct {
	// Rank is the number of the process in the job. Device is that of the device
	// on its host, which Rank is taken from where nothing else tells it; Own tells
	// that a folder named the rank itself.
	Rank, Device int
	Own          bool
	// Step is the recorded step.
	Step int
	// Model and ModelID are the graph that ran, Time when the recording began:
	// 14 digits.
	Model, ModelID, Time string
	// Above is the path of the folder above these, without the folders dump and
	// debug_N that tools make: one for each host where several share a disk.
	Above string
}

var (
	rankWord  = lazy.Regexp(`(?i)(?:^|[_.-])rank[_-]?(\d{1,9})(?:$|[_.-])`)
	stepWord  = lazy.Regexp(`(?i)(?:^|[_.-])(?:step|iteration|iter)[_-]?(\d{1,9})(?:$|[_.-])`)
	debugWord = lazy.Regexp(`^debug_\d+$`)
)

// mostNamed is how many folders above a recording are asked for words like rank3.
const mostNamed = 8

// PlaceOf reads the place of a folder off its path: the device's
// <time>/<device>/<model>/<model id>/<step>, MindSpore's rank_N/<net>/<graph>/<step>,
// the folders of torchair,
// and words like rank3 or step_2 in the names of the nearest folders.
func PlaceOf(dir string) Place {
	p := Place{Rank: -1, Device: -1, Step: -1}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	parts := strings.Split(filepath.ToSlash(dir), "/")
	n := len(parts)
	top := n // the first of the folders that tell something
	if n >= 5 && plainNumber(parts[n-1]) && plainNumber(parts[n-2]) && !plainNumber(parts[n-3]) {
		p.Step, _ = strconv.Atoi(parts[n-1])
		p.Model, p.ModelID, top = parts[n-3], parts[n-2], n-3
		if plainNumber(parts[n-4]) {
			p.Device, _ = strconv.Atoi(parts[n-4])
			p.Rank, top = p.Device, n-4
			if t := parts[n-5]; len(t) == 14 && numeric(t) {
				p.Time, top = t, n-5
			}
		}
	}
	if token, ok := fxToken(parts); ok {
		p.Step, p.Model, p.ModelID = token, "", ""
	}
	step := p.Step >= 0
	for i := n - 1; i >= max(0, n-mostNamed); i-- {
		if m := rankWord().FindStringSubmatch(parts[i]); m != nil && !p.Own {
			p.Rank, _ = strconv.Atoi(m[1])
			p.Own, top = true, min(top, i)
		}
		if m := stepWord().FindStringSubmatch(parts[i]); m != nil && !step {
			p.Step, _ = strconv.Atoi(m[1])
			step, top = true, min(top, i)
		}
	}
	for top > 1 && (parts[top-1] == "dump" || debugWord().MatchString(parts[top-1])) {
		top--
	}
	p.Above = strings.Join(parts[:top], "/")
	return p
}

// fxToken is the token that arrays of FX belong to, msprobe_fx_dump/…/<token> or
// data_dump/<token>/gm_<time>_dump, in the numbering of GE, which begins with 0 where
// that of FX begins with 1.
func fxToken(parts []string) (token int, ok bool) {
	last := parts[len(parts)-1]
	fx := false
	if strings.HasPrefix(last, "gm_") && strings.HasSuffix(last, "_dump") && len(parts) > 1 {
		last, fx = parts[len(parts)-2], true
	}
	for _, above := range parts[max(0, len(parts)-5):] {
		fx = fx || strings.HasSuffix(above, "_fx_dump")
	}
	if !fx || !plainNumber(last) {
		return 0, false
	}
	token, err := strconv.Atoi(last)
	return token - 1, err == nil && token > 0
}

// plainNumber tells whether a folder is a number as steps and devices are.
func plainNumber(s string) bool { return numeric(s) && len(s) <= 9 }
