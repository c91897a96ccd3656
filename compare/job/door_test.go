package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"precision/internal/plainfile"
	"precision/internal/whole"
	"precision/testdata/workshop/jobtest"
)

// rewritten writes the journal of a folder anew with other entries.
func rewritten(t *testing.T, dir string, change func(e *entry)) {
	t.Helper()
	var list []*entry
	x, err := readJournal(dir, func(e *entry) { c := *e; list = append(list, &c) })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	head, _ := json.Marshal(x.head)
	writeFrame(&b, head)
	for _, e := range list {
		change(e)
		text, _ := json.Marshal(e)
		writeFrame(&b, text)
	}
	if err := os.WriteFile(filepath.Join(dir, JournalFile), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Names in a journal that lead elsewhere, or to what is no table of the unit, write, remove and
// acquit nothing.
func TestJournalNamesStayBelow(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	work := t.TempDir()
	home := filepath.Join(work, "home")
	mine := filepath.Join(home, ".bashrc")
	for _, name := range []string{"../../home/.bashrc", mine, "../plan.json", "a/../../../home/.bashrc", "..", ".", "", `..\..\home\.bashrc`, "x.csv"} {
		os.Mkdir(home, 0o700)
		os.WriteFile(mine, []byte("mine"), 0o600)
		shard, out := filepath.Join(work, "shard"), filepath.Join(work, "out")
		os.RemoveAll(shard)
		os.RemoveAll(out)
		ran(t, r, Settings{Out: shard, Shard: 1, Shards: 1})
		foreign := filepath.Join(shard, TableFolder, name)
		if filepath.Dir(foreign) == filepath.Join(shard, TableFolder) {
			os.WriteFile(foreign, []byte("foreign"), 0o600)
		}
		rewritten(t, shard, func(e *entry) {
			if e.Unit == "step0_rank1" {
				e.Tables[0].Name = name
			}
		})
		before := files(t, shard)
		var bad *TableError
		if _, err := Merge(context.Background(), []string{shard}, Settings{Out: out}); !errors.As(err, &bad) || bad.Unit != "step0_rank1" {
			t.Errorf("%q: merged: %v", name, err)
		}
		if text, _ := os.ReadFile(mine); string(text) != "mine" {
			t.Fatalf("%q: a file elsewhere holds %q", name, text)
		}
		sameFiles(t, name+": the shard", files(t, shard), before)
		// The same journal in a folder that is gone on with, also by a run of other units.
		ran(t, r, Settings{Out: shard, Shard: 1, Shards: 1})
		if _, err := Merge(context.Background(), []string{shard}, Settings{Out: out}); err != nil {
			t.Errorf("%q: after going on: %v", name, err)
		}
		one := r
		one.Ranks = Numbers{{0, 0}}
		ran(t, one, Settings{Out: shard})
		if text, _ := os.ReadFile(mine); string(text) != "mine" {
			t.Fatalf("%q: a file elsewhere holds %q after a run", name, text)
		}
	}
}

// Nothing is written through a link that lies in an output folder.
func TestLinksInOutput(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	shard := filepath.Join(t.TempDir(), "shard")
	ran(t, r, Settings{Out: shard, Shard: 1, Shards: 1})
	for _, name := range []string{LockFile, JournalFile, PlanFile, ShardFile, ResultFile, PageFile, TableFolder, rowFolder, "tables/step0_rank0.csv"} {
		for what, run := range map[string]func(out string) error{
			"run": func(out string) error {
				_, err := planned(t, r).Run(context.Background(), Settings{Out: out})
				return err
			},
			"merge": func(out string) error {
				_, err := Merge(context.Background(), []string{shard}, Settings{Out: out})
				return err
			},
		} {
			work := t.TempDir()
			out, far := filepath.Join(work, "out"), filepath.Join(work, "far")
			os.MkdirAll(filepath.Join(out, filepath.Dir(name)), 0o700)
			os.Mkdir(far, 0o700)
			target := filepath.Join(far, "file")
			if name == TableFolder || name == rowFolder {
				target = far
			}
			os.WriteFile(filepath.Join(far, "file"), []byte("mine"), 0o600)
			os.WriteFile(filepath.Join(far, "step0_rank0"), []byte("mine"), 0o600)
			if err := os.Symlink(target, filepath.Join(out, name)); err != nil {
				t.Skip(err)
			}
			before := files(t, far)
			err := run(out)
			sameFiles(t, what+", "+name, files(t, far), before)
			if err != nil && !strings.Contains(err.Error(), "link") {
				t.Errorf("%s, %s: %v", what, name, err)
			}
		}
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// What is written in place has one name: an input that is linked there stays as it is, and so does a file of
// the user that is called as the lock is.
func TestHardLinksInOutput(t *testing.T) {
	if plainfile.Names(stat(t, t.TempDir())) == 0 {
		t.Skip("names are not counted here")
	}
	_, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	for _, name := range []string{LockFile, JournalFile} {
		out, mine := t.TempDir(), filepath.Join(t.TempDir(), "mine")
		os.WriteFile(mine, []byte("{mine"), 0o600)
		if err := os.Link(mine, filepath.Join(out, name)); err != nil {
			t.Skip(err)
		}
		_, err := planned(t, r).Run(context.Background(), Settings{Out: out})
		if text, _ := os.ReadFile(mine); string(text) != "{mine" || err == nil || !strings.Contains(err.Error(), "link") {
			t.Errorf("%s: %v, the file of the other name holds %q", name, err, text)
		}
	}
	out := t.TempDir()
	os.WriteFile(filepath.Join(out, LockFile), []byte("mine"), 0o600)
	_, err := planned(t, r).Run(context.Background(), Settings{Out: out})
	if text, _ := os.ReadFile(filepath.Join(out, LockFile)); string(text) != "mine" || err == nil {
		t.Errorf("%v, the user's file holds %q", err, text)
	}
}

// One flipped bit in a table: a run makes it again, a merge refuses it by name.
func TestTablesAreHeldAgainstTheirSums(t *testing.T) {
	_, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	shard := filepath.Join(t.TempDir(), "shard")
	ran(t, r, Settings{Out: shard, Shard: 1, Shards: 1})
	want := files(t, shard)
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Merge(context.Background(), []string{shard}, Settings{Out: shard}); !errors.Is(err, whole.ErrInput) {
		t.Errorf("merged into a shard: %v", err)
	}
	for name, text := range want {
		if !strings.HasPrefix(name, TableFolder) {
			continue
		}
		for at := range 6 {
			damaged := []byte(text)
			damaged[len(text)*at/6] ^= 1 << (at % 8)
			os.WriteFile(filepath.Join(shard, name), damaged, 0o600)
			var bad *TableError
			if _, err := Merge(context.Background(), []string{shard}, Settings{Out: out}); !errors.As(err, &bad) || !strings.Contains(err.Error(), filepath.Join(shard, filepath.FromSlash(name))) {
				t.Errorf("%s, bit flipped at %d: merged: %v", name, len(text)*at/6, err)
			}
			var notes []string
			ran(t, r, Settings{Out: shard, Shard: 1, Shards: 1, Tell: func(n Note) { notes = append(notes, n.Kind) }})
			if !slices.Contains(notes, NoteTables) {
				t.Errorf("notes are %q", notes)
			}
			sameFiles(t, "gone on with", files(t, shard), want)
		}
	}
}

// A dump that was replaced by one of the same size and change time is another dump.
func TestReplacedWithTheSameTime(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 1, Steps: 1, Size: 12})
	was := planned(t, r).Parts[0].seen
	path := lastFile(t, filepath.Join(dir, jobtest.Golden(0, 0)))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	time.Sleep(20 * time.Millisecond) // the clock of a file system ticks in steps
	text[len(text)-1] ^= 1
	other := path + "~"
	os.WriteFile(other, text, 0o600)
	os.Chtimes(other, info.ModTime(), info.ModTime())
	os.Rename(other, path)
	if now := planned(t, r).Parts[0].seen; now == was && plainfile.Identity(info) != nil {
		t.Error("a file with other content and the same size and time counts as the same")
	}
}

// -verify goes on from what was read, whatever the stamps say.
func TestVerify(t *testing.T) {
	dir, r := made(t, jobtest.Job{Ranks: 2, Steps: 1, Size: 12})
	out := filepath.Join(t.TempDir(), "out")
	var notes []string
	s := Settings{Out: out, Verify: true, Tell: func(n Note) { notes = append(notes, strings.Join(append([]string{n.Kind}, n.Args...), " ")) }}
	ran(t, r, s)
	want := files(t, out)
	ran(t, r, s)
	if n := len(planned(t, r).units()); len(notes) != 1 || notes[0] != fmt.Sprintf("%s %d %d", NoteResumed, n, n) {
		t.Errorf("inputs as they were: %q", notes)
	}
	sameFiles(t, "as they were", files(t, out), want)
	flip(t, lastFile(t, filepath.Join(dir, jobtest.Golden(0, 1))))
	now := planned(t, r)
	rewritten(t, out, func(e *entry) { // as a system would have it whose stamps tell nothing
		for _, u := range now.units() {
			if u.name == e.Unit {
				e.Stamp, e.Seen = u.stamp, u.seen
			}
		}
	})
	notes = nil
	ran(t, r, s)
	if len(notes) == 0 || notes[0] != NoteContent+" 1" {
		t.Errorf("an input holds something else: %q", notes)
	}
	if got := files(t, out); got["tables/step0_rank1.csv"] == want["tables/step0_rank1.csv"] {
		t.Error("the table is that of what was there before")
	}
}

// lastFile is one of the files in a folder.
func lastFile(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatal(dir, err)
	}
	return filepath.Join(dir, entries[len(entries)-1].Name())
}

// flip changes the sign of the last element of a file of float32, and leaves its size and time.
func flip(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	text[len(text)-1] ^= 0x80
	os.WriteFile(path, text, 0o600)
	os.Chtimes(path, info.ModTime(), info.ModTime())
}
