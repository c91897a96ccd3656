package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// listings are folders that were listed, so that each is listed once until they are
// forgotten. The zero value is ready.
type listings struct {
	mu   sync.Mutex
	dirs map[string][]fs.DirEntry
}

// list is os.ReadDir of a folder. The result is not to be changed.
func (l *listings) list(dir string) ([]fs.DirEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.dirs[dir]; ok {
		return known, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if l.dirs == nil {
		l.dirs = map[string][]fs.DirEntry{}
	}
	if entries == nil {
		entries = []fs.DirEntry{}
	}
	l.dirs[dir] = entries
	return entries, nil
}

func (l *listings) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs = nil
}

// each calls do for the files below a folder, in the order of their names.
// Links to folders are not followed.
func (l *listings) each(dir string, do func(path string)) {
	entries, _ := l.list(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.IsDir() {
			l.each(path, do)
		} else {
			do(path)
		}
	}
}

// looks are the files and folders from which something is known, with the times of
// their last change: a look at each tells whether it may still be true. The zero
// value is ready.
type looks struct {
	mu    sync.Mutex
	times map[string]look
}

type look struct {
	modified time.Time // zero for what was not there
	at       time.Time
}

// mostLooks bounds what is looked at again before every command.
const mostLooks = 2000

// clock is the coarsest step of the times of files on the systems at hand: of two
// changes within it the second may not show.
const clock = 10 * time.Millisecond

// add notes a file or folder that is going to be read.
func (l *looks) add(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times == nil {
		l.times = map[string]look{}
	}
	if len(l.times) < mostLooks {
		l.times[path] = look{modified(path), time.Now()}
	}
}

// changed reports whether something has changed since it was noted.
func (l *looks) changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for path, was := range l.times {
		if now := modified(path); !now.Equal(was.modified) || was.at.Sub(now) < clock {
			return true
		}
	}
	return false
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// look lists a folder for those who look at it: each folder is listed once, and noted.
func (w *Workspace) look(dir string, by *looks) ([]fs.DirEntry, error) {
	by.add(dir)
	return w.listings.list(dir)
}
