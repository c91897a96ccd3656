package convert

import (
	"errors"
	"io"
	"strings"

	"precision/dump/torch"
)

// writePT writes a tensor for PyTorch.
func writePT(out *output, a *array) error {
	elems := io.Reader(strings.NewReader(""))
	if a.elems != nil {
		elems = a.elems
	}
	err := torch.Write(out, a.typ, a.shape, elems)
	if _, ok := errors.AsType[*torch.RangeError](err); ok {
		return errorf(out.path, CodeConvert, err, "PyTorch has no type for these elements")
	}
	return err
}
