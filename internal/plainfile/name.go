package plainfile

import (
	"fmt"
	"path/filepath"
	"strings"
)

// NameError: a name that was found in data is none of a file in a folder.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	const most = 80
	name := e.Name
	if len(name) > most {
		name = name[:most] + "…"
	}
	return fmt.Sprintf("found the file name %q, expected one without a path", name)
}

// CheckName refuses a name that was found in data, a recording, a list of names, a journal, and is not simply that
// of a file in a folder: it would lead elsewhere, on this system or on another. Every such
// name goes through here before it becomes part of a path.
func CheckName(name string) error {
	if strings.ContainsAny(name, "/\\\x00") || name == "." || !filepath.IsLocal(name) {
		return &NameError{name}
	}
	return nil
}
