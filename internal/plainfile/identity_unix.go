//go:build linux || darwin

package plainfile

import (
	"encoding/binary"
	"io/fs"
	"syscall"
)

// Identity tells a file from another one of the same name, size and time, as far as the system does: its
// inode, and when it was last changed in any way, which no program sets. It is nil where
// the system does not tell, and means nothing on another machine.
func Identity(info fs.FileInfo) []byte {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.Ino))
	at := changed(s)
	b = binary.LittleEndian.AppendUint64(b, uint64(at.Sec))
	return binary.LittleEndian.AppendUint64(b, uint64(at.Nsec))
}

// Names is how many names a file has: more than one by hard links. It is 0 where the system does not tell.
func Names(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 0
}
