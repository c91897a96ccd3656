package main

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes .deb and .rpm of the programs of a platform, if that is a Linux.
func (b *build) packages(target, share string) {
	system, arch, _ := strings.Cut(target, "/")
	if system != "linux" {
		return
	}
	pages := b.compressed(filepath.Join(share, "man"))
	for _, kind := range []struct {
		nfpm.Packager
		name string
		zsh  string // where its zsh looks for completions of packages
	}{{deb.Default, "deb", "/usr/share/zsh/vendor-completions/_precision"}, {rpm.DefaultRPM, "rpm", "/usr/share/zsh/site-functions/_precision"}} {
		contents := files.Contents{}
		add := func(to, from string, mode fs.FileMode) {
			contents = append(contents, &files.Content{Source: from, Destination: to,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: b.time}})
		}
		for _, name := range names {
			add("/usr/bin/"+name, b.program(target, name), 0o755)
		}
		under(pages, func(name, path string) { add("/usr/share/man/"+name, path, 0o644) })
		under(filepath.Join(share, "doc"), func(name, path string) { add("/usr/share/doc/precision/"+name, path, 0o644) })
		add("/usr/share/doc/precision/copyright", filepath.Join(share, "doc", "LICENSE"), 0o644)
		add("/usr/share/bash-completion/completions/precision", filepath.Join(share, "completions", "precision.bash"), 0o644)
		add("/usr/share/fish/vendor_completions.d/precision.fish", filepath.Join(share, "completions", "precision.fish"), 0o644)
		add(kind.zsh, filepath.Join(share, "completions", "precision.zsh"), 0o644)

		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "precision", Arch: arch, Platform: "linux", Version: b.version, VersionSchema: "none", Release: "1",
			Section: "science", Priority: "optional", Maintainer: "The precision authors <precision@localhost>", License: "Apache-2.0",
			Description: "finds where a network on Ascend NPUs goes wrong first\nCompares the tensors an NPU recorded with golden arrays of a CPU or GPU run, operator\nby operator, and names the first one that differs.",
			MTime:       b.time,
			Overridables: nfpm.Overridables{Contents: contents, Umask: 0o022,
				RPM: nfpm.RPM{BuildHost: "localhost", Summary: "finds where a network on Ascend NPUs goes wrong first", Compression: "gzip:9"}},
		})
		check(nfpm.PrepareForPackager(info, kind.name))
		var text bytes.Buffer
		check(kind.Package(info, &text))
		check(os.WriteFile(filepath.Join(b.out, kind.ConventionalFileName(info)), text.Bytes(), 0o644))
	}
}

// under calls add with the files below a folder, in the order of names.
func under(dir string, add func(name, path string)) {
	check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			add(filepath.ToSlash(name), path)
		}
		return err
	}))
}

// compressed is a copy of the manual pages as packages hold them.
func (b *build) compressed(pages string) string {
	dir := filepath.Join(b.work, "man.gz")
	under(pages, func(name, path string) {
		var to bytes.Buffer
		z := must(gzip.NewWriterLevel(&to, gzip.BestCompression))
		must(z.Write(must(os.ReadFile(path))))
		check(z.Close())
		out := filepath.Join(dir, filepath.FromSlash(name)+".gz")
		check(os.MkdirAll(filepath.Dir(out), 0o755))
		check(os.WriteFile(out, to.Bytes(), 0o644))
	})
	return dir
}
