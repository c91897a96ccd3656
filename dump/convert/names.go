package convert

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"precision/dump"
	"precision/dump/layout"
	"precision/internal/plainfile"
)

const (
	// maxChars is the length of a name that is too long. File systems allow
	// maxBytes.
	maxChars = 255
	maxBytes = 255
)

// shorten replaces a name that is too long.
func shorten(name string) string {
	if utf8.RuneCountInString(name) < maxChars && len(name) <= maxBytes {
		return name
	}
	return dump.HashName(name) + filepath.Ext(name)
}

// mindSpore is the beginning of names of type MSNpy: of a name of five fields
// the second becomes the last part of the operator's name.
func mindSpore(name, opName string) string {
	fields := strings.Split(name, ".")
	if len(fields) != 5 || opName == "" {
		return name
	}
	fields[1] = opName[strings.LastIndexByte(opName, '/')+1:]
	ms := strings.Join(fields, ".")
	if strings.Contains(ms, ":") || plainfile.CheckName(ms) != nil {
		return name // the name of a file elsewhere
	}
	return ms
}

// opName is the operator's name in the header.
func (c *converter) opName(f *dump.File) string {
	if f.Form == dump.Nano && c.o.Compat {
		// msaccucmp.py takes the wrong field of the file name.
		if fields := strings.Split(f.Name.File, "."); len(fields) > 4 {
			return fields[4]
		}
	}
	return f.OpName
}

// join writes dims with a separator.
func join(dims []int64, sep string) string {
	var b []byte
	for i, d := range dims {
		if i > 0 {
			b = append(b, sep...)
		}
		b = strconv.AppendInt(b, d, 10)
	}
	return string(b)
}

// tensorName is the name of a tensor's file. formatted says that the tensor
// was converted to a layout; format is the layout it has.
func (c *converter) tensorName(j *job, p Part, a *array, format layout.Format, formatted bool) string {
	stem := j.name + "." + p.Group.String() + "." + strconv.Itoa(p.Index) + "."
	switch c.o.Type {
	case MSNpy:
		stem = j.ms + "." + p.Group.String() + "." + strconv.Itoa(p.Index) + "."
		return stem + format.String() + ".npy"
	case Bin:
		return stem + c.binShape(a, formatted) + "." + a.named.String() + "." + format.String() + ".bin"
	case PT:
		if formatted {
			stem += join(a.shape, "x") + "."
		}
		return stem + "pt"
	}
	if formatted {
		stem += join(a.shape, "x") + "."
	}
	return stem + "npy"
}

// binShape is the shape in the name of bare elements. msaccucmp.py gives the
// name before the shape, so that there it is their number.
func (c *converter) binShape(a *array, formatted bool) string {
	n, _ := layout.Count(a.shape)
	if len(a.shape) == 0 || c.o.Compat && !formatted && n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return join(a.shape, "_")
}
