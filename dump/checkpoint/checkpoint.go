// Package checkpoint recognises files of weights: those hold a network and no run, and people who
// want to compare weights give them to programs that compare runs.
package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"precision/internal/plainfile"
)

// looked is how much of a file is read; the name of its first tensor is at the beginning.
const looked = 4096

// Of is the program that wrote a checkpoint, or the first one in a folder, and the path of that file; it is
// empty for anything else.
func Of(path string) (kind, file string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", ""
	case !info.IsDir():
		return ofFile(path, info.Size()), path
	}
	for _, pattern := range []string{"*.ckpt", "*.safetensors"} {
		list, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return "", "" // no pattern
		}
		slices.Sort(list)
		for _, file := range list {
			if plainfile.IsFile(file) {
				if kind := ofFile(file, info.Size()); kind != "" {
					return kind, file
				}
			}
		}
	}
	return "", ""
}

func ofFile(path string, size int64) string {
	if !plainfile.IsFile(path) {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, looked)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return ""
	}
	head = head[:n]
	switch {
	case isSafetensors(head, size):
		return "safetensors"
	case isMindSpore(head):
		return "MindSpore"
	}
	return ""
}

// isSafetensors tells a file that begins with the length of a JSON object and that.
func isSafetensors(head []byte, size int64) bool {
	if len(head) < 10 {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 2 || int64(n) < 0 || int64(n) > size-8 || head[8] != '{' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(head[8:]))
	_, err := d.Token()
	if key, _ := d.Token(); err == nil {
		_, named := key.(string)
		return named || key == json.Delim('}')
	}
	return false
}

// isMindSpore tells a file that begins with a value of MindSpore's checkpoint.proto: its name, and a tensor or what
// stands for one.
func isMindSpore(head []byte) bool {
	num, typ, n := protowire.ConsumeTag(head)
	if n < 0 || num != 1 || typ != protowire.BytesType {
		return false
	}
	_, m := protowire.ConsumeVarint(head[n:])
	if m < 0 {
		return false
	}
	value := head[n+m:]
	num, typ, n = protowire.ConsumeTag(value)
	if n < 0 || num != 1 || typ != protowire.BytesType {
		return false
	}
	name, m := protowire.ConsumeBytes(value[n:])
	if m < 0 || len(name) == 0 || slices.ContainsFunc(name, func(b byte) bool { return b < ' ' || b > '~' }) {
		return false
	}
	value = value[n+m:]
	num, typ, n = protowire.ConsumeTag(value)
	if n < 0 || typ != protowire.BytesType || num > 2 {
		return n > 0 && typ == protowire.BytesType && num <= 4
	}
	// A tensor has its shape first, or its type: a node of a graph has a name and a text, too.
	_, m = protowire.ConsumeVarint(value[n:])
	inner, _, k := protowire.ConsumeTag(value[min(n+max(m, 0), len(value)):])
	return num == 2 && (m < 0 || k < 0 || inner <= 2)
}
