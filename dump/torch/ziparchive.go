package torch

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"precision/internal/must"
)

// maxDirectory bounds how much of a file is read to list its members, which
// take several times that in memory: enough for some 40 000 tensors.
const maxDirectory = 4 << 20

// listing lets a zip reader read only so much before the members are known.
type listing struct {
	io.ReaderAt
	left int64
	open bool
}

var errDirectory = errors.New("the list of members is too long")

func (l *listing) ReadAt(p []byte, off int64) (int, error) {
	if !l.open {
		if l.left -= int64(len(p)); l.left < 0 {
			return 0, errDirectory
		}
	}
	return l.ReaderAt.ReadAt(p, off)
}

// members are the files of an archive by their names below its folder.
type members struct {
	byName map[string]*zip.File
	size   int64 // of the archive
}

// openArchive lists the members. All lie in one folder, whose name is that the
// archive had when it was written.
func openArchive(r io.ReaderAt, size int64) *members {
	l := &listing{ReaderAt: r, left: maxDirectory + 1<<17}
	z, err := zip.NewReader(l, size)
	if err != nil {
		must.Do(&FormatError{Offset: -1, Found: "a zip archive that cannot be listed (" + err.Error() + ")", Expected: "a whole one"})
	}
	l.open = true
	a := &members{map[string]*zip.File{}, size}
	root := ""
	for i, f := range z.File {
		folder, rest, ok := strings.Cut(f.Name, "/")
		if i == 0 {
			root = folder
		}
		if !ok || folder != root {
			must.Do(&FormatError{f.Name, -1, "a member outside the folder " + quoted(root), "all members in one folder, as torch.save writes them"})
		}
		if _, twice := a.byName[rest]; twice {
			must.Do(&FormatError{f.Name, -1, "two members of this name", "one"})
		}
		a.byName[rest] = f
	}
	for _, script := range [...]string{"constants.pkl", "code/"} {
		for n := range a.byName {
			if strings.HasPrefix(n, script) {
				must.Do(&UnsupportedError{path.Join(root, n), -1, "the file is a TorchScript program, not tensors"})
			}
		}
	}
	return a
}

// place returns where the content of a member lies in the file.
func (a *members) place(f *zip.File) int64 {
	if f.Method != zip.Store || f.Flags&1 != 0 || f.CompressedSize64 != f.UncompressedSize64 {
		must.Do(&UnsupportedError{f.Name, -1, "the member is compressed or encrypted, which torch.save does not do"})
	}
	start, err := f.DataOffset()
	if err != nil {
		must.Do(&FormatError{f.Name, -1, "a member without its header (" + err.Error() + ")", "one"})
	}
	if n := f.UncompressedSize64; start > a.size || n > uint64(a.size-start) {
		must.Do(&FormatError{f.Name, -1, fmt.Sprintf("%d bytes to the end of the file", max(a.size-start, 0)), fmt.Sprintf("%d", n)})
	}
	return start
}

// content reads a member as a whole.
func (a *members) content(r io.ReaderAt, f *zip.File) []byte {
	start := a.place(f)
	b := make([]byte, f.UncompressedSize64)
	if n, err := r.ReadAt(b, start); n < len(b) {
		must.Do(shortRead(f.Name, 0, n, len(b), err))
	}
	return b
}

func readArchive(r io.ReaderAt, size int64, any bool) *File {
	a := openArchive(r, size)
	pickle := a.byName["data.pkl"]
	if pickle == nil {
		must.Do(&FormatError{Offset: -1, Found: fmt.Sprintf("an archive of %d members without data.pkl", len(a.byName)), Expected: "one of torch.save"})
	}
	big := false
	if f := a.byName["byteorder"]; f != nil {
		if f.UncompressedSize64 > 16 {
			must.Do(&FormatError{f.Name, 0, fmt.Sprintf("%d bytes", f.UncompressedSize64), `"little" or "big"`})
		}
		switch b := a.content(r, f); string(b) {
		case "little":
		case "big":
			big = true
		default:
			must.Do(&FormatError{f.Name, 0, quoted(string(b)), `"little" or "big"`})
		}
	}
	m := &machine{part: pickle.Name, left: valueMemory + size, any: any}
	m.code = a.content(r, pickle)
	m.spend(int64(len(m.code)))
	m.find = func(m *machine, id tuple) *storage {
		s := m.storageID(id)
		f := a.byName["data/"+s.key]
		if f == nil {
			m.bad("storage "+quoted(s.key)+" without a member data/"+s.key, "its bytes in the archive")
		}
		if s.start = a.place(f); f.UncompressedSize64 != uint64(s.size) {
			must.Do(&FormatError{f.Name, -1, fmt.Sprintf("%d bytes", f.UncompressedSize64), fmt.Sprintf("%d, as the pickle says", s.size)})
		}
		return s
	}
	f := &File{}
	m.collect(f, m.run())
	for _, t := range f.Tensors {
		t.BigEndian = big && t.Type.Bits() > 8
	}
	return f
}
