package dump

import (
	"crypto/md5"
	"encoding/hex"
)

// dnsNamespace is the namespace of names of hosts (RFC 4122, appendix C), in
// which long names are hashed.
var dnsNamespace = [16]byte{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

// HashName is what stands for a file name that is too long for a file system: its
// version 3 UUID (RFC 4122) in the namespace of hosts, without dashes.
func HashName(name string) string {
	h := md5.New()
	h.Write(dnsNamespace[:])
	h.Write([]byte(name))
	u := h.Sum(nil)
	u[6] = u[6]&0x0f | 0x30
	u[8] = u[8]&0x3f | 0x80
	return hex.EncodeToString(u)
}
