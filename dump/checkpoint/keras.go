package checkpoint

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/h5"
	"precision/dump/layout"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// kerasWeights is the member of a .keras archive that holds the weights.
const kerasWeights = "model.weights.h5"

// IsKeras tells whether a file holds weights as Keras writes them: HDF5 with its marks, or its archive. One that cannot be read as far as its
// marks may be one; [Open] says why.
func IsKeras(path string) bool {
	f, size, err := plainfile.Open(path, what)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := beginning(f, size)
	if err != nil {
		return false
	}
	if isHDF5(head) {
		file, err := h5.Open(f, size)
		if err != nil {
			return true
		}
		marked, err := ofKeras(file)
		return marked || err != nil
	}
	return bytes.HasPrefix(head, []byte("PK")) && kerasMember(f, size) != nil
}

// ofKeras tells files of Keras from others by what is at their root, if that can be read.
func ofKeras(file *h5.File) (bool, error) {
	for _, name := range []string{"keras_version", "layer_names"} {
		if a, err := file.Root().Attr(name); err == nil && a != nil {
			return true, nil
		}
	}
	names, err := file.Root().Names()
	return slices.ContainsFunc(names, func(n string) bool {
		return n == "model_weights" || n == "_layer_checkpoint_dependencies" || n == "layers" || n == "vars"
	}), err
}

// kerasMember is the member of an archive of Keras that holds the weights, nil for other archives.
func kerasMember(f io.ReaderAt, size int64) *zip.File {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil
	}
	for _, m := range z.File {
		if m.Name == kerasWeights {
			return m
		}
	}
	return nil
}

// hdf5 reads the datasets of a file of Keras that hold numbers.
func (s *Set) hdf5(f io.ReaderAt, size int64) {
	file := must.Get(h5.Open(f, size))
	if !must.Get(ofKeras(file)) {
		must.Do(fmt.Errorf("an HDF5 file without the marks of Keras, expected %s", what))
	}
	s.Weights = true
	must.Do(file.Walk(func(path string, obj h5.Object, err error) error {
		d, ok := obj.(*h5.Dataset)
		if err != nil || !ok {
			return err
		}
		if d.Type == dtype.Undefined || d.Type == dtype.String {
			return nil
		}
		v, err := layout.Contiguous(d.Shape)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		s.put(kerasName(path), d.Type, d.Shape, false, func() tiles { return elements(d, 0, d.Type, v) })
		return nil
	}))
}

// kerasName is the name of a weight: conv/kernel for model_weights/conv/conv/kernel:0, as Keras 2 files it below the layer
// and names it by the layer again, and layers/conv/0 for layers/conv/vars/0, as Keras 3 numbers those of a layer.
func kerasName(path string) string {
	words := strings.Split(strings.Trim(strings.ReplaceAll(path, `\`, "/"), "/"), "/")
	if words[0] == "model_weights" {
		words = words[1:]
	}
	if n := len(words); n > 1 && words[n-2] == "vars" {
		words = slices.Delete(words, n-2, n-1)
	}
	if words[0] == "_layer_checkpoint_dependencies" {
		words[0] = "layers"
	}
	if len(words) > 2 && words[0] == words[1] && strings.HasSuffix(words[len(words)-1], ":0") {
		words = words[1:]
	}
	return strings.TrimSuffix(strings.Join(words, "/"), ":0")
}
