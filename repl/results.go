package repl

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"

	"precision/compare/job"
	"precision/compare/metric"
	"precision/compare/report"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/overflow"
	"precision/internal/plainfile"
	"precision/repl/workspace"
	"precision/run"
)

// judged is a result table of the data folder with its verdict.
type judged struct {
	*verdict.Judged
	path string // where people find the table
}

// profile is what tables are judged by: the default one, with the limit of the
// cosine similarity that the settings or an option name.
func profileWith(cosine float64) (*verdict.Profile, error) {
	if p := verdict.Default(); cosine != workspace.DefaultCosine {
		return p.WithLimit(verdict.Cosine, cosine)
	}
	return verdict.Default(), nil
}

// judge judges a table. path is where people find it.
func (s *session) judge(t *result.Table, path string, cosine float64) (*judged, error) {
	p, err := profileWith(cosine)
	if err != nil {
		return nil, err
	}
	return &judged{verdict.Judge(t, verdict.Options{Profile: p}), path}, nil
}

// savedBeside is the JSON that holds all of a table of which a csv shows a part.
func savedBeside(path string) string { return strings.TrimSuffix(path, ".csv") + ".json" }

// NewestResult is the newest table of a data folder, the JSON that holds all of it where there is one; "" for none.
// Without a name the folder is the one that the shell would open here.
func NewestResult(root string) string {
	data := workspace.Open(cmp.Or(root, workspace.Locate(workspace.Defaults().Data)))
	dir, _ := workspace.NewestResult(data.ResultsDir())
	files, err := workspace.ResultFiles(dir)
	if !plainfile.IsFolder(dir) || err != nil || len(files) == 0 {
		return ""
	}
	path := files[len(files)-1]
	if beside := savedBeside(path); run.Begins(beside) == '{' {
		return beside
	}
	return path
}

// readTable reads a result table: all of it from the JSON beside it if there is
// one, else what the csv of any generation holds, with the order of execution
// that the graphs of the data folder tell. Lines that cannot be used are
// warnings.
func (s *session) readTable(path string) (*result.Table, []error, error) {
	if strings.HasSuffix(path, ".json") {
		t, err := readSaved(path)
		return t, nil, err
	}
	var warnings []error
	t, err := readSaved(savedBeside(path))
	if err == nil {
		return t, nil, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		warnings = append(warnings, err)
	}
	t, more, err := report.OpenCSV(path)
	if err == nil {
		s.inGraphOrder(t)
	}
	return t, append(warnings, more...), err
}

// readSaved reads a table that was saved as JSON.
func readSaved(path string) (*result.Table, error) {
	saved, err := report.OpenJSON(path)
	if err != nil {
		return nil, err
	}
	return saved.Table, nil
}

// inGraphOrder gives the rows of a table that does not know its order the places
// of their operators in a graph, if most of them are in it. Indexes are not the
// order of execution: they count groups of operators as the file lists them.
func (s *session) inGraphOrder(t *result.Table) {
	if !t.Meta.Unordered {
		return
	}
	ops := map[string]bool{}
	for i := range t.Rows {
		ops[t.Rows[i].Op] = true
	}
	for _, id := range s.data.IDs() {
		for _, f := range id.Graphs().Files {
			places := make(map[string]int64, len(f.Index.Ops))
			known := 0
			for _, op := range f.Index.Ops {
				if _, ok := places[op.Name]; !ok {
					places[op.Name] = op.ID
					if ops[op.Name] {
						known++
					}
				}
			}
			if 2*known <= len(ops) {
				continue
			}
			last := 0 // what the graph does not know stays where it is
			for i := range t.Rows {
				if at, ok := places[t.Rows[i].Op]; ok {
					last = int(at)
				}
				t.Rows[i].Facts.Order = last
			}
			return
		}
	}
}

// resultPath is the path of results that was given, or the folder of the newest comparison; false, and told, without any.
func (s *session) resultPath(given string) (path string, ok bool) {
	if given != "" {
		return given, true
	}
	dir, n := workspace.NewestResult(s.data.ResultsDir())
	if n == 0 {
		s.Fail("vcs.none", dir)
	}
	return dir, n > 0
}

// newestResults are the tables of the newest comparison, empty without any. It is
// an error if one cannot be read.
func (s *session) newestResults() (tables []*judged, code int) {
	dir, n := workspace.NewestResult(s.data.ResultsDir())
	if n == 0 && !plainfile.IsFolder(dir) {
		return nil, exitOK
	}
	tables, err := s.readResults(dir, s.set.CosSim)
	if err != nil {
		code = exitError
	}
	return tables, code
}

// readResults reads and judges the tables at or below a path and tells what is
// wrong with them; the error, told too, is that of the first that cannot be read.
func (s *session) readResults(path string, cosine float64) (tables []*judged, err error) {
	files, err := workspace.ResultFiles(path)
	if err != nil {
		s.Fail("error", err)
		return nil, err
	}
	for _, f := range files {
		t, warnings, failed := s.readTable(f)
		for _, w := range warnings {
			s.Warn("error", w)
		}
		var j *judged
		if failed == nil {
			j, failed = s.judge(t, f, cosine)
		}
		if failed != nil {
			if err == nil {
				err = failed
			}
			s.Fail("error", failed)
			continue
		}
		tables = append(tables, j)
	}
	return tables, err
}

// readVerdicts is readResults for what goes on from verdicts, which are also those of whole jobs.
func (s *session) readVerdicts(path string) ([]*judged, error) {
	if job.ResultOf(path) == "" {
		return s.readResults(path, s.set.CosSim)
	}
	p, err := profileWith(s.set.CosSim)
	var j *verdict.Judged
	if err == nil {
		j, err = job.Open(path, p)
	}
	if err != nil {
		s.Fail("error", err)
		return nil, err
	}
	return []*judged{{j, path}}, nil
}

// against says what the left side was compared with.
func (s *session) against(m *result.Meta) string {
	switch {
	case m.Right.Dir == "":
		return ""
	case m.Right.Kind == verdict.KindNPU:
		return s.T("vcs.npurun", m.Right.Dir)
	}
	return s.T("vcs.golden", m.Right.Dir)
}

// cosineOf is the cosine similarity of a row, NaN if it has none or NaN and Inf
// of the two sides disagree.
func cosineOf(r *result.Row) float64 {
	if !r.Compared || r.Result().Disagree > 0 {
		return math.NaN()
	}
	if v := r.Result().Values[metric.CosineSimilarity]; v.OK() {
		return v.Float()
	}
	if f := &r.Result().Facts; f.Known && f.N > 1 {
		return f.Cosine
	}
	return math.NaN()
}

// largestOf is the largest absolute error of a row, infinite where NaN and Inf of
// the two sides disagree, NaN if it is not known.
func largestOf(r *result.Row) float64 {
	switch {
	case !r.Compared:
		return math.NaN()
	case r.Result().Disagree > 0:
		return math.Inf(1)
	case r.Result().Values[metric.MaxAbsoluteError].OK():
		return r.Result().Values[metric.MaxAbsoluteError].Float()
	case r.Result().Facts.Known:
		return r.Result().Facts.MaxAbs
	}
	return math.NaN()
}

// page writes the report of a table beside it, with the overflow to look at first, if there is one.
func (s *session) page(ctx context.Context, t *judged, found *overflowed) int {
	files := run.Files{Beside: []string{".html"}, Lang: s.Lang, Records: found.lines(s)}
	written, err := files.Write(t.Judged, false, "", t.path)
	if err != nil {
		return s.Failed(ctx, err)
	}
	s.Say("page.done", written[0])
	return exitOK
}

// lines say in a report what overflowed first.
func (o *overflowed) lines(s *session) []string {
	if o == nil {
		return nil
	}
	return []string{s.T(o.verdict(), o.kind, o.name)}
}

// verdict is the message that says what became of it.
func (o *overflowed) verdict() string {
	key := map[overflow.Message]string{overflow.AdviceUpstream: "verdict.upstream", overflow.AdviceHere: "verdict.here",
		overflow.AdviceInside: "verdict.inside", overflow.AdviceIncomplete: "verdict.incomplete"}[o.advice]
	return cmp.Or(key, "verdict.unread")
}
