package checkpoint

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump/torch"
	"precision/internal/plainfile"
)

// Are tells whether two paths, which are no recordings, are to be compared as sets of named tensors: one of them is a file, or a folder
// of checkpoints or archives. Two folders of single arrays may be dumps.
func Are(left, right string) bool {
	sets := false
	for _, path := range []string{left, right} {
		if index, ok := indexOf(path); ok {
			path = index
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue // which is said where it is opened
		case !info.IsDir():
			if ext := filepath.Ext(path); (ext == ".h5" || ext == ".hdf5") && !IsKeras(path) {
				return false
			}
			sets = true
			continue
		}
		switch folder(path) {
		case noSet:
			return false
		case surely:
			sets = true
		}
	}
	return sets
}

// How sure it is that a folder is a set of tensors.
const (
	noSet = iota
	perhaps
	surely
)

func folder(dir string) int {
	if _, open := nested(dir); open != nil {
		return surely
	}
	files, err := parts(dir)
	if err != nil || len(files) == 0 {
		return noSet
	}
	switch filepath.Ext(files[0]) {
	case ".npy":
		return perhaps
	case ".safetensors", ".ckpt", ".npz", indexEnd:
		return surely
	}
	if slices.ContainsFunc(files, isTorch) {
		return surely
	}
	return noSet
}

func isTorch(path string) bool { return torch.Is(plainfile.Front(path, torch.MagicSize)) }

// errPickle: what Python's pickle wrote by itself holds no tensors that could be read without running it.
var errPickle = errors.New("a pickle of Python: it is a program, which is not run; expected " + what + ": save the tensors with torch.save, safetensors or numpy.savez")

// isPickle tells a stream of pickle's protocols 2 to 5, or one of protocol 0 or 1 that begins with a container.
func isPickle(head []byte, path string) bool {
	if len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 {
		return true
	}
	ext := strings.ToLower(filepath.Ext(path))
	return (ext == ".pkl" || ext == ".pickle") && (bytes.HasPrefix(head, []byte("(")) || bytes.HasPrefix(head, []byte("}")) || bytes.HasPrefix(head, []byte("]")))
}

// IsFile tells by its first bytes a file that may hold named tensors: an archive of numpy or of torch.save, a safetensors file or a checkpoint of MindSpore; or a
// pickle, of which [Open] says what it is. A single array of numpy is none.
func IsFile(path string) bool {
	f, size, err := plainfile.Open(path, what)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := beginning(f, size)
	return err == nil && (torch.Is(head) || isSafetensors(head, size) || isMindSpore(head) || isPickle(head, path))
}

// Holds tells whether a path is a file of named tensors or a folder of them, also a checkpoint of TensorFlow or weights of Keras.
func Holds(path string) bool {
	if !plainfile.IsFolder(path) {
		_, index := indexOf(path)
		return index || strings.HasSuffix(path, indexEnd) && plainfile.IsFile(path) || IsFile(path) || IsKeras(path)
	}
	return folder(path) == surely
}
