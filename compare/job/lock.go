package job

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"precision/internal/plainfile"
	"precision/internal/whole"
)

// LockFile tells who works in an output folder.
const LockFile = "lock"

// beat is how often a run shows that it is alive; another machine that finds its lock watches it
// for some beats. Only changes count, not times: clocks of machines differ.
var beat = 2 * time.Second

const beats = 4

// owner is what the lock says.
type owner struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	Beat int    `json:"beat"`
}

// LockedError: another run works in the output folder.
type LockedError struct {
	Dir, Host string
	PID       int
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s: another run works in this folder, on the host %s with the process id %d", e.Dir, e.Host, e.PID)
}

// lock is a lock that is held.
type lock struct {
	dir  *whole.Folder
	file *os.File
	path string
	mine owner
	end  chan struct{}
	gone sync.WaitGroup
}

// lockFolder takes an output folder, or says who has it. Where the system tells whether
// the other run is alive that counts; a lock of another host is watched for a while.
func lockFolder(ctx context.Context, dir *whole.Folder, tell func(Note)) (_ *lock, err error) {
	host, _ := os.Hostname()
	l := &lock{dir: dir, path: dir.Path(LockFile), mine: owner{Host: host, PID: os.Getpid()}, end: make(chan struct{})}
	if l.file, err = dir.Update(LockFile); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.file.Close()
		}
	}()
	free, known := flock(l.file)
	for try := 0; known && !free && try < 10; try++ { // one that was killed a moment ago has it until it is gone
		time.Sleep(beat / 20)
		free, known = flock(l.file)
	}
	if now, err := dir.Stat(LockFile); free && (err != nil || !same(l.file, now)) {
		// The run that had it ended between the two calls and took its file away.
		l.file.Close()
		return lockFolder(ctx, dir, tell)
	}
	was, there, foreign := l.read()
	if foreign {
		return nil, fmt.Errorf("%s: found a file that is no lock of this program; move it, or give the results another folder", l.path)
	}
	alive := known && !free
	if there && !alive && !(was.Host == host && (known || was.PID == os.Getpid())) {
		if alive, err = l.watch(ctx, was); err != nil {
			return nil, err
		}
	}
	if alive {
		return nil, &LockedError{Dir: dir.Path(""), Host: was.Host, PID: was.PID}
	}
	if there {
		tell(Note{Kind: NoteLockTaken, Args: []string{l.path, was.Host, fmt.Sprint(was.PID)}})
	}
	if err := l.write(); err != nil {
		return nil, err
	}
	l.gone.Go(l.live)
	return l, nil
}

// same tells whether an open file is still the one of its name.
func same(f *os.File, named os.FileInfo) bool {
	info, err := f.Stat()
	return err == nil && os.SameFile(info, named)
}

// read reads the lock; ok is false for one that was cut, foreign tells of another file of that name.
func (l *lock) read() (o owner, ok, foreign bool) {
	text, err := io.ReadAll(io.NewSectionReader(l.file, 0, 4096))
	ok = err == nil && json.Unmarshal(text, &o) == nil && o.Host != ""
	return o, ok, len(text) > 0 && text[0] != '{' && text[0] != 0
}

func (l *lock) write() error {
	text, err := json.Marshal(l.mine)
	if err == nil {
		if err = l.file.Truncate(int64(len(text)) + 1); err == nil {
			_, err = l.file.WriteAt(append(text, '\n'), 0)
		}
	}
	return err
}

// watch tells whether the lock of another host changes.
func (l *lock) watch(ctx context.Context, was owner) (alive bool, err error) {
	for range beats {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(beat):
		}
		text, err := plainfile.ReadFile(l.path, "a file of this program", 4096) // anew: what is open may be kept by the system
		var now owner
		if err == nil && json.Unmarshal(text, &now) == nil && now != was {
			return true, nil
		}
	}
	return false, nil
}

// live shows that the run is alive until it ends.
func (l *lock) live() {
	for {
		select {
		case <-l.end:
			return
		case <-time.After(beat):
			l.mine.Beat++
			l.write()
		}
	}
}

// free gives the folder back.
func (l *lock) free() {
	close(l.end)
	l.gone.Wait()
	l.dir.Remove(LockFile)
	l.file.Close()
}
