// Package manifest writes down which files a folder holds, with their sizes and
// hashes, and compares two such lists: the data of two machines without moving
// them.
//
// A manifest is text, one file a line, sorted by path as a walk meets them, so
// that two of any length are compared in one pass:
//
//	# precision manifest 1 md5 sha256
//	<size> TAB <md5 or -> TAB <sha256 or -> TAB <path>
//	# <files> files, <bytes> bytes, <unread> unread
//
// Paths are relative to the folder, with slashes, and written as [clean.Name]
// writes them. A file that could not be read has the size -1. The last line
// tells a whole manifest from the front of one.
//
// [Open] reads these and what md5sum, sha256sum and find print, too.
package manifest

import (
	"cmp"
	"fmt"
	"strings"
)

// Hash is one of the hashes a manifest may have.
type Hash uint8

// The hashes.
const (
	MD5 Hash = 1 << iota
	SHA256
)

// hashes are all hashes in the order of columns, with their lengths in hex.
var hashes = []struct {
	hash   Hash
	name   string
	digits int
}{{MD5, "md5", 32}, {SHA256, "sha256", 64}}

// ParseHashes reads names of hashes, separated by commas; "none" stands for none.
func ParseHashes(text string) (set Hash, err error) {
	if text == "none" {
		return 0, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		known := false
		for _, h := range hashes {
			if h.name == strings.TrimSpace(name) {
				set, known = set|h.hash, true
			}
		}
		if !known {
			return 0, fmt.Errorf("found %q, expected md5, sha256, md5,sha256 or none", text)
		}
	}
	return set, nil
}

// String names the hashes, separated by blanks.
func (h Hash) String() string {
	var names []string
	for _, known := range hashes {
		if h&known.hash != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " ")
}

// Entry is a file of a manifest.
type Entry struct {
	// Path is relative to the folder, with slashes.
	Path string
	// Size is in bytes, -1 where it is not known; Unread tells that the file was
	// there and could not be read.
	Size   int64
	Unread bool
	// MD5 and SHA256 are in lower-case hex, empty where they were not computed.
	MD5, SHA256 string
}

// comparePaths orders paths as a walk that sorts every folder meets them: the
// files of a folder stand together, before what its name is only the front of.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x == '/' {
			return -1
		}
		if y == '/' {
			return 1
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
