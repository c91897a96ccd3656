//go:build !linux && !darwin

package whole

import (
	"os"
	"time"
)

// holdFile does nothing: there is no lock that a rename would leave alone.
func holdFile(*os.Root, *os.File) (*os.File, error) { return nil, nil }

// abandoned is the age from which a temporary file is taken for one whose owner
// is gone.
const abandoned = 24 * time.Hour

// removeOrphan removes an old temporary file. One that is open cannot be removed.
func removeOrphan(dir *os.Root, name string) {
	if info, err := dir.Lstat(name); err == nil && time.Since(info.ModTime()) > abandoned {
		dir.Remove(name)
	}
}
