// Package slowdisk stands for storage that takes its time, below everything that reads, for benchmarks and tests: neither
// a throttled device nor a far file system is at hand where they run.
package slowdisk

import (
	"os"
	"sync"
	"time"

	"precision/internal/plainfile"
	"precision/internal/readahead"
)

// Disk says how fast storage is. Nothing is in memory at the beginning, and what was read stays there.
type Disk struct {
	// Latency is what a request takes before its first byte comes; to open a file is a request of its own, as
	// it is for inodes that are not in memory and on file systems in the network.
	Latency time.Duration
	// Bandwidth is how many bytes come in a second, of all requests together.
	Bandwidth float64
	// Depth is how many requests are under way at a time; others wait for their turn.
	Depth int
}

// block is how many bytes a request brings, as Linux reads: the next one is asked for when one is looked at.
const block = 128 << 10

// inode is how many bytes are read to open a file.
const inode = 4 << 10

// device is a Disk in use.
type device struct {
	Disk
	mu    sync.Mutex
	slots []time.Time // when each of Depth requests is done
	bus   time.Time   // when the last byte under way has come
	files map[string]*file
	bytes int64
}

// file is what has been asked for of a file.
type file struct {
	size   int64
	opened time.Time
	blocks []time.Time // when each is in memory; zero: not asked for
}

// Run puts a disk below all reading while f runs, and returns how many bytes came from it. Without ahead, nothing is read
// ahead but the block behind the one in use.
func (d Disk) Run(ahead bool, f func()) (bytes int64) {
	dev := &device{Disk: d, slots: make([]time.Time, d.Depth), files: map[string]*file{}}
	plainfile.Inject(func(path string, at int64, wanted int) (int, error) {
		dev.read(path, at, int64(wanted))
		return wanted, nil
	})
	defer plainfile.Inject(nil)
	readahead.Simulate(func(path string) int64 {
		if !ahead {
			return 0
		}
		return dev.ask(path)
	})
	defer readahead.Simulate(nil)
	f()
	dev.mu.Lock()
	defer dev.mu.Unlock()
	return dev.bytes
}

// wait sleeps as a thread does that waits for a disk: timers of Go are only exact to a millisecond.
func wait(until time.Time) {
	if d := time.Until(until); d > 0 {
		sleep(d)
	}
}

// submit sends a request and returns when its last byte is in memory.
func (d *device) submit(bytes int64) time.Time {
	slot := 0
	for i, free := range d.slots {
		if free.Before(d.slots[slot]) {
			slot = i
		}
	}
	d.bytes += bytes
	first := later(time.Now(), d.slots[slot]).Add(d.Latency)
	last := later(first, d.bus).Add(time.Duration(float64(bytes) / d.Bandwidth * 1e9))
	d.slots[slot], d.bus = last, last
	return last
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// open returns the file at a path when its inode is in memory.
func (d *device) open(path string) *file {
	d.mu.Lock()
	f := d.files[path]
	if f == nil {
		f = &file{opened: d.submit(inode)}
		if info, err := os.Stat(path); err == nil {
			f.size = info.Size()
		}
		f.blocks = make([]time.Time, (f.size+block-1)/block)
		d.files[path] = f
	}
	d.mu.Unlock()
	wait(f.opened)
	return f
}

// fetch asks for blocks of a file that have not been asked for, and returns when the first is in memory.
func (d *device) fetch(f *file, from, to int64) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := from; i < min(to, int64(len(f.blocks))); i++ {
		if f.blocks[i].IsZero() {
			f.blocks[i] = d.submit(min(block, f.size-i*block))
		}
	}
	return f.blocks[from]
}

// read returns when bytes of a file are in memory.
func (d *device) read(path string, at, wanted int64) {
	f := d.open(path)
	for i := at / block; i*block < min(at+wanted, f.size); i++ {
		wait(d.fetch(f, i, i+2))
	}
}

// ask asks for a whole file and returns its size, 0 if it is in memory.
func (d *device) ask(path string) int64 {
	f := d.open(path)
	if f.size == 0 {
		return 0
	}
	d.mu.Lock()
	last := f.blocks[len(f.blocks)-1]
	d.mu.Unlock()
	if !last.IsZero() && !last.After(time.Now()) {
		return 0
	}
	d.fetch(f, 0, int64(len(f.blocks)))
	return f.size
}
