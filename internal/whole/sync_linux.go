package whole

import (
	"os"

	"golang.org/x/sys/unix"
)

// sync asks once for the file system of a folder: a thousand files cost a thousand turns of its journal one by one.
func (f *Folder) sync(dir *os.File, name string) error {
	if unix.Syncfs(int(dir.Fd())) == nil {
		return nil
	}
	return f.syncEach(dir, name)
}
