package soak

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/dump/npy"
	"precision/dump/torch"
	"precision/internal/must"
)

// sound sees that a file is whole, as far as its format tells: a table, JSON, a page,
// a picture or an array. A temporary file is a fault unless orphans is set.
func sound(path string, orphans bool) error {
	if strings.HasPrefix(filepath.Base(path), ".precision-") {
		if orphans {
			return nil
		}
		return fmt.Errorf("%s was left behind", path)
	}
	if err := soundFile(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Sound sees that all files below a folder are whole and none is left behind.
func Sound(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return sound(path, false)
	})
}

// ends are how files of a sort end when they are whole.
var ends = map[string]string{".html": "</html>", ".svg": "</svg>", ".xml": "</testsuites>", ".dot": "}", ".gv": "}"}

func soundFile(path string) (err error) {
	defer must.Catch(&err)
	ext := filepath.Ext(path)
	switch ext {
	case ".npy":
		f := must.Get(npy.Open(path))
		defer f.Close()
		info, err := f.Stat()
		if err == nil && info.Size() != f.Offset+f.Size() {
			err = fmt.Errorf("has %d bytes, its header tells of %d", info.Size(), f.Offset+f.Size())
		}
		return err
	case ".pt":
		f := must.Get(torch.Open(path))
		return f.Close()
	}
	text := must.Get(os.ReadFile(path))
	switch ext {
	case ".csv":
		if !bytes.HasSuffix(text, []byte("\n")) {
			return fmt.Errorf("is cut: it ends with %.80q", text[max(0, len(text)-80):])
		}
		_, err := csv.NewReader(bytes.NewReader(text)).ReadAll() // rows of one length
		return err
	case ".json", ".sarif":
		must.Not(!json.Valid(text), "is no JSON: %.80q", text)
	default:
		if end := ends[ext]; end != "" && !bytes.HasSuffix(bytes.TrimSpace(text), []byte(end)) {
			return fmt.Errorf("is cut: it ends with %.80q", text[max(0, len(text)-80):])
		}
	}
	return nil
}

// snapshot has a word for the content of every file below a folder, by path, and
// for every folder.
func snapshot(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			all[rel] = "folder"
			return nil
		}
		text, err := os.ReadFile(path)
		h := fnv.New64a()
		h.Write(text)
		all[rel] = fmt.Sprintf("%d bytes, %x", len(text), h.Sum64())
		return err
	})
	return all, err
}

// stateFolder is where the last result of a user is kept, beside what a command writes.
const stateFolder = "state"

// untouched sees that a folder is as it was, but for what is in the folders that the
// command writes to and the last result.
func untouched(dir string, before map[string]string, writes []string) error {
	now, err := snapshot(dir)
	if err != nil {
		return err
	}
	mine := func(path string) bool {
		for _, w := range append([]string{stateFolder}, writes...) {
			if ok, _ := filepath.Match(w, path); ok || strings.HasPrefix(path, w+"/") {
				return true
			}
		}
		return false
	}
	for path, is := range now {
		if was := before[path]; was != is && !mine(path) {
			return fmt.Errorf("%s was written, outside of the output folder: %s, before %q", path, is, was)
		}
	}
	for path := range before {
		if now[path] == "" && !mine(path) {
			return fmt.Errorf("%s was removed", path)
		}
	}
	return nil
}
