package dump

import (
	"bufio"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"precision/internal/plainfile"
)

// MappingFile lists, in a folder of dumps, the real names of the files that
// were renamed because their names were too long for the file system.
const MappingFile = "mapping.csv"

// Mapping holds real names by the names on disk.
type Mapping map[string]string

// ReadMapping reads the mapping.csv of a folder, one "new,real" a line. A
// folder without one has an empty mapping. Lines that are not two bare file
// names are passed over with a warning, and so is a file that cannot be read.
func ReadMapping(dir string) (Mapping, []Warning) {
	path := filepath.Join(dir, MappingFile)
	f, _, err := plainfile.Open(path, "a list of names")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Warning{Warnf(path, 1, "not read: %v", pathCause(err))}
	}
	defer f.Close()
	m, warnings := Mapping{}, []Warning(nil)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4*maxName)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		disk, name, ok := strings.Cut(line, ",")
		if !ok || disk == "" || strings.Contains(name, ",") || plainfile.CheckName(name) != nil {
			warnings = Warn(warnings, Warnf(path, 0, "line %d: found %.80q, expected a new name, a comma and the real name", n, line))
			continue
		}
		m[disk] = name
	}
	if err := lines.Err(); err != nil {
		warnings = append(warnings, Warnf(path, 1, "not read to the end: %v", pathCause(err)))
	}
	return m, warnings
}

// Name parses the name of a file of the mapping's folder, the real one if it
// was renamed.
func (m Mapping) Name(file string) Name {
	if name, ok := m[file]; ok {
		return ParseName(name)
	}
	return ParseName(file)
}

// hashed tells whether a name looks like one that stands for another: digits
// alone, or with .npy.
func hashed(file string) bool { return numeric(strings.TrimSuffix(file, ".npy")) }
