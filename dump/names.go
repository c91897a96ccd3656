package dump

import (
	"crypto/md5"
	"encoding/hex"
	"math"
	"slices"
	"strings"
)

// Kind is what a file is, by its name, or what a folder holds.
type Kind uint8

const (
	// Foreign is a file that has nothing to do with dumps.
	Foreign Kind = iota
	// Offline is the dump of an operator by a device.
	Offline
	// Standard is the output of an operator before quantisation, in a folder
	// as numpy arrays or in the form of a dump (.pb).
	Standard
	// Quant is the output of an operator of a quantised network, in a folder
	// as numpy arrays or in the form of a dump (.quant).
	Quant
	// Array is a numpy array of an operator's output. A folder of arrays is
	// Standard or Quant.
	Array
	// Exception is the dump of an operator that failed.
	Exception
	// Debug is a record of overflows.
	Debug
	// Statistics is a table about the tensors of a dump.
	Statistics
	// Converted is something that a converter made of a dump.
	Converted
)

func (k Kind) String() string {
	return [...]string{"foreign file", "device dump", "standard golden", "quantised golden", "numpy array", "exception dump",
		"overflow record", "statistics", "converted tensor"}[k]
}

// TaskFFTSPlus is the task type of an operator that FFTS+ cut into slices.
// Task types above taskDSA are not known.
const (
	TaskFFTSPlus = 4
	taskDSA      = 5
)

// Name is what the name of a recording tells. Numbers that a name does not
// have are -1.
type Name struct {
	// File is the name, without folders.
	File string
	Kind Kind
	// Reason tells why a file is foreign.
	Reason string
	// OpType and OpName are as the producer wrote them: of dots, slashes,
	// backslashes and blanks it made underscores. Only names of arrays can
	// have dots.
	OpType, OpName string
	// Index is the output that an array holds, or the tensor that a converter
	// took from a dump.
	Index int64
	// Task and Stream tell where the operator ran.
	Task, Stream int64
	// Time is the number in the name's place for a time, as it stands. HasTime
	// tells whether it looks like one: 16 digits, microseconds since 1970, or
	// 17 digits, a local date and time with milliseconds.
	Time    uint64
	HasTime bool
	// TaskType, Context and Thread are in the names of FFTS+.
	TaskType, Context, Thread int64
	// Slice is the number of a slice that was made by hand (_lxslice3).
	Slice int64
}

// maxName is longer than any name a file system allows.
const maxName = 4096

// ParseName takes the name of a recording apart. Names of all producers are
// known; fields are separated by dots, [] is optional:
//
//	type.name.task.[stream.]time[.tasktype.context.thread.device]
//	type.name.seq.task.stream.time[.FFTSPLUS.context.thread.device]
//	Opdebug.Node_OpDebug.task.stream.time[.tasktype.context.thread.device]
//	type.name.task.date, exception_info.stream.task.date
//	name.index.time.npy (also .pb and .quant); the name may have dots
//
// A further number may end the first two. The time is the first field after
// the task that has 16 or 17 digits; without one, its place follows from the
// number of fields.
func ParseName(file string) Name {
	n := Name{File: file, Index: -1, Task: -1, Stream: -1, TaskType: -1, Context: -1, Thread: -1, Slice: -1}
	if len(file) > maxName || strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' }) {
		n.Reason = "a name with characters that no dump has"
		return n
	}
	fields := strings.Split(file, ".")
	switch last := fields[len(fields)-1]; last {
	case "npy", "pb", "quant":
		n.golden(fields[:len(fields)-1], last)
	case "csv":
		if n.device(fields[:len(fields)-1]); n.Kind != Foreign {
			n.Kind = Statistics
		}
	default:
		if at := converted(fields); at > 0 {
			n.convertedFrom(fields, at)
		} else {
			n.device(fields)
		}
	}
	return n
}

// plainName takes the name of an array apart that does not say when it was
// written: name.npy or name.index.npy.
func plainName(file string) Name {
	n := ParseName(file)
	stem, ok := strings.CutSuffix(file, ".npy")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") || strings.ContainsFunc(file, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(file) > maxName {
		return n
	}
	n.Kind, n.Reason, n.OpName, n.Index = Array, "", stem, 0
	if at := strings.LastIndexByte(stem, '.'); at > 0 && len(stem)-at <= 4 && numeric(stem[at+1:]) {
		n.OpName, n.Index = stem[:at], number(stem[at+1:])
	}
	return n
}

// golden parses name.index.time, what is before the extension.
func (n *Name) golden(fields []string, ext string) {
	last := len(fields) - 1
	at := converted(append(fields, ext))
	isTime := last >= 2 && numeric(fields[last]) && numeric(fields[last-1])
	switch {
	case at > 0 && !(isTime && len(fields[last]) == 16):
		n.convertedFrom(fields, at)
		return
	case !isTime || strings.Join(fields[:last-1], "") == "":
		n.Reason = "expected name.index.time." + ext
		return
	}
	n.Kind = map[string]Kind{"npy": Array, "pb": Standard, "quant": Quant}[ext]
	n.OpName = strings.Join(fields[:last-1], ".")
	n.Index = number(fields[last-1])
	n.setTime(fields[last])
}

// converted returns where the tensor begins in the name of a converter's
// output, the field input, output, l1buffer or space before a number; 0 if the
// name is not one.
func converted(fields []string) int {
	switch fields[len(fields)-1] {
	case "npy", "bin", "pt", "json", "log":
	default:
		return 0
	}
	// After the number come at most shape, type and format.
	for at := len(fields) - 3; at > 0 && at >= len(fields)-6; at-- {
		switch fields[at] {
		case "input", "output", "l1buffer", "space":
			if numeric(fields[at+1]) {
				return at
			}
		}
	}
	return 0
}

func (n *Name) convertedFrom(fields []string, at int) {
	n.device(fields[:at])
	n.Kind, n.Reason, n.Index = Converted, "", number(fields[at+1])
}

// device parses the name of a device dump.
func (n *Name) device(fields []string) {
	if len(fields) < 4 || fields[0] == "" || fields[1] == "" {
		n.Reason = "expected type.name.task.[stream.]time"
		return
	}
	at := timeField(fields)
	if at < 0 {
		n.Reason = "expected numbers for task, stream and time"
		return
	}
	if !n.tail(fields[at+1:]) {
		n.Reason = "unexpected fields after the time"
		return
	}
	n.Kind, n.OpType, n.OpName = Offline, fields[0], fields[1]
	n.setTime(fields[at])
	switch ran := fields[2:at]; len(ran) {
	case 1:
		n.Task = number(ran[0])
	case 2:
		n.Task, n.Stream = number(ran[0]), number(ran[1])
	case 3:
		n.Task, n.Stream = number(ran[1]), number(ran[2])
	}
	n.Slice = sliceNumber(n.OpName)
	switch {
	case strings.EqualFold(n.OpType, "Opdebug") && strings.EqualFold(n.OpName, "Node_OpDebug"):
		n.Kind = Debug
	case n.OpType == "exception_info" && numeric(n.OpName) && at == 3:
		n.Kind, n.Stream, n.OpType, n.OpName = Exception, number(n.OpName), "", ""
	case len(fields[at]) == 17:
		n.Kind = Exception
	}
}

// timeField finds the time among the fields of a device dump, after one to
// three numbers; -1 if there is none.
func timeField(fields []string) int {
	for at := 2; at < len(fields) && at <= 5 && numeric(fields[at]); at++ {
		if at > 2 && (len(fields[at]) == 16 || len(fields[at]) == 17) {
			return at
		}
	}
	at := map[int]int{4: 3, 5: 4, 6: 5, 8: 3, 9: 4}[len(fields)]
	if at == 0 {
		return -1
	}
	for _, f := range fields[2 : at+1] {
		if !numeric(f) {
			return -1
		}
	}
	return at
}

// tail parses what follows the time.
func (n *Name) tail(fields []string) bool {
	switch {
	case len(fields) == 4 && fields[0] == "FFTSPLUS" && allNumeric(fields[1:]):
		n.TaskType = TaskFFTSPlus
	case (len(fields) == 4 || len(fields) == 5) && allNumeric(fields):
		n.TaskType = number(fields[0])
	default:
		return len(fields) == 0 || len(fields) == 1 && numeric(fields[0])
	}
	n.Context, n.Thread = number(fields[1]), number(fields[2])
	return true
}

func (n *Name) setTime(field string) {
	n.Time = uint64(number(field))
	n.HasTime = len(field) == 16 || len(field) == 17
}

// Slicing is how FFTS+ cut an operator.
type Slicing uint8

const (
	Whole  Slicing = iota // not at all
	Auto                  // by thread
	Manual                // by the slice in the operator's name
)

// Slicing tells how the operator was cut.
func (n *Name) Slicing() Slicing {
	switch {
	case n.TaskType != TaskFFTSPlus:
		return Whole
	case strings.Contains(n.OpName, sliceMark):
		return Manual
	}
	return Auto
}

func allNumeric(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool { return !numeric(f) })
}

func numeric(s string) bool { return s != "" && Digits(s) == len(s) }

// Small reads a number of one to nine digits.
func Small(s string) (int, bool) {
	if len(s) > 9 || !numeric(s) {
		return 0, false
	}
	return int(number(s)), true
}

// Digits counts the digits at the beginning of s.
func Digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// number reads digits; what is too large becomes the largest number.
func number(s string) int64 {
	n := int64(0)
	for _, c := range []byte(s) {
		if n > (math.MaxInt64-9)/10 {
			return math.MaxInt64
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

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
