package dump

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump/tfdbg"
)

const (
	// maxDepth is more than the six levels that producers make: time, device,
	// model, model id, step, and a folder or two around them.
	maxDepth = 10
	// maxFolders bounds the search when somebody names the root of a disk.
	maxFolders = 20000
)

// Resolve finds the folder that holds the recordings: dir itself, or the only
// one below it that does, as when …/dump/<time> is named instead of
// …/dump/<time>/<device>/<model>/<id>/<step>. If there are several, they are
// returned in choices, sorted, with an error that lists them. Other errors are
// those of [Scan]. Links to folders below dir are not followed.
func Resolve(dir string) (data string, choices []string, err error) {
	if err := listable(dir); err != nil {
		return "", nil, err
	}
	found, visited, err := walk(dir, maxFolders)
	if err != nil {
		return "", nil, err
	}
	switch len(found) {
	case 0:
		return "", nil, noDumps(dir, visited-1)
	case 1:
		return found[0], nil, nil
	}
	slices.Sort(found)
	return "", found, errorf(dir, CodeFolder, -1, "dumps are in %d folders, name one of them: %s", len(found), listed(found))
}

// Folders lists the folders at or below dir that hold recordings, sorted; at most
// is how many folders may be looked at. Errors are those of [Resolve], but several
// folders are none.
func Folders(dir string, most int) ([]string, error) {
	if err := listable(dir); err != nil {
		return nil, err
	}
	found, visited, err := walk(dir, most)
	if err == nil && len(found) == 0 {
		err = noDumps(dir, visited-1)
	}
	slices.Sort(found)
	return found, err
}

// noDumps says that a folder holds no recordings, nor do the folders below it.
func noDumps(dir string, below int) error {
	for _, e := range List(dir) {
		for _, f := range append(List(filepath.Join(dir, e.Name())), e) {
			if strings.HasPrefix(f.Name(), firstDebugger) {
				return errorf(dir, CodeFolder, -1, "no dumps but a run of TensorFlow 1's debugger (%s), of which precision tf_dump makes golden arrays", f.Name())
			}
		}
	}
	switch below {
	case 0:
		return errorf(dir, CodeFolder, -1, "no dumps in this folder")
	case 1:
		return errorf(dir, CodeFolder, -1, "no dumps in this folder, nor in the one below it")
	}
	return errorf(dir, CodeFolder, -1, "no dumps in this folder, nor in the %d below it", below)
}

// firstDebugger begins the names of the folders that the debugger of TensorFlow 1 writes for a device, in one for the run.
const firstDebugger = "_tfdbg_device_"

// walk looks for folders with recordings, at most so many folders.
func walk(dir string, most int) (found []string, visited int, err error) {
	var down func(dir string, depth int) error
	down = func(dir string, depth int) error {
		if visited++; visited > most {
			return fmt.Errorf("more than %d folders, name one further down", most)
		}
		has, may, folders := look(dir)
		if has {
			found = append(found, dir)
			return nil
		}
		before := len(found)
		for _, sub := range folders {
			if depth == maxDepth {
				break
			}
			if err := down(filepath.Join(dir, sub), depth+1); err != nil {
				return err
			}
		}
		if may && len(found) == before {
			found = append(found, dir) // whoever lists it says what is missing
		}
		return nil
	}
	if err := down(dir, 0); err != nil {
		return nil, visited, &Error{Path: dir, Code: CodeFolder, Offset: -1, Err: err}
	}
	return found, visited, nil
}

// listed is a list for a message, cut when long.
func listed(paths []string) string {
	const most = 10
	if len(paths) <= most {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), len(paths)-most)
}

// listable tells why a folder cannot be listed, nil if it can.
func listable(dir string) error {
	// The look comes first: to open a named pipe is to wait for a writer.
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return errorf(dir, CodePath, -1, "not a folder")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(dir)
	}
	if err == nil {
		defer f.Close()
		_, err = f.ReadDir(1)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return &Error{Path: dir, Code: CodePath, Offset: -1, Err: pathCause(err)}
}

// look tells whether a folder has recordings, and else which folders are in
// it, sorted. It stops at the first recording: such a folder may have a
// hundred thousand. A folder that cannot be read has nothing. may: there is a file whose
// name is a number, as renamed ones have it, but no list of real names; any program may have left it there.
func look(dir string) (has, may bool, folders []string) {
	f, err := os.Open(dir)
	if err != nil {
		return false, false, nil
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			switch {
			case e.IsDir():
				folders = append(folders, e.Name())
			case e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0:
				switch {
				case recording(e.Name()):
					return true, false, nil
				case hashed(e.Name()) && !may:
					if _, err := os.Stat(filepath.Join(dir, MappingFile)); err == nil {
						return true, false, nil
					}
					may = true
				}
			}
		}
		if err != nil {
			slices.Sort(folders)
			return false, may, folders
		}
	}
}

// recording tells whether a file is one that Scan would list, by its own name.
func recording(file string) bool {
	if tfdbg.Is(file) {
		return true
	}
	switch ParseName(file).Kind {
	case Offline, Exception, Array, Standard, Quant, Debug:
		return true
	}
	return false
}
