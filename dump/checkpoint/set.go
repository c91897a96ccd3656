package checkpoint

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/npy"
	"precision/dump/torch"
	"precision/internal/must"
	"precision/internal/nd"
	"precision/internal/plainfile"
)

// Set is the named tensors of a checkpoint: of one file, or of the files of a folder, which hold a part each.
type Set struct {
	// Path is what was opened.
	Path string
	// Tensors are in the order of the files' names and of the file.
	Tensors []*Tensor
	// Weights tells that files of this kind hold the weights of a network, whatever their names are.
	Weights bool
	files   []io.Closer
}

// Tensor is a tensor of a checkpoint. Its elements stay in the file.
type Tensor struct {
	// Name is as the file has it: model.layers.0.mlp.down_proj.weight.
	Name  string
	Type  dtype.Type
	Shape []int64
	// BigEndian: elements of several bytes have the high byte first.
	BigEndian bool
	// File holds it.
	File string
	// open starts to read, or ends the reading.
	open func() tiles
}

// tiles reads elements [first, first+n) as they are stored.
type tiles interface {
	ReadTile(dst []byte, first, n int64) error
}

// Permuted is the tensor with its axes in another order: axis i of it is axis axes[i] of t.
func (t *Tensor) Permuted(axes ...int) (*Tensor, error) {
	shape, stride, strides := make([]int64, len(axes)), make([]int64, len(axes)), nd.Strides(t.Shape)
	for i, a := range axes {
		shape[i], stride[i] = t.Shape[a], strides[a]
	}
	v, err := layout.Strided(shape, stride)
	if err != nil {
		return nil, err
	}
	c := *t
	c.Shape = shape
	c.open = func() tiles { return elements(tilesAt{t.open(), int64(t.Type.Bits() / 8)}, 0, t.Type, v) }
	return &c, nil
}

// tilesAt reads tiles by the place of their first byte, at elements of a size.
type tilesAt struct {
	tiles
	size int64
}

// ReadAt reads whole elements.
func (t tilesAt) ReadAt(p []byte, off int64) (int, error) {
	if err := t.ReadTile(p, off/t.size, int64(len(p))/t.size); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Len is the number of elements, 1 for a scalar.
func (t *Tensor) Len() int64 {
	n, err := layout.Count(t.Shape)
	if err != nil {
		return 0
	}
	return n
}

// Numbers reads the elements as numbers, in C order. It serves one goroutine.
type Numbers struct {
	t   *Tensor
	r   tiles
	raw []byte
}

// Numbers starts to read; types that are no numbers are an error.
func (t *Tensor) Numbers() (*Numbers, error) {
	if t.Type.IsComplex() {
		return nil, fmt.Errorf("%s: tensor %q has elements of type %s, expected real numbers", t.File, t.Name, t.Type)
	}
	return t.Elements()
}

// Elements starts to read elements as they are stored, of complex types, too.
func (t *Tensor) Elements() (*Numbers, error) {
	if !t.Type.Readable() || t.Type.Bits()%8 != 0 {
		return nil, fmt.Errorf("%s: tensor %q has elements of type %s, expected numbers", t.File, t.Name, t.Type)
	}
	s := &Numbers{t: t}
	if err := must.Try(func() { s.r = t.open() }); err != nil {
		return nil, fmt.Errorf("%s: tensor %q: %w", t.File, t.Name, err)
	}
	return s, nil
}

// elements reads those of a type by a view, from a place on.
func elements(r io.ReaderAt, at int64, t dtype.Type, v layout.View) tiles {
	return must.Get(layout.NewReader(r, at, t.Bits()/8, v))
}

// ReadTile fills dst with elements [first, first+n) as they are stored, little-endian.
func (s *Numbers) ReadTile(dst []byte, first, n int64) error {
	if err := s.r.ReadTile(dst, first, n); err != nil {
		return fmt.Errorf("%s: tensor %q: %w", s.t.File, s.t.Name, err)
	}
	if s.t.BigEndian {
		dtype.Swap(s.t.Type, dst)
	}
	return nil
}

// Bytes are elements [first, first+n) as ReadTile has them; they are good until the next call.
func (s *Numbers) Bytes(first, n int64) ([]byte, error) {
	size := int(s.t.Type.Bytes(n))
	s.raw = slices.Grow(s.raw[:0], size)[:size]
	return s.raw, s.ReadTile(s.raw, first, n)
}

// Read fills dst with elements from first on.
func (s *Numbers) Read(dst []float64, first int64) error {
	raw, err := s.Bytes(first, int64(len(dst)))
	if err == nil {
		dtype.Widen64(s.t.Type, dst, raw)
	}
	return err
}

// Close closes the files.
func (s *Set) Close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// What is read of a folder: all files of the first ending that it has.
var endings = [...][]string{{".safetensors"}, {".pt", ".pth", ".bin"}, {".ckpt"}, {".npz"}, {".npy"}}

// indexes are the files that tell which file of a folder holds which tensor, as Hugging Face writes them.
var indexes = [...]string{"model.safetensors.index.json", "pytorch_model.bin.index.json"}

const (
	what = "a file of tensors (.safetensors, .pt, .npz, .npy, a checkpoint of TensorFlow, Keras or MindSpore) or a folder of them"
	// mostIndex is more than any index: 200 bytes a tensor, 300 000 tensors.
	mostIndex = 64 << 20
)

// Open reads what tensors a file or a folder holds: safetensors files, files of torch.save (of which nothing is
// executed), .npz and .npy, checkpoints of TensorFlow, also by their prefix, variables of a SavedModel, weights of Keras, and checkpoints of MindSpore. Where a folder has an index, all files that it names must be there.
// Errors name the file.
func Open(path string) (_ *Set, err error) {
	s := &Set{Path: path}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	defer must.Catch(&err)
	if index, ok := indexOf(path); ok {
		path = index
	}
	files := []string{path}
	if must.Get(os.Stat(path)).IsDir() {
		if dir, open := nested(path); open != nil {
			open(s, dir)
			return s, nil
		}
		files = must.Get(parts(path))
	}
	for _, file := range files {
		s.add(file)
	}
	must.Not(len(s.Tensors) == 0, "%s: found no tensors in it, expected %s", path, what)
	seen := map[string]*Tensor{}
	for _, t := range s.Tensors {
		if first := seen[t.Name]; first != nil {
			return nil, fmt.Errorf("%s: holds a tensor %q, and so does %s; tensors that ranks hold in parts have to be put together first", t.File, t.Name, first.File)
		}
		seen[t.Name] = t
	}
	return s, nil
}

// parts are the files of a folder.
func parts(dir string) (files []string, err error) {
	defer must.Catch(&err)
	for _, name := range indexes {
		index := filepath.Join(dir, name)
		if _, err := os.Lstat(index); err != nil {
			continue
		}
		b := must.Get(plainfile.ReadFile(index, "an index of tensors", mostIndex))
		var list struct {
			Map map[string]string `json:"weight_map"`
		}
		err := json.Unmarshal(b, &list)
		must.Not(err != nil, "%s: found no index of tensors, expected an object with a weight_map: %w", index, err)
		for tensor, file := range list.Map {
			err := plainfile.CheckName(file)
			must.Not(err != nil, "%s: the file of %q: %w", index, tensor, err)
			files = append(files, filepath.Join(dir, file))
		}
		slices.Sort(files)
		return slices.Compact(files), nil
	}
	if index, err := indexIn(dir); index != "" || err != nil {
		return []string{index}, err
	}
	entries := must.Get(os.ReadDir(dir))
	for _, ends := range endings {
		for _, e := range entries {
			if slices.Contains(ends, filepath.Ext(e.Name())) && !strings.HasPrefix(e.Name(), ".") {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
		if files != nil {
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s: found no tensors in the folder, expected %s", dir, what)
}

// add opens a file, whatever kind its first bytes show.
func (s *Set) add(path string) {
	f, size, err := plainfile.Open(path, what)
	must.Do(err)
	s.files = append(s.files, f)
	from := len(s.Tensors)
	inFile(path, func() {
		switch head := must.Get(beginning(f, size)); {
		case bytes.HasPrefix(head, []byte(npy.Magic)):
			s.array(f, size, arrayName(filepath.Base(path)))
		case isSafetensors(head, size):
			s.safetensors(f, size)
		case bytes.HasPrefix(head, []byte("PK")) && kerasMember(f, size) != nil:
			left := int64(mostInflated)
			s.hdf5(unzipped(f, size, kerasMember(f, size), &left))
		case torch.Is(head) && !arrays(f, size):
			s.torch(f, size, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		case bytes.HasPrefix(head, []byte("PK")):
			s.npz(f, size)
		case isHDF5(head):
			s.hdf5(f, size)
		case isBundle(f, size):
			s.bundle(f, size, path)
		case isMindSpore(head):
			s.mindspore(f, size)
		case isPickle(head, path):
			must.Do(errPickle)
		default:
			must.Do(fmt.Errorf("begins with %q, expected %s", head[:min(len(head), 8)], what))
		}
	})
	for _, t := range s.Tensors[from:] {
		t.File = path
	}
}

// beginning is what kinds of files are told by.
func beginning(f io.ReaderAt, size int64) ([]byte, error) {
	head := make([]byte, min(size, looked))
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), head)
	return head, err
}

// inFile does a piece of work, whose error names a file.
func inFile(path string, work func()) {
	if err := must.Try(work); err != nil {
		must.Do(plainfile.At(path, err))
	}
}

// inside does a piece of work, whose error says in what it is.
func inside(place string, work func()) {
	if err := must.Try(work); err != nil {
		must.Do(fmt.Errorf("%s: %w", place, err))
	}
}

// arrayName is the name of the array that a file is: conv1 for conv1.0.1700000000000000.npy, as golden arrays are called, and conv1:1 for
// the second output of an operator.
func arrayName(file string) string {
	name := strings.TrimSuffix(file, ".npy")
	words := strings.Split(name, ".")
	if n := len(words); n > 2 && digits(words[n-2]) && digits(words[n-1]) && len(words[n-1]) > 9 {
		if name = strings.Join(words[:n-2], "."); words[n-2] != "0" {
			name += ":" + words[n-2]
		}
	}
	return name
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// mostHeader is the longest header of a safetensors file, which is that of its reference implementation.
const mostHeader = 100 << 20

// The element types of safetensors by their names there.
var safeTypes = map[string]dtype.Type{
	"F64": dtype.Float64, "F32": dtype.Float32, "F16": dtype.Float16, "BF16": dtype.BFloat16, "I64": dtype.Int64, "I32": dtype.Int32,
	"I16": dtype.Int16, "I8": dtype.Int8, "U64": dtype.Uint64, "U32": dtype.Uint32, "U16": dtype.Uint16, "U8": dtype.Uint8, "BOOL": dtype.Bool,
	"F8_E4M3": dtype.Float8E4M3FN, "F8_E5M2": dtype.Float8E5M2, "F8_E8M0": dtype.Float8E8M0, "C64": dtype.Complex64,
}

// safetensors reads a file of https://github.com/huggingface/safetensors: the length of a header (8 bytes, little-endian), the header,
// which is a JSON object of names, and the elements.
func (s *Set) safetensors(f io.ReaderAt, size int64) {
	read := func(at, n int64) []byte {
		b := make([]byte, n)
		must.Get(f.ReadAt(b, at))
		return b
	}
	n := int64(binary.LittleEndian.Uint64(read(0, 8)))
	if n > min(size-8, mostHeader) {
		must.Do(fmt.Errorf("offset 0: a header of %d bytes, expected at most %d", n, min(size-8, mostHeader)))
	}
	d := json.NewDecoder(bytes.NewReader(read(8, n)))
	here := func(err error) {
		if err != nil {
			must.Do(fmt.Errorf("offset %d: %w", 8+d.InputOffset(), err))
		}
	}
	token := func() json.Token {
		t, err := d.Token()
		here(err)
		return t
	}
	token()
	for d.More() {
		name, _ := token().(string)
		if name == "__metadata__" {
			var text json.RawMessage
			here(d.Decode(&text))
			continue
		}
		var t struct {
			Type  string   `json:"dtype"`
			Shape []int64  `json:"shape"`
			At    [2]int64 `json:"data_offsets"`
		}
		if err := d.Decode(&t); err != nil {
			here(fmt.Errorf("tensor %q: %w", name, err))
		}
		typ, ok := safeTypes[t.Type]
		if !ok {
			must.Do(fmt.Errorf("tensor %q has elements of type %q, expected one of those that numbers have here", name, t.Type))
		}
		v := contiguous(name, t.Shape)
		first, last, want := t.At[0], t.At[1], typ.Bytes(v.Len())
		if first < 0 || last < first || last > size-8-n || last-first != want {
			must.Do(fmt.Errorf("tensor %q lies at %d to %d of %d bytes, expected %d bytes inside for %s %v", name, first, last, size-8-n, want, typ, t.Shape))
		}
		s.put(name, typ, t.Shape, false, func() tiles { return elements(f, 8+n+first, typ, v) })
	}
	token()
}

// contiguous is how a tensor lies that has its elements side by side.
func contiguous(name string, shape []int64) layout.View {
	v, err := layout.Contiguous(shape)
	if err != nil {
		must.Do(fmt.Errorf("tensor %q: %w", name, err))
	}
	return v
}

func (s *Set) put(name string, t dtype.Type, shape []int64, big bool, open func() tiles) {
	s.Tensors = append(s.Tensors, &Tensor{Name: name, Type: t, Shape: shape, BigEndian: big, open: open})
}

func (s *Set) torch(f io.ReaderAt, size int64, name string) {
	for _, t := range must.Get(torch.ReadAll(f, size)).Tensors {
		s.put(cmp.Or(t.Name, name), t.Type, t.Shape, t.BigEndian, func() tiles { return must.Get(t.Reader(f)) })
	}
}

func (s *Set) array(f io.ReaderAt, size int64, name string) {
	h := must.Get(npy.Read(f, size))
	s.put(name, h.Type, h.Shape, h.BigEndian, func() tiles {
		v, err := layout.Contiguous(h.Shape)
		if h.Fortran {
			v, err = layout.Fortran(h.Shape)
		}
		must.Do(err)
		return elements(f, h.Offset, h.Type, v)
	})
}

// arrays reports whether a zip archive is one of numpy: all its members are .npy files.
func arrays(f io.ReaderAt, size int64) bool {
	z, err := zip.NewReader(f, size)
	return err == nil && len(z.File) > 0 && !slices.ContainsFunc(z.File, func(m *zip.File) bool { return !strings.HasSuffix(m.Name, ".npy") })
}

// mostInflated bounds the arrays of numpy.savez_compressed, which are held in memory.
const mostInflated = 1 << 30

var errInflated = fmt.Errorf("more than %d bytes when inflated", mostInflated)

// unzipped is the content of a member of an archive: where it lies, or in memory, of which so much is left.
func unzipped(f io.ReaderAt, size int64, m *zip.File, left *int64) (content io.ReaderAt, length int64) {
	inside(m.Name, func() {
		start := must.Get(m.DataOffset())
		if m.Method == zip.Store && m.Flags&1 == 0 {
			length = min(int64(m.CompressedSize64), size-start)
			content = io.NewSectionReader(f, start, length)
			return
		}
		r := must.Get(m.Open())
		defer r.Close()
		b, err := io.ReadAll(io.LimitReader(r, *left+1))
		if *left -= int64(len(b)); err == nil && *left < 0 {
			err = errInflated
		}
		must.Do(err)
		content, length = bytes.NewReader(b), int64(len(b))
	})
	return content, length
}

func (s *Set) npz(f io.ReaderAt, size int64) {
	left := int64(mostInflated)
	for _, m := range must.Get(zip.NewReader(f, size)).File {
		var content io.ReaderAt
		var length int64
		err := must.Try(func() { content, length = unzipped(f, size, m, &left) })
		if errors.Is(err, errInflated) {
			err = fmt.Errorf("%w; save the arrays with numpy.savez", err)
		}
		must.Do(err)
		inside(m.Name, func() { s.array(content, length, strings.TrimSuffix(m.Name, ".npy")) })
	}
}
