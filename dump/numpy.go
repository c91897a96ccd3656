package dump

import (
	"errors"

	"precision/dump/layout"
	"precision/dump/npy"
)

// readNumpy reads a numpy array: a recording of one output.
func (f *File) readNumpy(s *source) *Error {
	h, err := npy.Read(s, s.size)
	if err != nil {
		code := CodeInvalid
		if typ := (*npy.TypeError)(nil); errors.As(err, &typ) {
			code = CodeType
		}
		return &Error{Path: s.path, Code: code, Offset: -1, Err: err}
	}
	f.Form, f.Version = Numpy, "2.0"
	f.Outputs = []Tensor{{
		Type: h.Type, Format: layout.Reserved, Shape: h.Shape, Size: uint64(h.Size()), Offset: h.Offset,
		BigEndian: h.BigEndian, Fortran: h.Fortran,
	}}
	return nil
}
