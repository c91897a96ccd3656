//go:build !linux

package whole

import "os"

// sync goes file by file.
func (f *Folder) sync(dir *os.File, name string) error { return f.syncEach(dir, name) }
