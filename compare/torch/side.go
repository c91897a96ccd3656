package torch

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"precision/compare/engine"
	"precision/compare/result"
	"precision/dump/h5"
	"precision/internal/order"
	"precision/internal/plainfile"
)

// deviceType is the number of a device in the DeviceType attribute.
type deviceType int64

const (
	deviceCPU     deviceType = 0
	deviceGPU     deviceType = 1
	deviceNPU     deviceType = 10
	deviceUnknown deviceType = -1
)

func (d deviceType) String() string {
	switch d {
	case deviceCPU:
		return "CPU (0)"
	case deviceGPU:
		return "GPU (1)"
	case deviceNPU:
		return "NPU (10)"
	case deviceUnknown:
		return "unknown"
	}
	return strconv.FormatInt(int64(d), 10)
}

// element types as the DataType attribute numbers them.
const (
	dataFloat = 1
	dataInt   = 6
	dataLong  = 7
	dataHalf  = 10
)

// dataType is the DataType attribute.
type dataType int64

const dataMissing dataType = -1

func (d dataType) String() string {
	switch d {
	case dataFloat:
		return "Float"
	case 2:
		return "Byte"
	case 3:
		return "Char"
	case 5:
		return "Short"
	case dataInt:
		return "Int"
	case dataLong:
		return "Long"
	case 9:
		return "Bool"
	case dataHalf:
		return "Half"
	case 11:
		return "Double"
	}
	return "type " + strconv.FormatInt(int64(d), 10)
}

// comparable tells whether elements of the two types can be compared.
func (d dataType) comparable(e dataType) bool {
	in := func(a, b dataType) bool { return (d == a || d == b) && (e == a || e == b) }
	return d == e || in(dataInt, dataLong) || in(dataFloat, dataHalf)
}

// tensor is a dataset, without its elements: those are looked up again when
// they are wanted, so that a file with many datasets stays cheap.
type tensor struct {
	path  string // from the root
	input bool
	rel   string // the path below operator and order
	data  dataType
	// stride is the Stride attribute in elements, nil without one.
	stride []int64
	err    error // an attribute that cannot be read
}

// role is the direction of the tensor.
func (t *tensor) role() result.Role {
	if t.input {
		return result.Input
	}
	return result.Output
}

// call is one execution of an operator.
type call struct {
	op      string
	order   int64
	folder  string // /operator/order as the file spells it
	tensors []*tensor
	byRel   map[string]*tensor
}

// side is one of the two files.
type side struct {
	path  string
	file  *plainfile.File
	h5    *h5.File
	calls []*call // by operator name, then order
	at    map[string]*tensor
	// tensors counts the plain tensors.
	tensors  int
	device   deviceType // of the first tensor that tells
	warnings []error
	// misnamed counts datasets whose path is not that of a tensor.
	misnamed      int
	firstMisnamed string
}

func openSide(path string) (*side, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s := &side{path: path, file: f, device: deviceUnknown, at: map[string]*tensor{}}
	if s.h5, err = h5.Open(f, size); err == nil {
		err = s.list()
	}
	if err != nil {
		f.Close()
		return nil, fail(engine.FaultParse, "%s: %w", path, err)
	}
	return s, nil
}

// mostWarnings is how many objects of a file that cannot be read are told of.
const mostWarnings = 100

func (s *side) warn(path string, err error) {
	switch n := len(s.warnings); {
	case n < mostWarnings:
		s.warnings = append(s.warnings, fmt.Errorf("%s: %s: %w", s.path, path, err))
	case n == mostWarnings:
		s.warnings = append(s.warnings, fmt.Errorf("%s: more objects than these %d cannot be read", s.path, n))
	}
}

// list walks the file and notes the tensors in it. Objects that cannot be read
// become warnings; the error is that of a file that cannot be walked.
func (s *side) list() error {
	type place struct {
		op    string
		order int64
	}
	calls := map[place]*call{}
	err := s.h5.Walk(func(path string, obj h5.Object, err error) error {
		if err != nil {
			s.warn(path, err)
			return nil
		}
		d, ok := obj.(*h5.Dataset)
		if !ok {
			return nil
		}
		attrs, err := d.Attrs()
		if err != nil {
			s.warn(path, err)
			return nil
		}
		if len(attrs) == 0 {
			return nil // not a tensor of a dump
		}
		op, order, folder, rel, ok := splitPath(path)
		if !ok {
			if s.misnamed == 0 {
				s.firstMisnamed = path
			}
			s.misnamed++
			s.warn(path, errors.New("is not named /operator/order/input or output/…, left out"))
			return nil
		}
		c := calls[place{op, order}]
		if c == nil {
			c = &call{op: op, order: order, folder: folder, byRel: map[string]*tensor{}}
			calls[place{op, order}] = c
			s.calls = append(s.calls, c)
		}
		if c.byRel[rel] != nil {
			s.warn(path, fmt.Errorf("is the tensor of %s again, left out", c.byRel[rel].path))
			return nil
		}
		if t := s.tensor(path, rel, d); t != nil {
			c.tensors = append(c.tensors, t)
			c.byRel[rel] = t
			s.at[path] = t
			s.tensors++
		}
		return nil
	})
	order.Stable(s.calls, func(a, b *call) int { return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.order, b.order)) })
	return err
}

// splitPath takes /operator/order/direction/…/name apart.
func splitPath(path string) (op string, order int64, folder, rel string, ok bool) {
	parts := strings.SplitN(strings.Trim(path, "/"), "/", 4)
	if len(parts) < 4 || parts[0] == "" || (parts[2] != "input" && parts[2] != "output") {
		return "", 0, "", "", false
	}
	n, err := strconv.ParseUint(parts[1], 10, 63)
	if err != nil {
		return "", 0, "", "", false
	}
	return parts[0], int64(n), "/" + parts[0] + "/" + parts[1], parts[2] + "/" + parts[3], true
}

// tensor reads the attributes of a dataset. It returns nil for values that are
// not plain tensors.
func (s *side) tensor(path, rel string, d *h5.Dataset) *tensor {
	t := &tensor{path: path, rel: rel, input: strings.HasPrefix(rel, "input/")}
	number := func(name string, missing int64) int64 {
		a, err := d.Attr(name)
		if errors.Is(err, h5.ErrNotFound) {
			return missing
		}
		var n int64
		if err == nil {
			n, err = a.Int()
		}
		if err != nil {
			if t.err == nil {
				t.err = fmt.Errorf("attribute %s: %w", name, err)
			}
			return missing
		}
		return n
	}
	if number("Type", 0) != 0 {
		return nil
	}
	if s.device == deviceUnknown {
		s.device = deviceType(number("DeviceType", int64(deviceUnknown)))
	}
	t.data = dataType(number("DataType", int64(dataMissing)))
	if a, err := d.Attr("Stride"); err == nil {
		// A stride that is no list of integers tells nothing; the elements
		// are then taken as they are stored.
		t.stride, _ = a.Ints()
	}
	return t
}
