package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"precision/compare/engine"
	"precision/compare/job"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/order"
	"precision/run"
)

// The pipeline
//
//	list      the pieces of units that are still to be compared, of about as many bytes each
//	reshuffle which breaks the chain, so that pieces go to workers as these become free
//	compare   a piece: a whole unit into a folder, or the rows of some operators of it as bytes
//	group     by unit
//	assemble  the rows of a unit into its tables, in a folder
//	commit    the names of the folders into one file
//
// The submitting program makes the plan, and hands it over in the folder of the job below the output folder, which workers read once a
// process: a side input would be read again for each bundle. Workers write nowhere else. A bundle that fails, or was done and not
// committed, is given again by the engine: each attempt at a unit has a folder of its own, whose journal is written last, and one that
// is whole is not made again. Nothing is renamed or removed before the engine is done. Then the submitting program takes the units
// from the folders whose names came through, those whose names did not from what is whole, and draws them together.

func init() {
	register.DoFn3x1[context.Context, []byte, func(string), error](&listFn{})
	register.Emitter1[string]()
	register.DoFn3x1[context.Context, string, func(string, found), error](&compareFn{})
	register.Emitter2[string, found]()
	register.DoFn4x1[context.Context, string, func(*found) bool, func(int, string), error](&assembleFn{})
	register.Iter1[found]()
	register.Emitter2[int, string]()
	register.DoFn3x1[context.Context, int, func(*string) bool, error](&commitFn{})
	register.Iter1[string]()
}

// config is what workers are told: flags of the command, paths made absolute.
type config struct {
	Left, Right, Graph, Out string
	Ranks, Steps, Models    string
	Profile                 string
	Piece                   int64
	Workers                 int
	// Version is what the results are kept under, as tables of another version do not mix; Lang is the
	// language of the page.
	Version string
	Lang    msg.Lang
	// Stage is the folder of this job, Day the day waivers are held against.
	Stage string
	Day   time.Time
}

// found is what came of a piece: rows, or the folder of its whole unit.
type found struct {
	At     int
	Rows   []byte
	Folder string
}

// The files of a job's folder. Units have folders of their names beside them, with one folder for each attempt.
const (
	planFile   = "plan"
	piecesFile = "pieces"
	doneFile   = "done"
)

// pipeline adds the steps.
func (c config) pipeline(s beam.Scope) {
	pieces := beam.ParDo(s.Scope("list"), &listFn{Config: c}, beam.Impulse(s))
	pieces = beam.Reshuffle(s, pieces)
	rows := beam.GroupByKey(s, beam.ParDo(s.Scope("compare"), &compareFn{worker{Config: c}}, pieces))
	folders := beam.GroupByKey(s, beam.ParDo(s.Scope("assemble"), &assembleFn{worker{Config: c}}, rows))
	beam.ParDo0(s.Scope("commit"), &commitFn{Config: c}, folders)
}

func (c config) job() *run.Job {
	j := &run.Job{Ranks: c.Ranks, Steps: c.Steps, Models: c.Models, Profile: c.Profile}
	j.Request = job.Request{Left: c.Left, Right: c.Right, Graph: c.Graph, Options: engine.Options{Workers: c.Workers}, Version: c.Version}
	return j
}

// plans are read once a process, by the folder of the job.
var plans struct {
	sync.Mutex
	of map[string]*job.Plan
}

func (c config) plan() (*job.Plan, error) {
	plans.Lock()
	defer plans.Unlock()
	if p := plans.of[c.Stage]; p != nil {
		return p, nil
	}
	text, err := os.ReadFile(filepath.Join(c.Stage, planFile))
	if err != nil {
		return nil, c.gone(err)
	}
	p, err := c.job().TakeOver(text, c.Day)
	if err != nil {
		return nil, err
	}
	if plans.of == nil {
		plans.of = map[string]*job.Plan{}
	}
	plans.of[c.Stage] = p
	return p, nil
}

// gone says what it means that the folder of the job is not there.
func (c config) gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the program that submitted the job has ended, or this worker does not see its output folder", err)
	}
	return err
}

// listFn emits the pieces, the largest first.
type listFn struct{ Config config }

func (f *listFn) ProcessElement(_ context.Context, _ []byte, emit func(string)) error {
	text, err := os.ReadFile(filepath.Join(f.Config.Stage, piecesFile))
	if err != nil {
		return f.Config.gone(err)
	}
	for piece := range strings.Lines(string(text)) {
		emit(piece)
	}
	return nil
}

// worker is what a process keeps between elements.
type worker struct {
	Config config
	plan   *job.Plan
	pool   *engine.Pool
}

func (w *worker) start() (err error) {
	if w.plan == nil {
		if w.plan, err = w.Config.plan(); err == nil {
			w.pool = engine.NewPool(w.Config.Workers)
		}
	}
	return err
}

// Teardown ends the pool.
func (w *worker) Teardown() {
	if w.pool != nil {
		w.pool.Close()
		w.pool, w.plan = nil, nil
	}
}

// finished is a folder in which an earlier attempt made a unit whole; empty without one.
func (w *worker) finished(unit string) string {
	dir := filepath.Join(w.Config.Stage, unit)
	attempts, _ := os.ReadDir(dir)
	for _, a := range attempts {
		if attempt := filepath.Join(dir, a.Name()); w.plan.Finished(attempt) == nil {
			return attempt
		}
	}
	return ""
}

// assemble makes a unit in a folder of its own. The folder of the job is not made: once it is gone nobody waits for what is in it.
func (w *worker) assemble(ctx context.Context, unit string, rows [][]byte) (string, error) {
	dir := filepath.Join(w.Config.Stage, unit)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", w.Config.gone(err)
	}
	attempt := filepath.Join(dir, rand.Text())
	if err := os.Mkdir(attempt, 0o700); err != nil {
		return "", w.Config.gone(err)
	}
	if err := w.plan.Assemble(ctx, unit, rows, attempt, w.pool); err != nil {
		os.RemoveAll(attempt)
		return "", err
	}
	return attempt, nil
}

// compareFn compares pieces.
type compareFn struct{ worker }

func (f *compareFn) ProcessElement(ctx context.Context, text string, emit func(string, found)) (err error) {
	defer must.Catch(&err)
	var piece job.Piece
	must.Do(json.Unmarshal([]byte(text), &piece))
	must.Do(f.start())
	result := found{At: piece.At, Folder: f.finished(piece.Unit)}
	switch {
	case result.Folder != "":
	case piece.Of == 1:
		result.Folder, err = f.assemble(ctx, piece.Unit, nil)
	default:
		result.Rows, err = f.plan.Compare(ctx, piece, f.pool)
	}
	must.Do(err)
	emit(piece.Unit, result)
	return nil
}

// assembleFn makes the folders of units that were compared in pieces.
type assembleFn struct{ worker }

func (f *assembleFn) ProcessElement(ctx context.Context, unit string, pieces func(*found) bool, emit func(int, string)) error {
	if err := f.start(); err != nil {
		return err
	}
	var rows [][]byte
	folder := ""
	for r := (found{}); pieces(&r); r = (found{}) {
		if rows = append(rows, r.Rows); r.Folder != "" {
			folder = r.Folder
		}
	}
	if folder == "" {
		folder = f.finished(unit)
	}
	if folder == "" {
		var err error
		if folder, err = f.assemble(ctx, unit, rows); err != nil {
			return err
		}
	}
	emit(0, folder)
	return nil
}

// commitFn writes down which folders count.
type commitFn struct{ Config config }

func (f *commitFn) ProcessElement(_ context.Context, _ int, folders func(*string) bool) error {
	var list []string
	for dir := ""; folders(&dir); {
		list = append(list, dir)
	}
	slices.Sort(list)
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return f.Config.write(doneFile, text)
}

// write writes a file of the job's folder, whole or not at all.
func (c config) write(name string, text []byte) error {
	tmp := filepath.Join(c.Stage, name+"."+rand.Text())
	err := os.WriteFile(tmp, text, 0o600)
	if err == nil {
		err = os.Rename(tmp, filepath.Join(c.Stage, name))
	}
	return c.gone(err)
}

// handOver makes the folder of the job, with the plan and the pieces.
func (c config) handOver(p *job.Plan, list []job.Piece) (err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(c.Stage, 0o700))
	var plan, pieces bytes.Buffer
	must.Do(p.HandOver(&plan))
	order.Stable(list, func(a, b job.Piece) int { return cmp.Compare(b.Bytes, a.Bytes) })
	enc := json.NewEncoder(&pieces)
	for _, x := range list {
		must.Do(enc.Encode(x))
	}
	must.Do(c.write(planFile, plan.Bytes()))
	return c.write(piecesFile, pieces.Bytes())
}
