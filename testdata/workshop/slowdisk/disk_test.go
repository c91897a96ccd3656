package slowdisk

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"precision/internal/plainfile"
	"precision/internal/readahead"
)

// read reads files whole, one after the other, and returns how long that took.
func read(t *testing.T, paths ...string) time.Duration {
	t.Helper()
	start := time.Now()
	for _, path := range paths {
		f, size, err := plainfile.Open(path, "a file")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, f); err != nil || n != size {
			t.Errorf("%s: %d of %d bytes, %v", path, n, size, err)
		}
		f.Close()
	}
	return time.Since(start)
}

// What is read takes latency and bandwidth once; what was asked for is on its way meanwhile, and requests share
// the bandwidth. Times can be longer on a busy machine, never shorter.
func TestDisk(t *testing.T) {
	disk := Disk{Latency: 20 * time.Millisecond, Bandwidth: 10e6, Depth: 4}
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{a, b} {
		if err := os.WriteFile(path, make([]byte, 3*block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const transfer = 3 * block * time.Second / 10e6 // 39 ms
	var first time.Duration
	bytes := disk.Run(false, func() {
		first = read(t, a)
		read(t, a)
	})
	if least := 2*disk.Latency + transfer; first < least {
		t.Errorf("%v for a file, at least %v were expected", first, least)
	}
	if want := int64(3*block + inode); bytes != want {
		t.Errorf("%d bytes came of a file that was read twice, expected %d", bytes, want)
	}
	bytes = disk.Run(true, func() {
		if readahead.File(a) != 3*block {
			t.Error("a file not in memory was not asked for")
		}
		time.Sleep(disk.Latency + 2*transfer)
		if readahead.File(a) != 0 {
			t.Error("a file in memory was asked for")
		}
		read(t, a)
	})
	if want := int64(3*block + inode); bytes != want {
		t.Errorf("%d bytes came of a file that was asked for, expected %d", bytes, want)
	}
	disk.Run(true, func() {
		var both sync.WaitGroup
		start := time.Now()
		both.Go(func() { read(t, a) })
		both.Go(func() { read(t, b) })
		both.Wait()
		if took, least := time.Since(start), 2*disk.Latency+2*transfer; took < least {
			t.Errorf("%v for two files at once, at least %v were expected", took, least)
		}
	})
}
