package run

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/run/explain"
)

// Last is the last result of a user, for commands that are given none.
type Last struct {
	// Result is the file or, of a job, the folder.
	Result string `json:"result"`
	// Left and Right are what was compared or checked, Graph their graph; empty is none.
	Left  string    `json:"left"`
	Right string    `json:"right,omitempty"`
	Graph string    `json:"graph,omitempty"`
	Time  time.Time `json:"time"`
}

// StateFolder is where the last result of the user is kept, "" if there is no place for it.
func StateFolder(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "precision")
	}
	if runtime.GOOS == "windows" {
		if dir := getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "precision")
		}
		return ""
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "precision")
	}
	return ""
}

const lastFile = "last.json"

// OpenLast is the last result that is kept in a folder.
func OpenLast(dir string) (*Last, error) {
	if dir == "" {
		return nil, explain.Say("err.last")
	}
	file, _, err := plainfile.Open(filepath.Join(dir, lastFile), "a last result")
	if err != nil {
		return nil, explain.Say("err.last")
	}
	defer file.Close()
	var l Last
	if err := json.NewDecoder(file).Decode(&l); err != nil || l.Result == "" {
		return nil, explain.Say("err.last")
	}
	return &l, nil
}

// Keep makes this the last result in a folder. write, if set, writes a copy of the result there, so that it is found
// whatever becomes of other files. What was the last one before is removed with its copy.
func (l Last) Keep(dir string, write func(io.Writer) error) (err error) {
	defer must.Catch(&err)
	if dir == "" {
		return nil
	}
	folder := must.Get(whole.OpenFolder(dir))
	defer folder.Close()
	before, _ := OpenLast(dir)
	if write != nil { // a machine that stops now loses what can be made again: nobody waits for the disk
		name := "result-" + strconv.FormatInt(time.Now().UnixNano(), 10) + ".json"
		l.Result = filepath.Join(dir, name)
		must.Do(folder.FillLater(name, write))
	}
	for _, path := range []*string{&l.Result, &l.Left, &l.Right, &l.Graph} {
		if *path == "" {
			continue
		}
		if absolute, err := filepath.Abs(*path); err == nil {
			*path = absolute
		}
	}
	l.Time = time.Now()
	must.Do(folder.FillLater(lastFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(l) }))
	l.tidy(dir, before)
	return nil
}

// abandoned is how old a copy is that no run will take any more: one that was killed left it, or one that another overtook
// between its copy and its name in the file.
const abandoned = 10 * time.Second

// tidy removes copies of results that are the last one no more, with the pages of them.
func (l *Last) tidy(dir string, before *Last) {
	copies, _ := filepath.Glob(filepath.Join(dir, "result-*"))
	for _, path := range copies {
		stem := path[:len(path)-len(filepath.Ext(path))]
		info, err := os.Stat(path)
		old := err == nil && time.Since(info.ModTime()) > abandoned
		if stem+".json" != l.Result && (old || before != nil && stem+".json" == before.Result) {
			os.Remove(path)
		}
	}
}

// keptRows is how many rows a table may have to be copied as the last result: 50 MB in a home folder. Of larger ones the
// csv is the last result.
const keptRows = 200_000

// keep keeps what was judged as the last result: the table, which whoever opens it judges again. That it could not be kept
// takes nothing from it.
func (o *Judging) keep(done *Compared) {
	l := Last{Result: done.Path}
	l.Left, l.Graph, l.Right = Recheck(&done.Table.Meta)
	write := func(w io.Writer) error { return report.WriteSaved(w, done.Judged, nil) }
	if len(done.Table.Rows) > keptRows {
		write = nil
	}
	l.Keep(o.State, write)
}

// Recheck is what a check of the left side of a comparison is given: its dumps with their graph, and the framework's
// arrays; or its recordings of calls, which need neither. left is empty where there is nothing to check.
func Recheck(m *result.Meta) (left, graph, golden string) {
	switch {
	case m.Recorded:
		return m.Left.Dir, "", ""
	case m.Graph == "":
		return "", "", ""
	}
	if m.Right.Kind != verdict.KindNPU {
		golden = m.Right.Dir
	}
	return m.Left.Dir, m.Graph, golden
}
