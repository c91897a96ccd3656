package convert

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump"
)

// FailedList is the file, in the folder of results, that lists the recordings
// and tensors that could not be converted.
const FailedList = "convert_failed_file_list.txt"

// Source is what a user named to be converted.
type Source struct {
	// Files are the recordings: in the order in which they were listed, or by
	// name if a folder was named. Links are resolved, none occurs twice.
	Files []string
	// Single means that it is one file, named as such.
	Single bool
	// Folder means that it is a folder.
	Folder bool
	// Missing tells of the listed files that are not there.
	Missing []*dump.Error
	// Warnings tell what was passed over.
	Warnings []dump.Warning
}

// Files finds the recordings that spec names: a file, several with commas
// between them, or a folder, of which it takes the files but not the folders.
// If all but one of those listed are missing, that one may be a folder.
//
// In a folder mapping.csv and the list of failures are left out, and so is what
// a converter wrote: with compat only if the recording lies beside it, as in a
// folder that is converted into itself for the second time. Without compat the
// statistics of dumps are left out, too.
//
// Errors are of type [*dump.Error]: nothing of that name, or an empty folder.
func Files(spec string, compat bool) (*Source, error) {
	s := &Source{}
	path, info, err := look(spec)
	if err == nil {
		return s, s.one(path, info, compat)
	}
	if !strings.Contains(spec, ",") {
		return nil, err
	}
	type found struct {
		path string
		info fs.FileInfo
	}
	var all []found
	for name := range strings.SplitSeq(spec, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if path, info, err := look(name); err != nil {
			s.Missing = append(s.Missing, err)
		} else {
			all = append(all, found{path, info})
		}
	}
	switch len(all) {
	case 0:
		return s, errorf(spec, dump.CodePath, nil, "none of these files exists")
	case 1:
		return s, s.one(all[0].path, all[0].info, compat)
	}
	for _, f := range all {
		switch {
		case f.info.IsDir():
			s.warn(f.path, "a folder in a list of files, passed over")
		case !slices.Contains(s.Files, f.path):
			s.Files = append(s.Files, f.path)
		}
	}
	return s, nil
}

func (s *Source) warn(path, text string) {
	s.Warnings = dump.Warn(s.Warnings, dump.Warning{Path: path, Text: text})
}

// look resolves a path.
func look(name string) (string, fs.FileInfo, *dump.Error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		if e, ok := err.(*fs.PathError); ok {
			err = e.Err
		}
		return "", nil, errorf(name, dump.CodePath, err, "")
	}
	return path, info, nil
}

// one takes a single path.
func (s *Source) one(path string, info fs.FileInfo, compat bool) error {
	if !info.IsDir() {
		s.Files, s.Single = []string{path}, true
		return nil
	}
	s.Folder = true
	entries, err := os.ReadDir(path)
	if err != nil {
		return errorf(path, dump.CodePath, cause(err), "the folder cannot be read")
	}
	if len(entries) == 0 {
		return errorf(path, CodeParameter, nil, "the folder is empty")
	}
	mapping, warnings := dump.ReadMapping(path)
	s.Warnings = append(s.Warnings, warnings...)
	r := results{}
	for _, e := range entries {
		r[stem(e.Name())] = true
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		name := mapping.Name(e.Name())
		info, err := os.Stat(file) // of the target, if it is a link
		switch {
		case err != nil:
			s.warn(file, "not a readable file, passed over")
		case info.IsDir() || e.Name() == dump.MappingFile || e.Name() == FailedList:
		case !info.Mode().IsRegular():
			s.warn(file, "not a plain file, passed over")
		case compat && r.of(name.File):
			s.warn(file, "the result of a conversion, passed over")
		case !compat && (name.Kind == dump.Converted || name.Kind == dump.Statistics):
			s.warn(file, "no recording by its name, passed over")
		default:
			s.Files = append(s.Files, file)
		}
	}
	return nil
}

// results tells the results of converting the recordings of a folder, by their stems.
type results map[string]bool

// of tells whether a file is such a result: its name goes on behind that of a
// recording with the part it holds.
func (r results) of(file string) bool {
	for _, part := range []string{".input.", ".output.", ".l1buffer.", ".Nonebuffer.", ".space."} {
		if i := strings.LastIndex(file, part); i > 0 && r[stem(file[:i])] {
			return true
		}
	}
	return false
}

// stem is a recording's name without the operator, which results of type MSNpy
// have by its last part only.
func stem(file string) string {
	if fields := strings.Split(file, "."); len(fields) == 5 {
		fields[1] = ""
		return strings.Join(fields, ".")
	}
	return file
}
