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
	"crypto/md5" // the sums people have are md5; it tells files apart, and keeps no secret
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"precision/internal/clean"
	"precision/internal/order"
)

// Hash is one of the hashes a manifest may have.
type Hash uint8

// The hashes.
const (
	MD5 Hash = 1 << iota
	SHA256
)

// function is one of them, with the length of its hashes in hex.
type function struct {
	name   string
	digits int
	make   func() hash.Hash
}

// hashes are all of them in the order of columns, which is that of their bits.
var hashes = []function{{"md5", 32, md5.New}, {"sha256", 64, sha256.New}}

// ParseHashes reads names of hashes, separated by commas; "none" stands for none.
func ParseHashes(text string) (set Hash, err error) {
	if text == "none" {
		return 0, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(hashes, func(h function) bool { return h.name == strings.TrimSpace(name) })
		if i < 0 {
			return 0, fmt.Errorf("found %q, expected md5, sha256, md5,sha256 or none", text)
		}
		set |= 1 << i
	}
	return set, nil
}

// String names the hashes, separated by blanks.
func (h Hash) String() string {
	var names []string
	for i, known := range hashes {
		if h&(1<<i) != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " ")
}

// Size is the size of a file in bytes, negative where it is not known.
type Size int64

// IsZero tells that JSON leaves it out.
func (s Size) IsZero() bool { return s < 0 }

// Entry is a file of a manifest.
type Entry struct {
	// Path is relative to the folder, with slashes.
	Path string `json:"path"`
	Size Size   `json:"size,omitzero"`
	// Unread tells that the file was there and could not be read.
	Unread bool `json:"unread,omitempty"`
	// MD5 and SHA256 are in lower-case hex, empty where they were not computed.
	MD5    string `json:"md5,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// sums are the hashes of a file in the order of [hashes].
func (e *Entry) sums() []*string { return []*string{&e.MD5, &e.SHA256} }

// columns are the hashes and the path as a line has them.
func (e *Entry) columns() string {
	return cmp.Or(e.MD5, "-") + "\t" + cmp.Or(e.SHA256, "-") + "\t" + clean.Name(e.Path) + "\n"
}

// parse reads the columns of a line: size, hashes and path.
func parse(columns []string) (Entry, error) {
	if len(columns) != 4 || !isHash(columns[1], 32) || !isHash(columns[2], 64) {
		text := strings.Join(columns, "\t")
		return Entry{}, fmt.Errorf("found %q, expected size, md5, sha256 and path, separated by tabs", clean.Line(text[:min(len(text), 120)]))
	}
	size, err := strconv.ParseInt(columns[0], 10, 64)
	if err != nil || size < -1 {
		return Entry{}, fmt.Errorf("found the size %q, expected a number of bytes", clean.Line(columns[0]))
	}
	return Entry{clean.Original(columns[3]), Size(size), size < 0, strings.Trim(columns[1], "-"), strings.Trim(columns[2], "-")}, nil
}

// isHash tells whether a text is a hash of so many digits, or - for none.
func isHash(text string, digits int) bool {
	return text == "-" || len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// comparePaths orders paths as a walk that sorts every folder meets them: the
// files of a folder stand together, before what its name is only the front of.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		if x, y := a[i], b[i]; x != y {
			return cmp.Or(order.FalseFirst(x != '/', y != '/'), cmp.Compare(x, y))
		}
	}
	return cmp.Compare(len(a), len(b))
}
