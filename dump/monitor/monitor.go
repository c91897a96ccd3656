// Package monitor reads what msprobe's monitors of trainings write: statistics of activations, gradients, moments and parameters,
// step by step, as csv files of version 1 and 2 and as the databases that data2db makes of monitors and of dumps.
package monitor

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"precision/dump/sqlite"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// Point is what was recorded at a step. What there is no number of is NaN.
type Point struct {
	Step                 int64
	Norm, Min, Max, Mean float64
	// NaNs is how many elements are NaN, -1 if that was not counted.
	NaNs float64
}

// Size is the number that a point is looked at by: the norm, or the largest of the extremes; NaN if there is neither.
func (p *Point) Size() float64 {
	if !math.IsNaN(p.Norm) {
		return p.Norm
	}
	return max(math.Abs(p.Min), math.Abs(p.Max))
}

// Series is one tensor over steps.
type Series struct {
	Rank int
	// Metric is what was watched (actv, grad_unreduced, exp_avg; forward, reduced, comm), Name of what: a module with its
	// input or output, or a parameter. Stage is that of a virtual pipeline.
	Metric, Name, Stage string
	// Micro is the micro batch, 0 if they were not told apart.
	Micro int64
	// Order is its place among those of its metric, in the order in which a step goes through them.
	Order  int
	Points []Point
	// Again is how many points of earlier runs are left out, because a later run went over their steps once more.
	Again int
}

// Phase is when in a step a metric is taken, the earlier the less: parameters as they are, forward, backward, what is left of
// gradients, exchanged, reduced, moments, and parameters when they are updated.
func (s *Series) Phase() int {
	switch s.Metric {
	case "param_origin":
		return 0
	case "actv", "forward":
		return 1
	case "actv_grad", "backward":
		return 2
	case "grad_unreduced", "unreduced":
		return 3
	case "comm":
		return 4
	case "grad_reduced", "reduced", "parameters_grad":
		return 5
	case "exp_avg", "exp_avg_sq":
		return 6
	case "param_updated":
		return 7
	}
	return 8
}

// Data is what monitors recorded.
type Data struct {
	Series []*Series
	// Dump tells of a database of a dump, whose steps are modules: there is no history in it.
	Dump bool
	// Bad is what could not be read.
	Bad []error
}

// Error says what is wrong with a line of a file.
type Error struct {
	File            string
	Line            int
	Found, Expected string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

var (
	firstRank  = lazy.Regexp(`-rank(\d+)-[0-9a-f]{8}$`)
	secondRank = lazy.Regexp(`^rank_(\d+)$`)
	firstFile  = lazy.Regexp(`^([a-z_]+)_(\d+)-(\d+)\.csv$`)
	secondFile = lazy.Regexp(`^([a-z_]+)_step(\d+)-(\d+)\.csv$`)
)

// folder is the folder of a rank with files of one version.
type folder struct {
	path    string
	rank    int
	version int
}

// find lists what monitors wrote at a path or below it: folders of ranks, or databases.
func find(path string) (folders []folder, databases []string) {
	if plainfile.IsFile(path) {
		if strings.HasSuffix(path, ".db") || sqlite.Is(path) {
			databases = []string{path}
		}
		return nil, databases
	}
	here := func(dir string) bool {
		name := filepath.Base(dir)
		for version, of := range []func() *regexp.Regexp{firstRank, secondRank} {
			m := of().FindStringSubmatch(name)
			if m == nil {
				continue
			}
			file := []func() *regexp.Regexp{firstFile, secondFile}[version]()
			list, _ := os.ReadDir(dir)
			if rank, err := strconv.Atoi(m[1]); err == nil && slices.ContainsFunc(list, func(e os.DirEntry) bool { return file.MatchString(e.Name()) }) {
				folders = append(folders, folder{dir, rank, version + 1})
				return true
			}
		}
		return false
	}
	if here(path) {
		return folders, nil
	}
	list, _ := os.ReadDir(path)
	for _, e := range list {
		if full := filepath.Join(path, e.Name()); e.IsDir() {
			here(full)
		} else if strings.HasSuffix(e.Name(), ".trend.db") {
			databases = append(databases, full)
		}
	}
	if len(folders) > 0 {
		databases = nil // they say the same again
	}
	byTime(folders)
	return folders, databases
}

// Is tells whether there is something of monitors at a path.
func Is(path string) bool {
	folders, databases := find(path)
	return len(folders)+len(databases) > 0
}

// Read reads all that monitors wrote at a path.
func Read(path string) (*Data, error) {
	folders, databases := find(path)
	b := &builder{of: map[key]*Series{}, metric: map[string]int{}}
	switch {
	case len(databases) > 1:
		return nil, fmt.Errorf("%s: found %d databases (%s, %s), expected one", path, len(databases), filepath.Base(databases[0]), filepath.Base(databases[1]))
	case len(databases) == 1:
		if err := b.database(databases[0]); err != nil {
			return nil, err
		}
	case len(folders) == 0:
		return nil, fmt.Errorf("%s: found no folders <time>-rank<n>-<id> or rank_<n> with csv files and no .trend.db, expected those of a monitor", path)
	}
	rank := 0 // where the series of a rank begin
	for i, f := range folders {
		if i > 0 && folders[i-1].rank != f.rank {
			rank = len(b.Series)
		}
		var before []int
		for _, s := range b.Series[rank:] {
			before = append(before, len(s.Points))
		}
		if err := b.folder(f); err != nil {
			return nil, err
		}
		resume(b.Series[rank:], before)
	}
	b.finish()
	return &b.Data, nil
}

// byTime puts folders of each rank in the order in which their runs began, as their names say, which leave out the year: where they are more than
// half a year apart, the first months of a year are behind its last ones.
func byTime(folders []folder) {
	began := func(f folder) time.Time {
		name, _, _ := strings.Cut(filepath.Base(f.path), "-rank")
		at, _ := time.Parse("Jan02_15-04-05", name) // of version 2, which has one folder of a rank, the zero time
		return at
	}
	const half = 183 * 24 * time.Hour
	var latest time.Time
	for _, f := range folders {
		if at := began(f); at.After(latest) {
			latest = at
		}
	}
	made := func(f folder) time.Time {
		at := began(f)
		if latest.Sub(at) > half {
			at = at.AddDate(1, 0, 0)
		}
		return at
	}
	order.Stable(folders, func(a, b folder) int { return cmp.Or(a.rank-b.rank, made(a).Compare(made(b))) })
}

// resume takes out of the series of a rank what runs before the last one that was read recorded of its steps and later ones: a training
// that was begun again from a checkpoint goes over some of them once more. before is how many points the first of the series had until then.
func resume(list []*Series, before []int) {
	first := [2]int64{math.MaxInt64, math.MaxInt64} // moments count their own steps
	of := func(s *Series) *int64 {
		if s.Phase() == 6 {
			return &first[1]
		}
		return &first[0]
	}
	for i, s := range list {
		added := s.Points
		if i < len(before) {
			added = added[before[i]:]
		}
		for _, p := range added {
			*of(s) = min(*of(s), p.Step)
		}
	}
	for i, n := range before {
		s := list[i]
		kept := slices.DeleteFunc(slices.Clone(s.Points[:n]), func(p Point) bool { return p.Step >= *of(s) })
		s.Again += n - len(kept)
		s.Points = append(kept, s.Points[n:]...)
	}
}

type key struct {
	rank                int
	metric, name, stage string
	micro               int64
}

type builder struct {
	Data
	of     map[key]*Series
	metric map[string]int // how many series there are
}

func (b *builder) at(k key) *Series {
	s := b.of[k]
	if s == nil {
		order := k
		order.rank = -1 // the same place on all ranks
		like := b.of[order]
		if like == nil {
			like = &Series{Order: b.metric[k.metric]}
			b.metric[k.metric]++
			b.of[order] = like
		}
		s = &Series{Rank: k.rank, Metric: k.metric, Name: k.name, Stage: k.stage, Micro: k.micro, Order: like.Order}
		b.of[k] = s
		b.Series = append(b.Series, s)
	}
	return s
}

// finish puts points in order, and moments, which count from 1 what others count from 0, to the steps of these.
func (b *builder) finish() {
	b.Series = slices.DeleteFunc(b.Series, func(s *Series) bool { return len(s.Points) == 0 }) // a run that was begun again has none of them
	first, moments := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, s := range b.Series {
		order.Stable(s.Points, func(a, b Point) int { return cmp.Compare(a.Step, b.Step) })
		if at := s.Points[0].Step; s.Phase() == 6 {
			moments = min(moments, at)
		} else {
			first = min(first, at)
		}
	}
	for _, s := range b.Series {
		for i := range s.Points {
			if s.Phase() == 6 && moments == first+1 {
				s.Points[i].Step--
			}
		}
	}
}

// folder reads the files of a rank, in the order of their steps.
func (b *builder) folder(f folder) error {
	list, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	type file struct {
		name, metric string
		from         int64
	}
	var files []file
	for _, e := range list {
		m := []func() *regexp.Regexp{firstFile, secondFile}[f.version-1]().FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		from, err := strconv.ParseInt(m[2], 10, 64)
		if err == nil {
			files = append(files, file{e.Name(), m[1], from})
		}
	}
	order.Stable(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.name, b.name)) })
	for _, x := range files {
		if err := b.csv(filepath.Join(f.path, x.name), f, x.metric); err != nil {
			return err
		}
	}
	return nil
}

// mostBad bounds how many lines that cannot be read are told.
const mostBad = 100

func (b *builder) csv(path string, f folder, metric string) error {
	in, _, err := plainfile.Open(path, "a csv file of a monitor")
	if err != nil {
		return err
	}
	defer in.Close()
	bad := func(line int, found, expected string) {
		if len(b.Bad) < mostBad {
			b.Bad = append(b.Bad, &Error{path, line, found, expected})
		}
	}
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	header, _ := r.Read() // a header that cannot be read lacks the columns asked for below
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	names := map[int][]string{1: {"name", "step"}, 2: {"module_name", "step", "scope"}}[f.version]
	for _, name := range names {
		if _, ok := column[name]; !ok {
			bad(1, "columns "+strings.Join(header, ","), "one called "+name)
			return nil
		}
	}
	width := len(header)
	// point adds what a row of the header's columns has, of a series by another name if of is one.
	point := func(of *key, row []string, line int) {
		text := func(name string) string {
			if i, ok := column[name]; ok {
				return row[i]
			}
			return ""
		}
		k := key{rank: f.rank, metric: metric, name: text(names[0]), stage: text("vpp_stage")}
		switch {
		case of != nil:
			k = *of
		case f.version == 2:
			if k.metric = text("scope"); k.metric == "comm" {
				k.name = strings.Replace(k.name, "/rank"+strconv.Itoa(f.rank)+"/", "/", 1)
			}
		}
		ok := true
		whole := func(name string) int64 {
			n, err := strconv.ParseInt(text(name), 10, 64)
			if err != nil {
				bad(line, name+" "+strconv.Quote(text(name)), "a whole number")
				ok = false
			}
			return n
		}
		p := Point{Step: whole("step"), NaNs: -1}
		if _, has := column["micro_step"]; has {
			k.micro = whole("micro_step")
		}
		number := func(name string) float64 {
			s := text(name)
			if s == "" {
				return math.NaN()
			}
			x, err := strconv.ParseFloat(s, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				bad(line, name+" "+strconv.Quote(s), "a number")
				ok = false
			}
			return x
		}
		p.Norm, p.Min, p.Max, p.Mean = number("norm"), number("min"), number("max"), number("mean")
		if n := number("nans"); !math.IsNaN(n) {
			p.NaNs = n
		}
		if ok {
			s := b.at(k)
			s.Points = append(s.Points, p)
		}
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if parse := new(csv.ParseError); errors.As(err, &parse) {
			bad(parse.Line, parse.Err.Error(), "a line of csv")
			continue
		} else if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		if f.version == 1 && metric == "other" {
			// Directions of momentum are no sizes. A call of communication has its name in front, the first number before the step,
			// and what it gave behind what it got.
			if _, err := strconv.ParseInt(row[0], 10, 64); err == nil {
				continue
			}
			if ops := width - 5; ops < 1 || len(row) != 2*ops+6 {
				bad(line, strconv.Itoa(len(row))+" fields", "those of a call of communication")
			} else {
				for i, way := range []string{"pre_0", "post_0"} {
					numbers := append([]string{row[1]}, row[3:ops+2]...)
					if i == 1 {
						numbers = row[ops+4 : 2*ops+4]
					}
					point(&key{rank: f.rank, metric: "comm", name: row[0] + "/" + way}, slices.Concat([]string{"", "", row[2]}, numbers, []string{"", ""}), line)
				}
			}
			continue
		}
		if len(row) != width {
			bad(line, strconv.Itoa(len(row))+" fields", strconv.Itoa(width))
			continue
		}
		point(nil, row, line)
	}
}

// database reads what data2db made.
func (b *builder) database(path string) (err error) {
	defer must.Catch(&err)
	db := must.Get(sqlite.Open(path))
	defer db.Close()
	type target struct {
		name  string
		stage int64
		micro int64
	}
	targets, metrics := map[int64]target{}, map[int64]string{}
	column := func(t *sqlite.Table, row []any, name string) any { return row[slices.Index(t.Columns, name)] }
	t := must.Get(db.Table("monitoring_targets", "target_id", "target_name", "vpp_stage", "micro_step"))
	must.Do(t.Each(func(row []any) error {
		id, _ := column(t, row, "target_id").(int64)
		x := target{}
		x.name, _ = column(t, row, "target_name").(string)
		x.stage, _ = column(t, row, "vpp_stage").(int64)
		x.micro, _ = column(t, row, "micro_step").(int64)
		targets[id] = x
		return nil
	}))
	m := must.Get(db.Table("monitoring_metrics", "metric_id", "metric_name"))
	must.Do(m.Each(func(row []any) error {
		id, _ := column(m, row, "metric_id").(int64)
		metrics[id], _ = column(m, row, "metric_name").(string)
		b.Dump = b.Dump || metrics[id] == "parameters_grad"
		return nil
	}))
	d := must.Get(db.Table("trend_data", "rank", "step", "target_id", "metric_id"))
	must.Do(d.Each(func(row []any) error {
		var ids [4]int64
		for i, name := range []string{"rank", "step", "target_id", "metric_id"} {
			ids[i], _ = column(d, row, name).(int64)
		}
		t, known := targets[ids[2]]
		metric, known2 := metrics[ids[3]]
		if !known || !known2 {
			if len(b.Bad) < mostBad {
				b.Bad = append(b.Bad, fmt.Errorf("%s: found a row of target %d and metric %d in trend_data, expected ones of monitoring_targets and monitoring_metrics", path, ids[2], ids[3]))
			}
			return nil
		}
		number := func(name string, missing float64) float64 {
			if i := slices.Index(d.Columns, name); i >= 0 {
				switch x := row[i].(type) {
				case float64:
					return x
				case int64:
					return float64(x)
				}
			}
			return missing
		}
		nan := math.NaN()
		s := b.at(key{int(ids[0]), metric, t.name, strconv.FormatInt(t.stage, 10), t.micro})
		s.Order = int(ids[2])
		if s.Phase() == 2 {
			s.Order = -s.Order // targets are numbered forwards
		}
		s.Points = append(s.Points, Point{ids[1], number("norm", nan), number("min", nan), number("max", nan), number("mean", nan), number("nans", -1)})
		return nil
	}))
	if !b.Dump {
		b.apart()
	}
	return nil
}

// apart takes micro batches apart that a database counts as steps: what there is once a step has so many of these between two of
// its rows.
func (b *builder) apart() {
	gap := func(s *Series) (least int64) {
		for i := 1; i < len(s.Points); i++ {
			if by := s.Points[i].Step - s.Points[i-1].Step; least == 0 || by < least {
				least = by
			}
		}
		return least
	}
	batches, finest := int64(0), int64(0)
	for _, s := range b.Series {
		switch by := gap(s); {
		case by == 0:
		case s.Phase() >= 5 || s.Phase() == 0:
			if batches == 0 || by < batches {
				batches = by
			}
		case finest == 0 || by < finest:
			finest = by
		}
	}
	if batches < 2 || finest != 1 {
		return
	}
	list := b.Series
	b.Series, b.of, b.metric = nil, map[key]*Series{}, map[string]int{}
	for _, s := range list {
		for _, p := range s.Points {
			k := key{s.Rank, s.Metric, s.Name, s.Stage, 0}
			if s.Phase() < 5 && s.Phase() > 0 {
				k.micro = p.Step % batches
			}
			p.Step /= batches
			to := b.at(k)
			to.Order = s.Order
			to.Points = append(to.Points, p)
		}
	}
}
