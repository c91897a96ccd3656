package job

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"precision/compare/engine"
	"precision/internal/must"
	"precision/internal/whole"
)

// rowLog keeps the rows of a part whose comparison takes long, group by group, so that a
// run that is killed repeats little of it. Rows are written once the time since the
// last ones is share times what writing takes: small tensors, which take no longer
// to compare than to write down, are left to be compared again.
type rowLog struct {
	dir  *whole.Folder
	name string
	head []byte
	have map[int]engine.Found

	mu      sync.Mutex
	out     *frames
	good    int64
	pending []loggedGroup
	rows    int
	last    time.Time
	cost    time.Duration // of a row
	off     bool          // it cannot be written
}

const (
	// share is the time that comparing takes for each that writing rows takes.
	share = 100
	// pause is the shortest time between two writings.
	pause = 50 * time.Millisecond
	// firstCost is what writing a row takes until it was measured.
	firstCost = 20 * time.Microsecond
)

type loggedGroup struct {
	group int
	found engine.Found
}

type groupHead struct {
	Group  int
	Failed string
}

// openRowLog reads what an earlier run left of a part. stamp tells the inputs and
// options it was made of.
func openRowLog(dir *whole.Folder, name string, stamp []byte) *rowLog {
	l := &rowLog{dir: dir, name: rowFolder + "/" + name, head: stamp, have: map[int]engine.Found{}, last: time.Now(), cost: firstCost}
	first := true
	good, _, err := readFrames(dir.Path(l.name), func(content []byte) error {
		if first {
			first = false
			if !bytes.Equal(content, l.head) {
				return errOther
			}
			return nil
		}
		g, err := decodeGroup(content)
		if err != nil {
			return errOther
		}
		l.have[g.group] = g.found
		return nil
	})
	if l.good = good; errors.Is(err, errOther) && good == 0 {
		l.have = map[int]engine.Found{}
	}
	return l
}

// wrap makes a group that takes its rows from the log if they are there.
func (l *rowLog) wrap(i int, g engine.Group) engine.Group {
	if found, ok := l.have[i]; ok {
		delete(l.have, i)
		return func(context.Context, *engine.Worker) engine.Found { return found }
	}
	return func(ctx context.Context, w *engine.Worker) engine.Found {
		found := g(ctx, w)
		if found.Err == nil {
			l.add(i, found)
		}
		return found
	}
}

func (l *rowLog) add(i int, found engine.Found) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return
	}
	l.pending = append(l.pending, loggedGroup{i, found})
	l.rows += len(found.Rows)
	if wait := time.Since(l.last); wait < pause || wait < share*l.cost*time.Duration(l.rows) {
		return
	}
	start := time.Now()
	if err := l.flush(); err != nil {
		l.off, l.pending = true, nil // it is a help, and no result
	}
	l.last = time.Now()
	l.cost = l.last.Sub(start) / time.Duration(max(l.rows, 1))
	l.rows = 0
}

func (l *rowLog) flush() (err error) {
	defer must.Catch(&err)
	if l.out == nil {
		out := must.Get(openFrames(l.dir, l.name, l.good))
		if l.out = out; l.good == 0 {
			must.Do(out.add(l.head))
		}
	}
	var b bytes.Buffer
	for i := range l.pending {
		b.Reset()
		must.Do(l.pending[i].encode(&b))
		must.Do(l.out.add(b.Bytes()))
	}
	l.pending = l.pending[:0]
	return nil
}

// close ends the log; what it holds stays for another run unless done.
func (l *rowLog) close(done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out != nil {
		l.out.close()
	}
	if done && (l.out != nil || l.good > 0) {
		l.dir.Remove(l.name)
	}
}

// logged is a source whose groups are kept in a log.
type logged struct {
	engine.Source
	log *rowLog
}

// Inner is the source.
func (l logged) Inner() engine.Source { return l.Source }

// Groups are those of the source, each taken from the log or kept in it.
func (l logged) Groups() []engine.Group {
	list := l.Source.Groups()
	for i := range list {
		list[i] = l.log.wrap(i, list[i])
	}
	return list
}
