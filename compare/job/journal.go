package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// The files of an output folder.
const (
	JournalFile = "journal"
	PlanFile    = "plan.json"
	ResultFile  = "job.json"
	PageFile    = "job.html"
	ShardFile   = "shard.json"
	TableFolder = "tables"
	rowFolder   = "unfinished"
)

// journalForm is raised when what the journal holds changes.
const journalForm = 5

// journalHead says what run the journal is of.
type journalHead struct {
	Journal int    `json:"journal"`
	Version string `json:"version"`
	Options string `json:"options"`
}

// entry is a finished unit.
type entry struct {
	Unit  string `json:"unit"`
	Stamp string `json:"stamp"`
	// Seen is which files the inputs were, beyond what Stamp tells, and Content what was in them, if that was asked for.
	Seen    string `json:"seen,omitempty"`
	Content string `json:"content,omitempty"`
	// Tables are the files that were written for it.
	Tables []tableFile `json:"tables,omitempty"`
	Digest *Digest     `json:"digest,omitempty"`
	Met    *Met        `json:"met,omitempty"`
}

type tableFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// tableExts are the ends of the tables of a part.
var tableExts = []string{".csv", ".json"}

// TableError: a table of a finished unit is not what the journal says, or the journal names other
// files than such a unit has.
type TableError struct {
	Unit, Path string
	Err        error
}

func (e *TableError) Error() string { return e.Path + ": of " + e.Unit + ": " + e.Err.Error() }
func (e *TableError) Unwrap() error { return e.Err }

// named sees that the tables of an entry have the names that this program gives them, and no
// others: they become parts of paths.
func (e *entry) named(dir string) error {
	var want []string
	if e.Digest != nil && e.Digest.Failed == "" {
		for _, ext := range tableExts {
			want = append(want, e.Unit+ext)
		}
	}
	err := plainfile.CheckName(e.Unit)
	found := each.Of(e.Tables, func(t tableFile) string { return t.Name })
	if err == nil && !slices.Equal(found, want) {
		err = fmt.Errorf("found the tables %.200q, expected %.200q", found, want)
	}
	if err != nil {
		return &TableError{e.Unit, filepath.Join(dir, JournalFile), err}
	}
	return nil
}

// copyTable hands a table of an entry on, and sees that it is what was written.
func copyTable(from *whole.Folder, e *entry, t tableFile, to io.Writer) error {
	name := TableFolder + "/" + t.Name
	err := must.Try(func() {
		in, size, err := from.Open(name, "a table")
		must.Do(err)
		defer in.Close()
		must.Not(size != t.Size, "found %d bytes, expected %d as the journal says", size, t.Size)
		sum := sha256.New()
		must.Get(io.Copy(io.MultiWriter(to, sum), in))
		must.Not(hex.EncodeToString(sum.Sum(nil)) != t.SHA256, "it was changed after it was written: its SHA-256 is not that of the journal")
	})
	if err != nil {
		return &TableError{e.Unit, from.Path(name), err}
	}
	return nil
}

// journal is the record of finished units in an output folder.
type journal struct {
	dir  *whole.Folder
	mu   sync.Mutex
	out  *frames
	done map[string]bool // units by name
}

// journalIndex is what a journal says.
type journalIndex struct {
	head journalHead
	// done are the finished units by name, without their sums of tensors; at is where
	// each stands in the file.
	done map[string]*entry
	at   map[string]span
	// good is how much of the file is whole, damaged that more is behind it.
	good    int64
	damaged bool
}

// span is a piece of a file.
type span struct{ from, bytes int64 }

// readJournal reads the journal of a folder; where there is none the index is empty. Each, if not
// nil, gets every entry with all that it holds.
func readJournal(dir string, each func(*entry)) (*journalIndex, error) {
	x := &journalIndex{done: map[string]*entry{}, at: map[string]span{}}
	first, offset := true, int64(0)
	var err error
	x.good, x.damaged, err = readFrames(filepath.Join(dir, JournalFile), func(content []byte) error {
		at := span{offset, frameHead + int64(len(content))}
		offset += at.bytes
		if first {
			first = false
			return json.Unmarshal(content, &x.head)
		}
		var e entry
		if err := json.Unmarshal(content, &e); err != nil {
			return err
		}
		if each != nil {
			each(&e)
		}
		if e.Digest != nil {
			e.Digest.Peers = nil
		}
		x.done[e.Unit], x.at[e.Unit] = &e, at
		return nil
	})
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return x, nil
	case errors.As(err, &syntax) || errors.As(err, &kind):
		x.damaged, err = true, nil
	}
	return x, err
}

// openJournal goes on with the journal of a folder, or begins one: where there is none, where
// it is of other options or another version, and where fresh asks for it. units are
// what there is to do by name; tables of other units are removed. With content, a unit counts
// as done only if its inputs hold what they held then.
func openJournal(dir *whole.Folder, head journalHead, units map[string]unit, fresh bool, content func(unit) string, tell func(Note)) (_ *journal, err error) {
	defer must.Catch(&err)
	must.Do(dir.Plain(JournalFile, TableFolder, rowFolder))
	x := must.Get(readJournal(dir.Path(""), nil))
	found, good, damaged, path := x.head, x.good, x.damaged, dir.Path(JournalFile)
	switch {
	case good == 0 && damaged:
		tell(Note{Kind: NoteJournalLost, Args: []string{path}})
	case good == 0:
	case fresh:
		good = 0
	case found.Journal != head.Journal || found.Version != head.Version:
		tell(Note{Kind: NoteJournalVersion, Args: []string{path, found.Version, head.Version}})
		good = 0
	case found.Options != head.Options:
		tell(Note{Kind: NoteJournalOptions, Args: []string{path}})
		good = 0
	case damaged:
		tell(Note{Kind: NoteJournalCut, Args: []string{path, strconv.Itoa(len(x.done))}})
	}
	j := &journal{dir: dir, done: map[string]bool{}}
	changed, other := 0, 0
	var broken []error
	for _, name := range slices.Sorted(maps.Keys(x.done)) {
		e := x.done[name]
		u, mine := units[name]
		switch {
		case !mine || good == 0 || e.Digest != nil && e.Digest.Failed != "":
		case u.stamp != e.Stamp || u.seen != e.Seen:
			changed++
		default:
			if content != nil && (e.Content == "" || content(u) != e.Content) {
				other++
				continue
			}
			if err := j.whole(e); err != nil {
				broken = append(broken, err)
				continue
			}
			j.done[name] = true
			continue
		}
		if mine || e.named("") != nil {
			continue
		}
		for _, t := range e.Tables {
			dir.Remove(TableFolder + "/" + t.Name)
		}
		dir.Remove(TableFolder + "/" + name + ".html")
	}
	if changed > 0 {
		tell(Note{Kind: NoteChanged, Args: []string{strconv.Itoa(changed)}})
	}
	if other > 0 {
		tell(Note{Kind: NoteContent, Args: []string{strconv.Itoa(other)}})
	}
	if len(broken) > 0 {
		tell(Note{Kind: NoteTables, Args: []string{strconv.Itoa(len(broken)), broken[0].Error()}})
	}
	if len(j.done) > 0 {
		tell(Note{Kind: NoteResumed, Args: []string{strconv.Itoa(len(j.done)), strconv.Itoa(len(units))}})
	}
	if good == 0 {
		dir.RemoveAll(rowFolder)
	}
	j.out = must.Get(openFrames(dir, JournalFile, good))
	if good == 0 {
		must.Do(j.out.add(encoded(head)))
	}
	return j, nil
}

// whole tells what keeps the tables of a unit from being those that were written.
func (j *journal) whole(e *entry) error {
	err := e.named(j.dir.Path(""))
	for i := 0; i < len(e.Tables) && err == nil; i++ {
		err = copyTable(j.dir, e, e.Tables[i], io.Discard)
	}
	return err
}

func encoded(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must.Do(enc.Encode(v))
	return b.Bytes()
}

// finish notes that a unit is done.
func (j *journal) finish(e *entry) { must.Do(j.add(e.Unit, encoded(e))) }

// add is finish of an entry in its bytes.
func (j *journal) add(unit string, text []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[unit] = true
	return j.out.add(text)
}

// has tells whether a unit is done.
func (j *journal) has(unit string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[unit]
}

func (j *journal) close() error { return j.out.close() }

// settle brings the tables of a folder onto the disk, all at once, and then writes its journal anew, in the order of the
// units, so that it does not tell in which order they were done. A machine that stops before that may have lost tables
// of units in the journal: what goes on there holds each against its sum.
func settle(dir *whole.Folder, order []unit) {
	must.Do(dir.Sync(TableFolder))
	x := must.Get(readJournal(dir.Path(""), nil))
	joinJournals(dir, x.head, order, func(string) (string, *journalIndex) { return dir.Path(""), x })
}

// joinJournals writes the journal of out, unit by unit from the folders that have them.
func joinJournals(out *whole.Folder, head journalHead, order []unit, of func(unit string) (dir string, x *journalIndex)) {
	must.Do(out.Fill(JournalFile, func(w io.Writer) (err error) {
		defer must.Catch(&err)
		must.Do(writeFrame(w, encoded(head)))
		files := map[string]*plainfile.File{}
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		for _, u := range order {
			dir, x := of(u.name)
			at, done := x.at[u.name]
			if !done {
				continue
			}
			if files[dir] == nil {
				f, _, err := plainfile.Open(filepath.Join(dir, JournalFile), "a journal")
				must.Do(err)
				files[dir] = f
			}
			must.Get(io.Copy(w, io.NewSectionReader(files[dir], at.from, at.bytes)))
		}
		return nil
	}))
}
