package h5

import (
	"fmt"
)

const superblockSignature = "\x89HDF\r\n\x1a\n"

// superblock finds the superblock, sets base address and field widths, and
// returns the address of the root group's object header.
//
// The superblock stands at offset 0 or, behind a user block, at 512 or a power
// of two times that. Addresses count from where it is found: like the HDF5
// library this ignores a different base address, which a tool that put
// something in front of the file leaves behind.
func (s *source) superblock() (uint64, error) {
	const fixed = 8 + 16 // signature and what precedes the addresses, at most
	s.offLen, s.lenLen = 8, 8
	found := false
	var at int64
	for at = 0; at <= s.size-fixed; {
		var sig [8]byte
		if err := s.readInto(sig[:], uint64(at), "superblock"); err != nil {
			return 0, err
		}
		if string(sig[:]) == superblockSignature {
			found = true
			break
		}
		if at == 0 {
			at = 512
		} else {
			at *= 2
		}
	}
	if !found {
		return 0, s.bad(0, "superblock", "no HDF5 signature at 0, 512, 1024, …", "an HDF5 file")
	}

	s.base = at
	b, err := s.read(0, min(s.size-at, 128), "superblock")
	if err != nil {
		return 0, err
	}
	c := s.cursor(b, 0, "superblock")
	c.signature(superblockSignature)
	version := c.version(0, 3)
	if c.err != nil {
		return 0, c.err
	}
	if version >= 2 {
		return s.superblock2(c)
	}
	c.skip(4) // versions of free space storage and root entry, reserved, shared header version
	s.widths(c)
	c.skip(1 + 2 + 2 + 4) // reserved, group leaf k, group internal k, flags
	if version == 1 {
		c.skip(2 + 2) // indexed storage k, reserved
	}
	c.addr() // base
	c.addr() // free space information
	end := c.addr()
	c.addr()         // driver information
	c.skip(c.offLen) // root entry: name offset
	root := c.addr()
	if c.err != nil {
		return 0, c.err
	}
	return root, s.complete(end)
}

// superblock2 reads the rest of versions 2 and 3, which differ only in flags.
func (s *source) superblock2(c *cursor) (uint64, error) {
	s.widths(c)
	c.skip(1) // consistency flags
	c.addr()  // base
	c.addr()  // superblock extension
	end := c.addr()
	root := c.addr()
	c.skip(4)
	if c.err != nil {
		return 0, c.err
	}
	if err := s.checksum(c.b[:c.pos], 0, "superblock"); err != nil {
		return 0, err
	}
	return root, s.complete(end)
}

// widths takes the sizes of addresses and lengths.
func (s *source) widths(c *cursor) {
	for _, f := range []struct {
		dst  *int
		name string
	}{{&s.offLen, "offsets"}, {&s.lenLen, "lengths"}} {
		n := c.u8()
		if c.err == nil && n != 2 && n != 4 && n != 8 {
			c.pos--
			c.fail(fmt.Sprintf("size of %s %d", f.name, n), "2, 4 or 8")
			return
		}
		*f.dst = n
	}
	c.offLen, c.lenLen = s.offLen, s.lenLen
}

// complete checks the file against the end address its superblock records.
func (s *source) complete(end uint64) error {
	if end != undefined && end > uint64(s.size) {
		return s.bad(0, "end of file", fmt.Sprintf("%d bytes, a truncated file", s.size), fmt.Sprintf("%d", end))
	}
	return nil
}
