package trainlog

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
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

	"precision/internal/must"
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

// openEvents reads the scalars of event files: of a folder those of every run in it, under the run's name.
func openEvents(ctx context.Context, name string, read func(n int)) (_ *Log, err error) {
	defer must.Catch(&err)
	files := []string{name}
	if plainfile.IsFolder(name) {
		files = must.Get(eventFiles(name))
	}
	l := &Log{Path: name, Events: true, Drops: []Drop{}}
	var runs []*events
	for _, file := range files {
		run := ""
		if rel, err := filepath.Rel(name, filepath.Dir(file)); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
			run = filepath.ToSlash(rel)
		}
		if len(runs) == 0 || runs[len(runs)-1].run != run {
			runs = append(runs, &events{newReading(mostTags), run})
		}
		must.Do(runs[len(runs)-1].read(ctx, file, read))
	}
	for _, e := range runs {
		e.names(len(runs) > 1)
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
	err = tfrecord.Walk(bufio.NewReaderSize(counted{f, read}, 1<<20), func(rec tfrecord.Record) error {
		e.log.Lines++
		if e.log.Lines%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := e.event(rec)
		if errors.Is(err, protofield.Err) {
			err = errEvent
		}
		if errors.Is(err, errEvent) {
			return &tfrecord.Error{Offset: rec.Offset, What: err.Error()}
		}
		return err
	})
	bad, ok := errors.AsType[*tfrecord.Error](err)
	switch {
	case ok && bad.Cut:
		e.log.Torn = fmt.Sprintf("%s: %v", filepath.Base(file), bad)
		return nil
	case ok:
		return fmt.Errorf("%s: %w", file, bad)
	}
	return err
}

var errEvent = errors.New("a record is no event of TensorBoard")

// event takes the scalars of an Event message.
func (e *events) event(rec tfrecord.Record) error {
	if rec.Size > int64(len(rec.Head)) {
		return nil // a picture or a graph
	}
	step, version, summary := int64(0), eventsVersion, protofield.Value{}
	err := protofield.Message(rec.Head).Read(protofield.Fields{2: &step, 3: &version, 5: func(v protofield.Value) error {
		summary = v
		return nil
	}})
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(version, eventsVersion):
		return fmt.Errorf("%w: it is of version %q, expected %s2", errEvent, version, eventsVersion)
	}
	stepped := false // once a record
	return summary.Read(protofield.Fields{1: func(f protofield.Value) error {
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
	}})
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
	const float, double = 1, 2
	kind, dims := uint64(0), false
	err := tensor.Walk(func(num protowire.Number, f protofield.Value) error {
		alone := f.Bytes == nil // as a single number may stand
		switch num {
		case 1:
			kind = f.Number
		case 2:
			dims = len(f.Bytes) > 0
		case 4, 5, 6: // bytes, float32s, float64s
			switch {
			case alone && num == 5:
				v, ok = float64(math.Float32frombits(uint32(f.Number))), true
			case alone && num == 6:
				v, ok = math.Float64frombits(f.Number), true
			case kind == float && len(f.Bytes) == 4:
				v, ok = float64(math.Float32frombits(binary.LittleEndian.Uint32(f.Bytes))), true
			case kind == double && len(f.Bytes) == 8:
				v, ok = math.Float64frombits(binary.LittleEndian.Uint64(f.Bytes)), true
			}
		case 7, 10: // integers
			if !alone {
				f.Number, _ = protowire.ConsumeVarint(f.Bytes)
			}
			v, ok = float64(int64(f.Number)), true
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
