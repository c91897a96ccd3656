package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"precision/compare"
	"precision/compare/job"
	"precision/compare/job/page"
	"precision/internal/msg"
	"precision/run"
)

// The pipeline
//
//	list      the plan of the job, cut into pieces of about as many bytes each
//	reshuffle which breaks the chain, so that pieces go to workers as these become free
//	compare   a piece: rows of some operators of one rank and step, as bytes
//	group     by rank and step
//	assemble  the rows of a rank and step into its tables, in a folder of its own
//	merge     the folders into the tables, the verdict and the page of the job
//
// Every worker makes the plan for itself of what the shared file system shows; a plan is the same wherever it is made, and
// [job.Merge] refuses folders of another one. A bundle that fails is tried again by the engine. Folders get their place by a rename
// when they are complete, so that an attempt that was killed leaves nothing that counts, and of two attempts at the same time one wins.

func init() {
	register.DoFn3x1[context.Context, []byte, func(string), error](&listFn{})
	register.Emitter1[string]()
	register.DoFn3x1[context.Context, string, func(string, found), error](&compareFn{})
	register.Emitter2[string, found]()
	register.DoFn4x1[context.Context, string, func(*found) bool, func(int, string), error](&assembleFn{})
	register.Iter1[found]()
	register.Emitter2[int, string]()
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&mergeFn{})
	register.Iter1[string]()
}

// config is what workers are told: flags of the command, paths made absolute.
type config struct {
	Left, Right, Graph, Out string
	Ranks, Steps, Models    string
	Profile                 string
	Piece                   int64
	Workers                 int
	Keep                    bool
	// Version is what the results are kept under, as tables of another version do not mix; Lang is the
	// language of the page.
	Version string
	Lang    msg.Lang
}

// found is what came of a piece.
type found struct {
	At   int
	Rows []byte
}

// pipeline adds the steps; what comes out is the verdict.
func (c config) pipeline(s beam.Scope) beam.PCollection {
	pieces := beam.ParDo(s.Scope("list"), &listFn{Config: c}, beam.Impulse(s))
	pieces = beam.Reshuffle(s, pieces)
	rows := beam.GroupByKey(s, beam.ParDo(s.Scope("compare"), &compareFn{worker{Config: c}}, pieces))
	folders := beam.GroupByKey(s, beam.ParDo(s.Scope("assemble"), &assembleFn{worker{Config: c}}, rows))
	return beam.ParDo(s.Scope("merge"), &mergeFn{Config: c}, folders)
}

func (c config) job() *run.Job {
	j := &run.Job{Ranks: c.Ranks, Steps: c.Steps, Models: c.Models, Profile: c.Profile}
	j.Request = job.Request{Left: c.Left, Right: c.Right, Graph: c.Graph, Options: compare.Options{Workers: c.Workers}, Version: c.Version}
	return j
}

// plans are made once a process.
var plans struct {
	sync.Mutex
	of map[config]*job.Plan
}

func (c config) plan(ctx context.Context) (*job.Plan, error) {
	plans.Lock()
	defer plans.Unlock()
	if p := plans.of[c]; p != nil {
		return p, nil
	}
	p, err := c.job().Plan(ctx)
	if err != nil {
		return nil, err
	}
	if plans.of == nil {
		plans.of = map[config]*job.Plan{}
	}
	plans.of[c] = p
	return p, nil
}

func (c config) stage() string { return filepath.Join(c.Out, "stage") }

// listFn emits the pieces, the largest first.
type listFn struct{ Config config }

func (f *listFn) ProcessElement(ctx context.Context, _ []byte, emit func(string)) error {
	p, err := f.Config.plan(ctx)
	if err != nil {
		return err
	}
	pieces := p.Pieces(f.Config.Piece)
	slices.SortStableFunc(pieces, func(a, b job.Piece) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, piece := range pieces {
		text, err := json.Marshal(piece)
		if err != nil {
			return err
		}
		emit(string(text))
	}
	return nil
}

// worker is what a process keeps between elements.
type worker struct {
	Config config
	plan   *job.Plan
	pool   *compare.Pool
}

func (w *worker) start(ctx context.Context) (err error) {
	if w.plan == nil {
		if w.plan, err = w.Config.plan(ctx); err == nil {
			w.pool = compare.NewPool(w.Config.Workers)
		}
	}
	return err
}

// compareFn compares pieces.
type compareFn struct{ worker }

func (f *compareFn) ProcessElement(ctx context.Context, text string, emit func(string, found)) error {
	var piece job.Piece
	if err := json.Unmarshal([]byte(text), &piece); err != nil {
		return err
	}
	if err := f.start(ctx); err != nil {
		return err
	}
	rows, err := f.plan.Compare(ctx, piece, f.pool)
	if err != nil {
		return err
	}
	emit(piece.Unit, found{piece.At, rows})
	return nil
}

// Teardown ends the pool.
func (w *worker) Teardown() {
	if w.pool != nil {
		w.pool.Close()
		w.pool = nil
	}
}

// assembleFn makes the folder of a unit.
type assembleFn struct{ worker }

func (f *assembleFn) ProcessElement(ctx context.Context, unit string, rows func(*found) bool, emit func(int, string)) error {
	if err := f.start(ctx); err != nil {
		return err
	}
	var pieces [][]byte
	for r := (found{}); rows(&r); r = (found{}) {
		pieces = append(pieces, r.Rows)
	}
	final := filepath.Join(f.Config.stage(), unit)
	attempt := final + "." + rand.Text()
	if err := f.plan.Assemble(ctx, unit, pieces, job.Settings{Out: attempt}); err != nil {
		os.RemoveAll(attempt)
		return err
	}
	if err := settle(attempt, final); err != nil {
		return err
	}
	emit(0, final)
	return nil
}

// settle renames a complete folder to where it belongs. One that is there already is of another attempt, now or in an
// earlier run, whose inputs may have been others: it makes room.
func settle(attempt, final string) error {
	for range 10 {
		err := os.Rename(attempt, final)
		if err == nil {
			return nil
		}
		if _, gone := os.Stat(attempt); gone != nil {
			return err
		}
		old := final + "." + rand.Text() + ".old"
		os.Rename(final, old)
		os.RemoveAll(old)
	}
	return fmt.Errorf("%s: cannot be renamed to %s", attempt, final)
}

// mergeFn joins the folders of all units.
type mergeFn struct{ Config config }

func (f *mergeFn) ProcessElement(ctx context.Context, _ int, folders func(*string) bool, emit func(string)) error {
	var dirs []string
	for dir := ""; folders(&dir); {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	whole, part := page.Pages(f.Config.Lang)
	result, err := job.Merge(ctx, dirs, job.Settings{Out: f.Config.Out, Page: whole, PartPage: part})
	if err != nil {
		return err
	}
	if !f.Config.Keep {
		if err := os.RemoveAll(f.Config.stage()); err != nil {
			return err
		}
	}
	emit(result.Verdict)
	return nil
}
