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
func (b *build) archive(target, share string) {
	top := "precision_" + b.version + "_" + strings.ReplaceAll(target, "/", "_")
	var list []entry
	for _, name := range names {
		path := b.program(target, name)
		list = append(list, entry{top + "/" + filepath.Base(path), path, 0o755})
	}
	under(share, func(name, path string) {
		list = append(list, entry{top + "/" + strings.TrimPrefix(name, "doc/"), path, 0o644})
	})
	write, end := tarball, ".tar.gz"
	if strings.HasPrefix(target, "windows/") {
		write, end = zipped, ".zip"
	}
	f := must(os.OpenFile(filepath.Join(b.out, top+end), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644))
	defer f.Close()
	write(f, list, b.time)
	check(f.Close())
}

func tarball(w io.Writer, list []entry, when time.Time) {
	z := must(gzip.NewWriterLevel(w, gzip.BestCompression))
	t := tar.NewWriter(z)
	for _, e := range list {
		each(e.path, func(f io.Reader, size int64) {
			check(t.WriteHeader(&tar.Header{Name: e.name, Mode: int64(e.mode), Size: size, ModTime: when, Format: tar.FormatPAX}))
			must(io.Copy(t, f))
		})
	}
	check(t.Close())
	check(z.Close())
}

func zipped(w io.Writer, list []entry, when time.Time) {
	z := zip.NewWriter(w)
	for _, e := range list {
		each(e.path, func(f io.Reader, _ int64) {
			h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: when}
			h.SetMode(e.mode)
			must(io.Copy(must(z.CreateHeader(h)), f))
		})
	}
	check(z.Close())
}

// each opens a file.
func each(path string, do func(f io.Reader, size int64)) {
	f := must(os.Open(path))
	defer f.Close()
	do(f, must(f.Stat()).Size())
}

// sums writes SHA256SUMS over all files of a folder, as sha256sum -c reads it.
func sums(dir string) {
	var text strings.Builder
	under(dir, func(name, path string) {
		each(path, func(f io.Reader, _ int64) {
			h := sha256.New()
			must(io.Copy(h, f))
			fmt.Fprintf(&text, "%x  %s\n", h.Sum(nil), name)
		})
	})
	check(os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(text.String()), 0o644))
}
