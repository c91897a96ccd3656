//go:build !unix || solaris || aix

package job

import "os"

// flock is not known here: a lock is watched instead.
func flock(*os.File) (free, known bool) { return false, false }
