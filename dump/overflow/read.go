package overflow

import (
	"errors"
	"fmt"
	"path/filepath"

	"precision/dump"
)

// maxPayload bounds what is read of a record. Real ones have 2048 bytes.
const maxPayload = 1 << 16

// Read decodes the records of a file, one for each output. Real files have one,
// and so have those of [Tree.Converted].
// The error is a [*dump.Error] with the code of msaccucmp.py convert. Records
// that could be decoded are returned along with an error about another one; the
// record of an output that could not is nil.
func Read(e dump.Entry) ([]*Record, error) {
	if debugName(filepath.Base(e.Path)) != "" {
		r, err := readConverted(e)
		if err != nil {
			return nil, err
		}
		return []*Record{r}, nil
	}
	f, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(f.Outputs) == 0 {
		return nil, &dump.Error{Path: e.Path, Code: dump.CodeInvalid, Offset: -1, Text: "the file has no output, expected one with a record"}
	}
	var all []*Record
	var first error
	for i := range f.Outputs {
		r, err := decode(f, &f.Outputs[i])
		all = append(all, r)
		if err != nil && first == nil {
			first = err
		}
	}
	return all, first
}

func decode(f *dump.Reader, t *dump.Tensor) (*Record, error) {
	fail := func(code int, offset int64, text string, err error) error {
		return &dump.Error{Path: f.Path, Code: code, Offset: offset, Text: text, Err: err}
	}
	if t.Offset+int64(min(t.Size, maxPayload)) > f.Size {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d", t.Index), t.Err)
	}
	if t.Size > maxPayload {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d: found %d bytes, expected %d for a record", t.Index, t.Size, oldSize), nil)
	}
	payload := make([]byte, t.Size)
	if n, err := f.ReadAt(payload, t.Offset); n < len(payload) {
		return nil, fail(dump.CodeInvalid, t.Offset, fmt.Sprintf("output %d: read %d bytes, expected %d", t.Index, n, len(payload)), err)
	}
	r, err := Decode(payload)
	if err != nil {
		e, _ := errors.AsType[*Error](err)
		return r, fail(e.Code, t.Offset+max(e.Offset, 0), fmt.Sprintf("output %d", t.Index), errors.New(e.Text))
	}
	return r, nil
}
