package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"precision/dump"
	"precision/internal/each"
)

// converter is one run.
type converter struct {
	o Options
	// whole bounds the memory of what cannot be done tile by tile: one tensor
	// at a time.
	whole sync.Mutex
}

// job is one recording to convert.
type job struct {
	entry dump.Entry
	// name begins the names of all files but those of type MSNpy, which begin
	// with ms.
	name, ms string
	long     []Written // what got another name than it was to have
	note     string
	err      error // the job cannot be done
}

// Convert writes what is in the files. The error says that nothing was done:
// the folder of results cannot be used; it is a [*dump.Error]. An interrupted
// run returns the error of the context along with the report.
func Convert(ctx context.Context, files []string, o Options) (*Report, error) {
	o.Out = cmp.Or(o.Out, ".")
	if err := Folder(o.Out); err != nil {
		return nil, err
	}
	c := &converter{o: o}
	jobs := c.jobs(ctx, files)
	done := make([]*FileReport, len(jobs))
	c.each(ctx, len(jobs), func(i int, s *scratch) { done[i] = c.file(ctx, jobs[i], s) }, o.Progress)
	r := &Report{}
	for _, f := range done {
		if f != nil {
			r.Files = append(r.Files, f)
		}
	}
	c.lists(r, jobs)
	return r, ctx.Err()
}

// each calls do for 0…n-1, several at a time, until the context ends.
func (c *converter) each(ctx context.Context, n int, do func(i int, s *scratch), progress func(done, total int)) {
	each.Number(ctx, n, c.o.Workers, progress, func() func(int) {
		s := &scratch{}
		return func(i int) { do(i, s) }
	})
}

// jobs gives every file its names. No two get the same, so that none overwrites
// the results of another.
func (c *converter) jobs(ctx context.Context, files []string) []*job {
	jobs := make([]*job, len(files))
	mappings := map[string]dump.Mapping{}
	for i, path := range files {
		dir, base := filepath.Split(path)
		m, ok := mappings[dir]
		if !ok {
			m, _ = dump.ReadMapping(dir)
			mappings[dir] = m
		}
		j := &job{entry: dump.Entry{Path: path, Name: m.Name(base)}}
		if j.name = j.entry.Name.File; c.o.Compat {
			j.name = base
		}
		j.ms = j.name
		jobs[i] = j
	}
	if c.o.Type == MSNpy {
		c.each(ctx, len(jobs), func(i int, _ *scratch) {
			j := jobs[i]
			if f, err := j.entry.Open(); err == nil {
				j.ms = mindSpore(j.name, c.opName(f.File))
				f.Close()
			}
		}, nil)
	}
	taken, takenMS := map[string]string{}, map[string]string{}
	for _, j := range jobs {
		if other, ok := taken[j.name]; ok {
			j.err = errorf(j.entry.Path, CodeExists, nil, "%s would overwrite the results of %s", j.name, other)
			continue
		}
		taken[j.name] = j.entry.Path
		if c.o.Type != MSNpy {
			continue
		}
		if other, ok := takenMS[j.ms]; ok && j.ms != j.name {
			j.note = fmt.Sprintf("the name %s is that of %s already, the name of the file is used", j.ms, other)
			j.ms = j.name
		}
		if other, ok := takenMS[j.ms]; ok {
			j.err = errorf(j.entry.Path, CodeExists, nil, "%s would overwrite the results of %s", j.ms, other)
			continue
		}
		takenMS[j.ms] = j.entry.Path
	}
	return jobs
}

// code is the exit code of an error: with Compat what msaccucmp.py has for it,
// else the error's own.
func (c *converter) code(old int, err error) int {
	if c.o.Compat {
		return old
	}
	return dump.Code(err)
}

// file converts one recording.
func (c *converter) file(ctx context.Context, j *job, s *scratch) *FileReport {
	r := &FileReport{Path: j.entry.Path}
	if j.note != "" {
		r.warnf("%s", j.note)
	}
	if j.err != nil {
		r.fail(Part{}, dump.Code(j.err), j.err)
		r.settle(c.o.Format != nil)
		return r
	}
	f, err := j.entry.Open()
	if err != nil && c.set(ctx, j, r) {
		r.settle(false)
		return r
	}
	if err != nil {
		r.fail(Part{}, c.openCode(j.entry.Path, err), err)
		r.settle(c.o.Format != nil)
		return r
	}
	defer f.Close()
	r.Warnings = append(r.Warnings, f.Warnings...)
	(&work{c: c, ctx: ctx, j: j, r: r, f: f, scratch: s}).all()
	r.settle(c.o.Format != nil)
	return r
}

// openCode is the exit code for a file that cannot be read. msaccucmp.py takes
// a file of 8 bytes and less for a dump without tensors, unless it is called an
// array.
func (c *converter) openCode(path string, err error) int {
	if c.o.Compat {
		if info, e := os.Stat(path); e == nil && info.Size() > 0 && info.Size() <= 8 && !strings.HasSuffix(path, ".npy") {
			return 0
		} else if errors.Is(e, fs.ErrNotExist) {
			return dump.CodePath
		}
	}
	return dump.Code(err)
}
