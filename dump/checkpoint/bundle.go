package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump/dtype"
	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/protofield"
	"precision/internal/tfrecord"
)

// A checkpoint of TensorFlow is a table, PREFIX.index, of where each tensor lies in the files PREFIX.data-SHARD-of-COUNT. The table
// is one of LevelDB: blocks of keys in order, each key without what it shares with the one before.
const (
	indexEnd    = ".index"
	tableFooter = 48
	tableMagic  = 0xdb4775248b80fb57
	// blockTrailer is how a block is compressed and its checksum.
	blockTrailer = 5
	// mostTable is more than any index: 100 bytes a tensor.
	mostTable = 256 << 20

	variableEnd = "/.ATTRIBUTES/VARIABLE_VALUE"
	objectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH"
)

// indexOf is the index of a checkpoint of TensorFlow that is named as TensorFlow does, without an ending, or by one of its files.
func indexOf(path string) (string, bool) {
	if at := strings.LastIndex(path, ".data-"); at > 0 && strings.Contains(path[at:], "-of-") {
		path = path[:at]
	}
	if plainfile.IsFile(path + indexEnd) {
		if _, err := os.Stat(path); err != nil || !strings.HasSuffix(path, indexEnd) {
			return path + indexEnd, true
		}
	}
	return path, false
}

// indexIn is the index of the checkpoint in a folder, or that of the variables of a SavedModel: the last one, if a file says
// which that is; empty without one.
func indexIn(dir string) (string, error) {
	if saved := filepath.Join(dir, "variables", "variables"+indexEnd); plainfile.IsFile(saved) && (plainfile.IsFile(filepath.Join(dir, "saved_model.pb")) || plainfile.IsFile(filepath.Join(dir, "saved_model.pbtxt"))) {
		return saved, nil
	}
	list, err := filepath.Glob(filepath.Join(escaped(dir), "*"+indexEnd))
	if err != nil || len(list) == 0 {
		return "", nil // no pattern is no checkpoint
	}
	slices.Sort(list)
	if len(list) == 1 {
		return list[0], nil
	}
	state, err := plainfile.ReadFile(filepath.Join(dir, "checkpoint"), what, 1<<20)
	if err == nil {
		for line := range strings.Lines(string(state)) {
			if name, ok := strings.CutPrefix(line, "model_checkpoint_path:"); ok {
				last := filepath.Join(dir, filepath.Base(strings.Trim(strings.TrimSpace(name), `"`))+indexEnd)
				if slices.Contains(list, last) {
					return last, nil
				}
			}
		}
	}
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], indexEnd)
	}
	return "", fmt.Errorf("%s: holds %d checkpoints, name one of them: %s", dir, len(list), strings.Join(list, ", "))
}

// escaped is a folder in a pattern.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// isBundle tells the index of a checkpoint by the end of the file.
func isBundle(f io.ReaderAt, size int64) bool {
	var end [8]byte
	if size < tableFooter {
		return false
	}
	_, err := f.ReadAt(end[:], size-8)
	return err == nil && binary.LittleEndian.Uint64(end[:]) == tableMagic
}

// bundleEntry is where a tensor lies.
type bundleEntry struct {
	key                 string
	kind                uint64
	shape               []int64
	shard, offset, size int64
	sliced              bool
}

// bundle reads the index of a checkpoint, and opens the files that hold its tensors.
func (s *Set) bundle(f io.ReaderAt, size int64, path string) {
	entries, shards, big := readIndex(f, size)
	s.Weights = true
	prefix := strings.TrimSuffix(path, indexEnd)
	type shard struct {
		path string
		file io.ReaderAt
		size int64
	}
	files := map[int64]*shard{}
	open := func(n int64) *shard {
		if files[n] == nil {
			part := fmt.Sprintf("%s.data-%05d-of-%05d", prefix, n, shards)
			f, size, err := plainfile.Open(part, what)
			must.Do(err)
			s.files = append(s.files, f)
			files[n] = &shard{part, f, size}
		}
		return files[n]
	}
	names := map[string]string{}
	for _, e := range entries {
		if e.key == objectGraph {
			part := open(e.shard)
			names = fullNames(io.NewSectionReader(part.file, e.offset, e.size), e.size)
		}
	}
	taken := map[string]bool{}
	for _, e := range entries {
		typ, known := dtype.FromTensorFlow(e.kind)
		if !known || e.sliced { // texts, and what stands for slices that are entries of their own
			continue
		}
		part, v := open(e.shard), contiguous(e.key, e.shape)
		if want := typ.Bytes(v.Len()); e.size != want || e.offset < 0 || e.offset > part.size-e.size {
			must.Do(fmt.Errorf("tensor %q lies at %d to %d of the %d bytes of %s, expected %d bytes inside for %s %v", e.key, e.offset, e.offset+e.size, part.size, part.path, want, typ, e.shape))
		}
		name := strings.TrimSuffix(e.key, variableEnd)
		if full := names[e.key]; full != "" && !taken[full] {
			name = full
		}
		taken[name] = true
		s.put(name, typ, e.shape, big, func() tiles { return elements(part.file, e.offset, typ, v) })
	}
}

var errTable = errors.New("found no index of a checkpoint of TensorFlow, expected a table of LevelDB")

// readIndex reads the entries of an index, how many files hold the tensors, and the order of their bytes.
func readIndex(f io.ReaderAt, size int64) (entries []bundleEntry, shards int64, big bool) {
	if size > mostTable {
		must.Do(fmt.Errorf("an index of %d bytes, expected at most %d", size, int64(mostTable)))
	}
	b := make([]byte, size)
	must.Get(f.ReadAt(b, 0))
	read := func(value []byte, fields protofield.Fields) {
		if protofield.Message(value).Read(fields) != nil {
			must.Do(errTable)
		}
	}
	footer := b[size-tableFooter:]
	_, n := handle(footer) // of the index of what else there is
	at, _ := handle(footer[n:])
	shards = 1
	block(b, at, func(_ string, value []byte) {
		at, _ := handle(value)
		block(b, at, func(key string, value []byte) {
			if key == "" {
				order := uint64(0)
				read(value, protofield.Fields{1: &shards, 2: &order})
				big = order == 1
				return
			}
			e := bundleEntry{key: key}
			read(value, protofield.Fields{1: &e.kind, 2: protofield.Dims(&e.shape), 3: &e.shard, 4: &e.offset, 5: &e.size, 7: &e.sliced})
			entries = append(entries, e)
		})
	})
	return entries, shards, big
}

// handle reads where a block is: its place and its size.
func handle(b []byte) (at [2]uint64, n int) {
	for i := range at {
		v, m := binary.Uvarint(b[n:])
		if m <= 0 {
			must.Do(errTable)
		}
		at[i], n = v, n+m
	}
	return at, n
}

// block gives the keys and values of a block.
func block(file []byte, at [2]uint64, take func(key string, value []byte)) {
	refuseIf := func(bad bool) {
		if bad {
			must.Do(fmt.Errorf("offset %d: %w", at[0], errTable))
		}
	}
	refuseIf(at[0] > uint64(len(file)) || at[1] > uint64(len(file)) || at[0]+at[1]+blockTrailer > uint64(len(file)) || at[1] < 4)
	b, trailer := file[at[0]:at[0]+at[1]], file[at[0]+at[1]:][:blockTrailer]
	if tfrecord.Checksum(file[at[0]:at[0]+at[1]+1]) != binary.LittleEndian.Uint32(trailer[1:]) {
		must.Do(fmt.Errorf("offset %d: the checksum of a block is wrong", at[0]))
	}
	if trailer[0] != 0 {
		must.Do(fmt.Errorf("offset %d: a block that is compressed, expected none, as TensorFlow writes them", at[0]))
	}
	restarts := uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	refuseIf(4*restarts+4 > uint64(len(b)))
	b = b[:uint64(len(b))-4*restarts-4]
	var key []byte
	for len(b) > 0 {
		var lengths [3]uint64 // shared with the last key, of the rest of the key, of the value
		for i := range lengths {
			v, n := binary.Uvarint(b)
			refuseIf(n <= 0)
			lengths[i], b = v, b[n:]
		}
		refuseIf(lengths[0] > uint64(len(key)) || lengths[1] > uint64(len(b)) || lengths[2] > uint64(len(b))-lengths[1])
		key = append(key[:lengths[0]], b[:lengths[1]]...)
		take(string(key), b[lengths[1]:lengths[1]+lengths[2]])
		b = b[lengths[1]+lengths[2]:]
	}
}

// fullNames are the names that variables have in the program, by their keys. Without such names, or if they
// cannot be read, keys are names.
func fullNames(r io.Reader, size int64) map[string]string {
	names := map[string]string{}
	if size > mostTable {
		return names
	}
	b, err := io.ReadAll(io.LimitReader(r, size))
	if err != nil {
		return names
	}
	length, n := binary.Uvarint(b) // of the only text, and a checksum
	if n <= 0 || uint64(len(b)) < uint64(n)+4+length {
		return names
	}
	// The graph: nodes (1), whose attributes (2) have the program's name (2) and the key (3).
	bad := protofield.Message(b[n+4:][:length]).Read(protofield.Fields{1: protofield.Fields{2: func(v protofield.Value) error {
		full, key := "", ""
		err := v.Read(protofield.Fields{2: &full, 3: &key})
		if full != "" {
			names[key] = full
		}
		return err
	}}})
	if bad != nil {
		return map[string]string{}
	}
	return names
}

// hdf5Magic begins HDF5 files.
var hdf5Magic = []byte("\x89HDF\r\n\x1a\n")

// isHDF5 tells a file of HDF5, in front of which a user block may be.
func isHDF5(head []byte) bool {
	return slices.ContainsFunc([]int{0, 512, 1024, 2048}, func(at int) bool { return bytes.HasPrefix(head[min(at, len(head)):], hdf5Magic) })
}
