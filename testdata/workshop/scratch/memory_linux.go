package scratch

import "syscall"

// inMemory is a file system in memory that has room, or "" for the usual one.
func inMemory() string {
	const shared = "/dev/shm"
	var s syscall.Statfs_t
	if syscall.Statfs(shared, &s) != nil || s.Bavail*uint64(s.Bsize) < leastRoom {
		return ""
	}
	return shared
}
