package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

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
const journalForm = 3

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
	// Tables are the files that were written for it.
	Tables []tableFile `json:"tables,omitempty"`
	Digest *Digest     `json:"digest,omitempty"`
	Met    *Met        `json:"met,omitempty"`
}

type tableFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// journal is the record of finished units in an output folder.
type journal struct {
	dir  string
	head journalHead
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
// the names and stamps of what there is to do; tables of other units are removed.
func openJournal(dir string, head journalHead, units map[string]string, fresh bool, tell func(Note)) (*journal, error) {
	x, err := readJournal(dir, nil)
	if err != nil {
		return nil, err
	}
	found, good, damaged, path := x.head, x.good, x.damaged, filepath.Join(dir, JournalFile)
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
	j := &journal{dir: dir, head: head, done: map[string]bool{}}
	changed := 0
	for name, e := range x.done {
		stamp, mine := units[name]
		switch {
		case mine && good > 0 && stamp == e.Stamp && j.whole(e) && (e.Digest == nil || e.Digest.Failed == ""):
			j.done[name] = true
			continue
		case mine && stamp != e.Stamp && good > 0:
			changed++
		}
		for _, t := range e.Tables {
			if !mine && filepath.IsLocal(t.Name) {
				os.Remove(filepath.Join(dir, TableFolder, t.Name))
			}
		}
	}
	if changed > 0 {
		tell(Note{Kind: NoteChanged, Args: []string{strconv.Itoa(changed)}})
	}
	if len(j.done) > 0 {
		tell(Note{Kind: NoteResumed, Args: []string{strconv.Itoa(len(j.done)), strconv.Itoa(len(units))}})
	}
	if good == 0 {
		os.RemoveAll(filepath.Join(dir, rowFolder))
	}
	if j.out, err = openFrames(path, good); err != nil {
		return nil, err
	}
	if good == 0 {
		err = j.write(head)
	}
	return j, err
}

// whole tells whether the tables of a unit are there.
func (j *journal) whole(e *entry) bool {
	for _, t := range e.Tables {
		info, err := os.Stat(filepath.Join(j.dir, TableFolder, t.Name))
		if err != nil || info.Size() != t.Size {
			return false
		}
	}
	return true
}

func (j *journal) write(v any) error {
	text, err := encoded(v)
	if err == nil {
		err = j.out.add(text)
	}
	return err
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// finish notes that a unit is done.
func (j *journal) finish(e *entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[e.Unit] = true
	return j.write(e)
}

// has tells whether a unit is done.
func (j *journal) has(unit string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done[unit]
}

func (j *journal) close() error { return j.out.close() }

// settle writes the journal of a folder anew, in the order of the units, so that it does
// not tell in which order they were done.
func settle(dir string, order []unit) error {
	x, err := readJournal(dir, nil)
	if err != nil {
		return err
	}
	return joinJournals(dir, x.head, order, func(string) (string, *journalIndex) { return dir, x })
}

// joinJournals writes the journal of out, unit by unit from the folders that have them.
func joinJournals(out string, head journalHead, order []unit, of func(unit string) (dir string, x *journalIndex)) error {
	return whole.Fill(filepath.Join(out, JournalFile), 0o600, func(w io.Writer) error {
		text, err := encoded(head)
		if err == nil {
			err = writeFrame(w, text)
		}
		files := map[string]*plainfile.File{}
		defer func() {
			for _, f := range files {
				f.Close()
			}
		}()
		for _, u := range order {
			dir, x := of(u.name)
			at, done := x.at[u.name]
			if !done || err != nil {
				continue
			}
			if files[dir] == nil {
				if files[dir], _, err = plainfile.Open(filepath.Join(dir, JournalFile), "a journal"); err != nil {
					return err
				}
			}
			_, err = io.Copy(w, io.NewSectionReader(files[dir], at.from, at.bytes))
		}
		return err
	})
}
