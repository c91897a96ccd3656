package whole

import "sync/atomic"

// Step is a step in the making of a file, each of which can fail.
type Step string

const (
	Making  Step = "make"  // the temporary file
	Writing Step = "write" // some bytes
	Syncing Step = "sync"  // all of them to the disk
	Closing Step = "close"
	Naming  Step = "name" // the rename or link that lets it appear
)

// Fault is asked before every step. Of a write, n bytes go through before err.
type Fault func(step Step, path string, bytes int) (n int, err error)

var injected atomic.Pointer[Fault]

// Inject puts a fault below everything that writes whole files, for tests; nil
// takes it away.
func Inject(f Fault) {
	if f == nil {
		injected.Store(nil)
		return
	}
	injected.Store(&f)
}

// fails asks the fault that was injected.
func fails(step Step, path string, bytes int) (int, error) {
	if f := injected.Load(); f != nil {
		return (*f)(step, path, bytes)
	}
	return bytes, nil
}
