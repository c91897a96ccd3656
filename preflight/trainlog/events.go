package trainlog

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"precision/internal/plainfile"
	"precision/internal/protofield"
	"precision/internal/tfrecord"
)

// Event files of TensorBoard, as TensorFlow, PyTorch and those built on them write them.
const (
	eventsName    = ".tfevents."
	eventsVersion = "brain.Event:"
	// mostTags is how many scalars are read of a run, mostFolders how many folders are looked through for runs.
	mostTags, mostFolders = 1024, 1000
)

// IsEvents tells whether a path is an event file of TensorBoard, or a folder with some.
func IsEvents(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		files, err := eventFiles(path)
		return err == nil && len(files) > 0
	}
	if !strings.Contains(filepath.Base(path), "tfevents") {
		return false
	}
	head := plainfile.Front(path, 16)
	return head != nil && (len(head) == 0 || tfrecord.Is(head))
}

// eventFiles are the event files at or below a folder, by the run that they are of, in the order in which they were begun:
// their names have the time.
func eventFiles(dir string) (found []string, err error) {
	folders := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if folders++; folders > mostFolders {
				return fmt.Errorf("%s: more than %d folders, name one further down", dir, mostFolders)
			}
		case e.Type().IsRegular() && strings.Contains(e.Name(), eventsName):
			found = append(found, path)
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b string) int { return strings.Compare(filepath.Dir(a), filepath.Dir(b)) })
	return found, err
}

// EventsError is an event file that cannot be read from a place on.
type EventsError struct {
	Path   string
	Offset int64
	What   string
}

func (e *EventsError) Error() string {
	return fmt.Sprintf("%s: offset %d: %s", e.Path, e.Offset, e.What)
}

// openEvents reads the scalars of event files: of a folder those of every run in it, under the run's name.
func openEvents(ctx context.Context, name string, read func(n int)) (*Log, error) {
	files, err := []string{name}, error(nil)
	if plainfile.IsFolder(name) {
		if files, err = eventFiles(name); err != nil {
			return nil, err
		}
	}
	l := &Log{Path: name, Events: true}
	runs := map[string]*events{}
	var order []*events
	for _, file := range files {
		run := ""
		if rel, err := filepath.Rel(name, filepath.Dir(file)); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
			run = filepath.ToSlash(rel)
		}
		e := runs[run]
		if e == nil {
			e = &events{reading: &reading{log: &Log{}, last: -1, series: map[string]*Series{}, most: mostTags}, run: run}
			runs[run] = e
			order = append(order, e)
		}
		if err := e.read(ctx, file, read); err != nil {
			return nil, err
		}
	}
	for _, e := range order {
		e.log.Torn = strings.TrimSpace(e.log.Torn)
		e.names(len(order) > 1)
		l.Lines += e.log.Lines
		l.Replayed += e.log.Replayed
		l.Drops, l.DropCount = append(l.Drops, e.log.Drops...), l.DropCount+e.log.DropCount
		l.Series = append(l.Series, e.log.Series...)
		l.Torn = cmp.Or(l.Torn, e.log.Torn)
	}
	if len(l.Series) == 0 {
		return nil, &NothingError{name, l.Lines}
	}
	return l, nil
}

// events are those of a run.
type events struct {
	*reading
	run string
}

// read reads a file. Where it ends within a record it was cut, or is being written.
func (e *events) read(ctx context.Context, file string, read func(n int)) error {
	f, _, err := plainfile.Open(file, "a training log")
	if err != nil {
		return err
	}
	defer f.Close()
	version := ""
	err = tfrecord.Walk(bufio.NewReaderSize(counted{f, read}, 1<<20), func(rec tfrecord.Record) error {
		e.log.Lines++
		if e.log.Lines%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := e.event(rec.Head, rec.Size, &version)
		if errors.Is(err, protofield.Err) {
			err = errEvent
		}
		if errors.Is(err, errEvent) {
			return &EventsError{file, rec.Offset, err.Error()}
		}
		return err
	})
	var bad *tfrecord.Error
	switch {
	case errors.As(err, &bad) && bad.Cut:
		e.log.Torn = fmt.Sprintf("%s: %v", filepath.Base(file), bad)
		return nil
	case errors.As(err, &bad):
		return &EventsError{file, bad.Offset, bad.What}
	}
	return err
}

var errEvent = errors.New("a record is no event of TensorBoard")

// event takes the scalars of an Event message.
func (e *events) event(b []byte, size int64, version *string) error {
	step, summary := int64(0), []byte(nil)
	err := protofield.Message(b).Walk(func(num protowire.Number, v protofield.Value) error {
		switch num {
		case 2:
			step = int64(v.Number)
		case 3:
			if *version = string(v.Bytes); !strings.HasPrefix(*version, eventsVersion) {
				return fmt.Errorf("%w: it is of version %q, expected %s2", errEvent, *version, eventsVersion)
			}
		case 5:
			summary = v.Bytes
		}
		return nil
	})
	if size > int64(len(b)) {
		return nil // a picture or a graph
	}
	if err != nil {
		return err
	}
	stepped := false // once a record
	return protofield.Message(summary).Walk(func(num protowire.Number, f protofield.Value) error {
		if num != 1 {
			return nil
		}
		tag, v, scalar, err := scalarOf(f)
		if err == nil && scalar {
			if s := e.series[tag]; s != nil && !stepped && len(s.Points) > 0 && s.Points[len(s.Points)-1].Step > step {
				e.log.Replayed++
				stepped = true
			}
			e.last, e.named = step, true
			e.value(tag, v)
		}
		return err
	})
}

// scalarOf reads a value of a summary: a number, or a tensor of one.
func scalarOf(message protofield.Value) (tag string, v float64, scalar bool, err error) {
	err = message.Walk(func(num protowire.Number, f protofield.Value) error {
		switch num {
		case 1:
			tag = string(f.Bytes)
		case 2:
			v, scalar = float64(math.Float32frombits(uint32(f.Number))), true
		case 8:
			v, scalar = numberOf(f)
		}
		return nil
	})
	return tag, v, scalar && tag != "", err
}

// numberOf is the number in a TensorProto without dims.
func numberOf(tensor protofield.Value) (v float64, ok bool) {
	kind, dims := uint64(0), false
	err := tensor.Walk(func(num protowire.Number, f protofield.Value) error {
		number, text := f.Number, f.Bytes
		switch num {
		case 1:
			kind = number
		case 2:
			dims = len(text) > 0
		case 4, 5, 6: // bytes, float32s, float64s; a single number of the latter may stand alone
			switch {
			case text == nil && num == 5, kind == 1 && len(text) == 4:
				if text != nil {
					w, _ := protowire.ConsumeFixed32(text)
					number = uint64(w)
				}
				v, ok = float64(math.Float32frombits(uint32(number))), true
			case text == nil && num == 6, kind == 2 && len(text) == 8:
				if text != nil {
					number, _ = protowire.ConsumeFixed64(text)
				}
				v, ok = math.Float64frombits(number), true
			}
		case 7, 10: // integers
			if text != nil {
				number, _ = protowire.ConsumeVarint(text)
			}
			v, ok = float64(int64(number)), true
		}
		return nil
	})
	return v, ok && !dims && err == nil
}

// names gives the series of a run their names: a tag whose last part is a word for one of the quantities that have
// names of their own here has that name if no other has it, all others are what they are called.
func (e *events) names(several bool) {
	e.finish()
	count := map[string]int{}
	for _, s := range e.log.Series {
		count[column(path.Base(s.Name))]++
	}
	for _, s := range e.log.Series {
		if own := column(path.Base(s.Name)); !several && own != "" && own != "step" && count[own] == 1 {
			s.Name = own
		} else if several && e.run != "" {
			s.Name = e.run + "/" + s.Name
		}
	}
}
