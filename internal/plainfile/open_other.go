//go:build !unix

package plainfile

import "os"

func open(path string) (*os.File, error) { return os.Open(path) }
