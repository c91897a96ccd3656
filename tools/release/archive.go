package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file of an archive.
type entry struct {
	name, path string
	mode       fs.FileMode
}

// archive packs the programs of a platform with what goes with them: a zip for Windows,
// a tar elsewhere.
func (b *build) archive(target, share string) error {
	top := "precision_" + b.version + "_" + strings.ReplaceAll(target, "/", "_")
	var list []entry
	for _, name := range names {
		path := b.program(target, name)
		list = append(list, entry{top + "/" + filepath.Base(path), path, 0o755})
	}
	err := filepath.WalkDir(share, func(path string, d fs.DirEntry, err error) error { // in the order of names
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(share, path)
			list = append(list, entry{top + "/" + strings.TrimPrefix(filepath.ToSlash(name), "doc/"), path, 0o644})
		}
		return err
	})
	if err != nil {
		return err
	}
	write, end := tarball, ".tar.gz"
	if strings.HasPrefix(target, "windows/") {
		write, end = zipped, ".zip"
	}
	f, err := os.OpenFile(filepath.Join(b.out, top+end), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := write(f, list, b.time); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func tarball(w io.Writer, list []entry, when time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range list {
		err := each(e, func(f io.Reader, size int64) error {
			if err := t.WriteHeader(&tar.Header{Name: e.name, Mode: int64(e.mode), Size: size, ModTime: when, Format: tar.FormatPAX}); err != nil {
				return err
			}
			_, err := io.Copy(t, f)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func zipped(w io.Writer, list []entry, when time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range list {
		err := each(e, func(f io.Reader, _ int64) error {
			h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
			h.SetMode(e.mode)
			to, err := z.CreateHeader(h)
			if err != nil {
				return err
			}
			_, err = io.Copy(to, f)
			return err
		})
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// each opens the file of an entry.
func each(e entry, do func(f io.Reader, size int64) error) error {
	f, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return do(f, info.Size())
}

// sums writes SHA256SUMS over all files of a folder, as sha256sum -c reads it.
func sums(dir string) error {
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return each(entry{path: path}, func(f io.Reader, _ int64) error {
			h := sha256.New()
			if _, err := io.Copy(h, f); err != nil {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			fmt.Fprintf(&text, "%x  %s\n", h.Sum(nil), filepath.ToSlash(name))
			return nil
		})
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(text.String()), 0o644)
}
