package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump"
	"precision/internal/plainfile"
)

// maxList bounds the lists of earlier runs that are kept.
const maxList = 64 << 20

// lists writes the list of failures and the mapping of long names.
func (c *converter) lists(r *Report, jobs []*job) {
	var rows []string
	for _, j := range jobs {
		for _, l := range j.long {
			if strings.ContainsAny(l.Name, ",\r\n") {
				r.Errors = append(r.Errors, errorf(l.Path, CodeWrite, nil, "the name %q cannot be written in %s", l.Name, dump.MappingFile))
				continue
			}
			rows = append(rows, filepath.Base(l.Path)+","+l.Name)
		}
	}
	c.extend(r, dump.MappingFile, rows, true)
	if c.o.Single {
		return
	}
	rows = nil
	for _, f := range r.Files {
		if f.Code == 0 {
			continue
		}
		line := f.Path
		if c.o.Format != nil {
			for _, x := range f.Failures {
				if x.Code != 0 && (x.Part.Group == Input || x.Part.Group == Output) {
					line += "," + x.Part.String()
				}
			}
		}
		rows = append(rows, line)
	}
	c.extend(r, FailedList, rows, c.o.Compat)
}

// extend writes lines to a list in the folder of results, if there are any. With
// keep the lines that are there stay; else the list is that of this run, and gone if it is empty.
func (c *converter) extend(r *Report, name string, lines []string, keep bool) {
	path := filepath.Join(c.o.Out, name)
	if len(lines) == 0 {
		if !keep {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				r.Errors = append(r.Errors, errorf(path, CodeWrite, cause(err), "the list of an earlier run cannot be removed"))
			}
		}
		return
	}
	var text string
	if keep {
		old, err := plainfile.ReadFile(path, "a list", maxList)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Errors = append(r.Errors, errorf(path, CodeWrite, cause(err), "not extended"))
			return
		}
		if text = string(old); text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if !c.o.Compat { // a row says the same twice
			have := map[string]bool{}
			for l := range strings.Lines(text) {
				have[strings.TrimRight(l, "\r\n")] = true
			}
			lines = slices.DeleteFunc(lines, func(l string) bool { return have[l] })
		}
	}
	if len(lines) == 0 {
		return
	}
	if err := write(path, []byte(text+strings.Join(lines, "\n")+"\n")); err != nil {
		e, _ := errors.AsType[*dump.Error](err)
		r.Errors = append(r.Errors, e)
	}
}
