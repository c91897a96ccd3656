package job

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"precision/compare/engine"
	"precision/testdata/workshop/jobtest"
)

// handedTo is a plan as a worker on another machine has it.
func handedTo(t *testing.T, p *Plan, r Request) *Plan {
	t.Helper()
	var b bytes.Buffer
	if err := p.HandOver(&b); err != nil {
		t.Fatal(err)
	}
	other, err := r.TakeOver(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// Units in pieces, compared in any order by workers that were handed the plan, assembled in folders of their own, more than
// once, and gathered, are the files of a run; so they are when pieces are lost or damaged, and over what an earlier run left.
func TestPieces(t *testing.T) {
	broken := broken
	broken.All = true
	_, r := made(t, broken)
	whole := filepath.Join(t.TempDir(), "whole")
	ran(t, r, Settings{Out: whole})
	plan := planned(t, r)
	worker := handedTo(t, plan, r)
	ctx := context.Background()
	pool := engine.NewPool(2)
	defer pool.Close()
	out := filepath.Join(t.TempDir(), "gathered")
	for round, lost := range []bool{false, true} {
		pieces := plan.Pieces(1 << 10)
		if len(pieces) < 3*len(plan.Parts) {
			t.Fatalf("%d pieces of %d parts", len(pieces), len(plan.Parts))
		}
		rows := map[string][][]byte{}
		for i := range pieces {
			piece := pieces[len(pieces)-1-i]
			found, err := worker.Compare(ctx, piece, pool)
			if err != nil {
				t.Fatal(err)
			}
			if lost && i%3 == 0 {
				continue
			}
			if lost && i%3 == 1 && len(found) > 9 {
				found = found[:len(found)-3]
			}
			rows[piece.Unit] = append(rows[piece.Unit], found)
		}
		g, err := plan.Gather(ctx, Settings{Out: out, Fresh: round == 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Gather(ctx, Settings{Out: out}); !errors.As(err, new(*LockedError)) {
			t.Errorf("gathered twice at a time: %v", err)
		}
		if _, err := g.Conclude(ctx); !errors.As(err, new(*MergeError)) {
			t.Errorf("concluded without units: %v", err)
		}
		for i, u := range plan.units() {
			for range 1 + i%2 {
				dir := t.TempDir()
				if err := plan.Finished(dir); err == nil {
					t.Error("an empty folder holds a unit")
				}
				if err := worker.Assemble(ctx, u.name, rows[u.name], dir, pool); err != nil {
					t.Fatal(err)
				}
				if err := worker.Finished(dir); err != nil {
					t.Error(err)
				}
				if err := g.Take(dir); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := g.Conclude(ctx); err != nil {
			t.Fatal(err)
		}
		g.Close()
		sameFiles(t, "gathered", files(t, out), files(t, whole))
	}
	if _, err := plan.Compare(ctx, Piece{"step9_rank9", 0, 1, 0}, pool); err == nil {
		t.Error("a unit of another plan was compared")
	}
	if _, err := plan.Compare(ctx, Piece{plan.Parts[0].Name, 2, 2, 0}, pool); err == nil {
		t.Error("piece 2 of 0 and 1 was compared")
	}
	if err := plan.Assemble(ctx, "step9_rank9", nil, t.TempDir(), pool); err == nil {
		t.Error("a unit of another plan was assembled")
	}
}

// What an attempt left that was killed, was damaged since, or is of other inputs, is not taken; a run that goes on takes the rest
// of what is there.
func TestTake(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 64})
	plan := planned(t, r)
	ctx := context.Background()
	pool := engine.NewPool(1)
	defer pool.Close()
	unit := plan.Parts[0].Name
	out := filepath.Join(t.TempDir(), "out")
	g, err := plan.Gather(ctx, Settings{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(dir string) error{
		"killed":  func(dir string) error { return os.Remove(filepath.Join(dir, JournalFile)) },
		"cut":     func(dir string) error { return os.Truncate(filepath.Join(dir, JournalFile), 150) },
		"table":   func(dir string) error { return os.Truncate(filepath.Join(dir, TableFolder, unit+".csv"), 9) },
		"changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, TableFolder, unit+".json"), nil, 0o600) },
	} {
		made := t.TempDir()
		if err := plan.Assemble(ctx, unit, nil, made, pool); err != nil {
			t.Fatal(err)
		}
		if err := spoil(made); err != nil {
			t.Fatal(err)
		}
		if plan.Finished(made) == nil || g.Take(made) == nil || g.Done(unit) {
			t.Errorf("%s: the unit counts", name)
		}
	}
	made := t.TempDir()
	if err := plan.Assemble(ctx, unit, nil, made, pool); err != nil {
		t.Fatal(err)
	}
	if err := g.Take(made); err != nil || !g.Done(unit) {
		t.Fatal(err)
	}
	g.Close()
	resumed := 0
	if g, err = plan.Gather(ctx, Settings{Out: out, Tell: func(n Note) {
		if n.Kind == NoteResumed {
			resumed++
		}
	}}); err != nil || !g.Done(unit) || resumed != 1 {
		t.Fatal("what was taken is gone", err)
	}
	g.Close()
	dumps, _ := filepath.Glob(filepath.Join(dir, jobtest.Dir(0, 0), "Mul*"))
	if err := os.Chtimes(dumps[0], time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if planned(t, r).Finished(made) == nil {
		t.Error("a unit of inputs that have changed counts")
	}
	r.Version = "other"
	var b bytes.Buffer
	if err := plan.HandOver(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := r.TakeOver(b.Bytes()); err == nil {
		t.Error("a worker of another version takes the plan")
	}
}

// What Compare returns is enough: nothing is compared again.
func TestPiecesHoldAllRows(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 1, Steps: 1, Size: 64})
	plan := planned(t, r)
	pool := engine.NewPool(1)
	defer pool.Close()
	var rows [][]byte
	for _, piece := range plan.Pieces(1) {
		found, err := plan.Compare(context.Background(), piece, pool)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, found)
	}
	want := filepath.Join(t.TempDir(), "want")
	ran(t, r, Settings{Out: want})
	// The golden arrays are emptied: whoever read them again would find nothing.
	arrays, _ := filepath.Glob(filepath.Join(dir, jobtest.Golden(0, 0), "*.npy"))
	for _, path := range arrays {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	if err := plan.Assemble(context.Background(), plan.Parts[0].Name, rows, out, pool); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("tables", plan.Parts[0].Name+".csv")
	if files(t, out)[filepath.ToSlash(name)] != files(t, want)[filepath.ToSlash(name)] {
		t.Errorf("the table is not made of the rows that were given:\n%s\n%s", files(t, out)[filepath.ToSlash(name)], files(t, want)[filepath.ToSlash(name)])
	}
}
