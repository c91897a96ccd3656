package convert

import "errors"

// writePT writes a tensor for PyTorch.
func writePT(out *output, a *array) error { return errors.New("not yet") }
