package msprobe

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// settings are what the configuration of MindSpore's own dump begins with, one of them.
var settings = []string{"common_dump_settings", "e2e_dump_settings", "async_dump_settings"}

// headOfSettings is how much of a file is read for its first key.
const headOfSettings = 256

// Settings is the file at a path, or of that name in a folder, if it is called like a recording and is the configuration of
// MindSpore's own dump, which is often called so; empty if it is not.
func Settings(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		path = filepath.Join(path, DumpFile)
	}
	if info, err = os.Stat(path); err != nil || !info.Mode().IsRegular() || filepath.Base(path) != DumpFile {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, headOfSettings)
	n, _ := io.ReadFull(f, head)
	d := json.NewDecoder(bytes.NewReader(head[:n]))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	key, err := d.Token()
	if name, ok := key.(string); err != nil || !ok || !slices.Contains(settings, name) {
		return ""
	}
	return path
}
