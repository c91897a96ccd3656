package mindspore

import (
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
)

// Name is what the name of a file of a tensor tells.
type Name struct {
	// Type and Op are the kernel's; of slashes in its name the writer made
	// underscores.
	Type, Op     string
	Task, Stream string
	// Time is the number in its place, of microseconds since 1970 if it has 16 digits.
	Time uint64
	// Output tells outputs from inputs, Index is the tensor's number among them, Slot
	// the part of a tensor that is several; mostly 0.
	Output      bool
	Index, Slot int
	// DType is the type the tensor had, if Typed.
	DType dtype.Type
	Typed bool
}

// maxName is longer than any name a file system allows.
const maxName = 4096

// ParseName takes the name of a file apart:
//
//	type.name.task.stream.time.input|output.index[.slot][.format[.dtype]].npy
//
// Names of parameters may have points.
func ParseName(file string) (n Name, ok bool) {
	stem, isArray := strings.CutSuffix(file, ".npy")
	if !isArray || len(file) > maxName || !strings.Contains(stem, ".output.") && !strings.Contains(stem, ".input.") {
		return n, false
	}
	fields := strings.Split(stem, ".")
	at := -1
	for i := len(fields) - 2; i >= 5 && i >= len(fields)-5; i-- {
		if n.Output = fields[i] == "output"; n.Output || fields[i] == "input" {
			at = i
			break
		}
	}
	if at < 0 {
		return n, false
	}
	if n.Index, ok = dump.Small(fields[at+1]); !ok {
		return n, false
	}
	rest := fields[at+2:]
	if len(rest) > 0 {
		if slot, isSlot := dump.Small(rest[0]); isSlot {
			n.Slot, rest = slot, rest[1:]
		}
	}
	switch len(rest) { // the layout, and the type
	case 2:
		if n.DType, n.Typed = dtype.FromFramework(rest[1]); !n.Typed {
			return n, false
		}
	case 0, 1:
	default:
		return n, false
	}
	n.Type, n.Op = fields[0], strings.Join(fields[1:at-3], ".")
	n.Task, n.Stream = fields[at-3], fields[at-2]
	var err error
	n.Time, err = strconv.ParseUint(fields[at-1], 10, 64)
	if _, isTask := dump.Small(n.Task); !isTask || err != nil || n.Type == "" || n.Op == "" {
		return n, false
	}
	return n, true
}

// Plain is the name of a kernel without the number of its node: what it has in
// common with another build of the graph.
func Plain(name string) string {
	if i := strings.LastIndex(name, "-op"); i >= 0 {
		if _, isNumber := dump.Small(name[i+3:]); isNumber {
			return name[:i+3]
		}
	}
	return name
}
