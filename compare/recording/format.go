package recording

import (
	"fmt"
	"strconv"
	"strings"
)

// format is a way to record the calls of a program. A new one is an entry of
// formats: it says where its recordings are and reads one into a [side].
type format struct {
	// kind is what tables call such a side.
	kind string
	// find lists the recordings below a path, ordered by their numbers. It is an
	// error if there are none.
	find func(path string) ([]found, error)
}

// found is what one process recorded of one step.
type found struct {
	// mode tells parts of one recording apart that are not compared with each other;
	// mostly empty.
	mode string
	// step and rank are -1 where the recording does not tell.
	step, rank int
	// bytes is the size of the file of its calls, 0 where that is not known.
	bytes int64
	load  func() (*side, error)
}

// formats are told apart by content: a path belongs to the first that finds
// something there.
var formats = []format{
	{"msprobe", findMsprobe},
	{"aclgraph", findACLGraph},
	{"atb", findATB},
	{"mindspore", findMindSpore},
	{"ge statistics", findStats},
}

// find finds the recordings below a path, and of what kind they are.
func find(path string) ([]found, string, error) {
	var first error
	for _, f := range formats {
		list, err := f.find(path)
		if err == nil && len(list) > 0 {
			return list, f.kind, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("%s: no recording of calls", path)
	}
	return nil, "", first
}

// Is tells whether a path is a recording, or a folder above some.
func Is(path string) bool {
	_, _, err := find(path)
	return err == nil
}

// Bytes is the size of the files of calls below two paths.
func Bytes(left, right string) (sum int64) {
	for _, path := range []string{left, right} {
		list, _, _ := find(path)
		for _, f := range list {
			sum += f.bytes
		}
	}
	return sum
}

// label names a recording by its step and rank.
func (r *found) label() string {
	var text strings.Builder
	if r.mode != "" {
		text.WriteString(r.mode + "/")
	}
	if r.step >= 0 {
		text.WriteString("step" + strconv.Itoa(r.step) + "/")
	}
	if r.rank < 0 {
		return text.String() + "proc"
	}
	return text.String() + "rank" + strconv.Itoa(r.rank)
}
