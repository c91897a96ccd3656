package job

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"precision/compare"
	"precision/compare/job/jobtest"
)

// Units in pieces, compared in any order, assembled in folders of their own and merged, are
// the files of a run; so they are when pieces are lost or damaged.
func TestPieces(t *testing.T) {
	broken := broken
	broken.All = true
	_, r := made(t, broken)
	whole := filepath.Join(t.TempDir(), "whole")
	ran(t, r, Settings{Out: whole})
	plan := planned(t, r)
	ctx := context.Background()
	pool := compare.NewPool(2)
	defer pool.Close()
	for _, lost := range []bool{false, true} {
		pieces := plan.Pieces(1 << 10)
		if len(pieces) < 3*len(plan.Parts) {
			t.Fatalf("%d pieces of %d parts", len(pieces), len(plan.Parts))
		}
		rows := map[string][][]byte{}
		for i := range pieces {
			piece := pieces[len(pieces)-1-i]
			found, err := plan.Compare(ctx, piece, pool)
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
		var dirs []string
		stage := t.TempDir()
		for _, u := range plan.units() {
			dir := filepath.Join(stage, u.name)
			if err := plan.Assemble(ctx, u.name, rows[u.name], Settings{Out: dir}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, rowFolder)); err == nil {
				t.Error("rows are left behind")
			}
			dirs = append(dirs, dir)
		}
		out := filepath.Join(t.TempDir(), "merged")
		if _, err := Merge(ctx, dirs, Settings{Out: out}); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, "merged", files(t, out), files(t, whole))
	}
	if _, err := plan.Compare(ctx, Piece{"step9_rank9", 0, 1, 0}, pool); err == nil {
		t.Error("a unit of another plan was compared")
	}
	if _, err := plan.Compare(ctx, Piece{plan.Parts[0].Name, 2, 2, 0}, pool); err == nil {
		t.Error("piece 2 of 0 and 1 was compared")
	}
	if err := plan.Assemble(ctx, "step9_rank9", nil, Settings{Out: t.TempDir()}); err == nil {
		t.Error("a unit of another plan was assembled")
	}
}

// What Compare returns is enough: nothing is compared again.
func TestPiecesHoldAllRows(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 1, Steps: 1, Size: 64})
	plan := planned(t, r)
	pool := compare.NewPool(1)
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
	out := filepath.Join(t.TempDir(), "out")
	if err := plan.Assemble(context.Background(), plan.Parts[0].Name, rows, Settings{Out: out}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("tables", plan.Parts[0].Name+".csv")
	if files(t, out)[filepath.ToSlash(name)] != files(t, want)[filepath.ToSlash(name)] {
		t.Errorf("the table is not made of the rows that were given:\n%s\n%s", files(t, out)[filepath.ToSlash(name)], files(t, want)[filepath.ToSlash(name)])
	}
}
