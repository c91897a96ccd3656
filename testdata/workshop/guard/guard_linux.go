// Package guard gives tests memory that ends where the program may not go, so
// that a kernel that reads or writes behind its arrays is found out.
package guard

import (
	"testing"

	"golang.org/x/sys/unix"
)

// page is the largest page size of the systems that tests run on.
const page = 64 << 10

// Bytes returns n bytes, zeroed, right before a page without access. They are gone
// after the test.
func Bytes(t testing.TB, n int) []byte {
	t.Helper()
	m, err := unix.Mmap(-1, 0, (n+page-1)/page*page+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	end := len(m) - page
	if err := unix.Mprotect(m[end:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return m[end-n : end : end]
}
