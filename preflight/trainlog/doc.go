// Package trainlog reads what trainings print, loss, loss scale, learning rate
// and norm of the gradients by step, and says where two trainings part.
//
// Lines are read one by one, so that a log may have any length. What stands in
// them is found by the words people and frameworks use (words.go), or by
// expressions that are given. A progress bar that is drawn anew counts once, with
// what it shows last.
package trainlog

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"precision/internal/order"
	"precision/internal/plainfile"
)

// Names of the series that are found without an expression.
const (
	Loss  = "loss"
	Scale = "loss_scale"
	Rate  = "learning_rate"
	Norm  = "grad_norm"
)

// Point is a value at a step.
type Point struct {
	Step  int64
	Value float64
}

// Number is a number in JSON, which has neither NaN nor infinities: these are texts.
type Number float64

// MarshalJSON writes the number, or its name.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !finite(v) {
		return json.Marshal(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	}
	return json.Marshal(float64(n))
}

// Series is what a log says of one quantity, by ascending steps.
type Series struct {
	Name   string
	Points []Point
	// Stride: of a long log only steps that are multiples of it are kept.
	Stride int64
}

// Drop is a step at which the loss scale was lowered, or an overflow that the
// log tells of. Step is -1 where the log has no steps before it.
type Drop struct {
	Step int64  `json:"step"`
	From Number `json:"from"`
	To   Number `json:"to"`
}

// Log is a training log.
type Log struct {
	Path   string
	Series []*Series
	// Drops are the first [MostDrops] times the loss scale fell, DropCount all.
	Drops     []Drop
	DropCount int
	// Lines counts lines, Replayed those steps that came again, as behind a restart
	// from a checkpoint; their last values count.
	Lines, Replayed int
	// Epochs is how many times the steps began again at the first one, without a word: the values are those of
	// another epoch, and go on from the last one.
	Epochs int
	// Torn is how the last line begins, if it has no end: the log was cut, or is being written.
	Torn string
	// ByEpoch: the values are those of epochs, whose numbers the steps are.
	ByEpoch bool
	// Events: they were read from event files, whose records Lines counts.
	Events bool
	// Settings are what the log says that the training was started with.
	Settings []Setting
	// Counted: the log names no steps; lines with a loss were counted instead.
	Counted bool
	// Given: its quantities are those that expressions asked for.
	Given bool
}

// Limits of what is kept.
const (
	MaxPoints = 1 << 18
	MostDrops = 10_000
	maxLine   = 1 << 16
	mostTorn  = 60
	// mostSeries bounds what a log that names everything makes of its words.
	mostSeries = 64
)

// Find is the series of a name, nil if the log has none.
func (l *Log) Find(name string) *Series {
	for _, s := range l.Series {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Size is how many bytes [Open] reads of a path.
func Size(path string) (n int64) {
	files := []string{path}
	if plainfile.IsFolder(path) {
		files, _ = eventFiles(path)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			n += info.Size()
		}
	}
	return n
}

// counted tells how many bytes were read.
type counted struct {
	io.Reader
	read func(n int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.read != nil {
		c.read(n)
	}
	return n, err
}

// Open reads a log, or event files of TensorBoard. With expressions only these are looked for in a log. read, unless nil, is told
// how many bytes were read since.
func Open(ctx context.Context, path string, given []Expression, read func(n int)) (*Log, error) {
	if IsEvents(path) {
		return openEvents(ctx, path, read)
	}
	file, _, err := plainfile.Open(path, "a training log")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	l, err := Read(ctx, counted{file, read}, given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if l.Path = path; len(l.Series) == 0 {
		return nil, &NothingError{path, l.Lines}
	}
	return l, nil
}

// Read reads a log from a stream.
func Read(ctx context.Context, from io.Reader, given []Expression) (*Log, error) {
	r := newReading(mostSeries)
	r.log.Given = len(given) > 0
	lines := bufio.NewReaderSize(from, maxLine)
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line = slices.Clone(line) // the front of a line that is too long counts
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
		}
		if len(line) > 0 {
			r.log.Lines++
			r.log.Torn = torn(line)
			// A progress bar returns to the front of its line, or steps back.
			for part := range strings.FieldsFuncSeq(string(line), func(c rune) bool { return c == '\r' || c == '\b' || c == '\n' }) {
				if len(given) > 0 {
					r.expressions(part, given)
				} else if !r.settings.take(part, r.log.Torn != "") {
					r.line(part)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	r.finish()
	return r.log, nil
}

// torn is the front of a line without an end, "" of one that has its end; that of JSON is its last brace.
func torn(line []byte) string {
	if len(line) == 0 || line[len(line)-1] == '\n' || line[len(line)-1] == '\r' || json.Valid(line) {
		return ""
	}
	parts := strings.FieldsFunc(string(line), func(c rune) bool { return c == '\r' || c == '\b' })
	if len(parts) == 0 {
		return ""
	}
	last := []rune(parts[len(parts)-1])
	return string(last[:min(len(last), mostTorn)])
}

// reading is a log that is being read.
type reading struct {
	log    *Log
	series map[string]*Series // those of the log by their names, of which there are most at most
	most   int
	// header are the columns of a table in csv form.
	header []string
	// last is the step in force, local as the log has it; offset is what earlier
	// epochs add where every epoch counts from its beginning.
	last, local, offset int64
	// first is the first step that was named.
	first int64
	epoch string
	named bool // a step was named once
	scale float64
	begun int // epochs that a line of their own began

	settings settings
}

func newReading(most int) *reading {
	return &reading{log: &Log{Drops: []Drop{}}, last: -1, series: map[string]*Series{}, most: most}
}

// leastEpoch is how many steps lie before one that begins again: a training that failed at once is started again.
const leastEpoch = 4

// step takes over a step that a line names. An epoch that begins to count anew
// goes on from the last one.
func (r *reading) step(n int64, epoch string) {
	if !r.named {
		r.first = n
	}
	again := n == r.first && epoch == "" && r.local-n >= leastEpoch
	if again {
		r.log.Epochs++
	}
	if r.named && n <= r.local && (again || epoch != r.epoch && epoch != "" && r.epoch != "") {
		if r.offset = r.last; n == 0 {
			r.offset++
		}
	} else if r.named && r.local < 0 && n == 0 { // a line of its own began the epoch
		r.offset++
	}
	if n+r.offset < r.last {
		r.log.Replayed++
	}
	if epoch != "" {
		r.epoch = epoch
	}
	r.local, r.last, r.named = n, n+r.offset, true
}

// value adds a value at the step in force.
func (r *reading) value(name string, v float64) {
	s := r.series[name]
	if s == nil {
		if len(r.series) >= r.most {
			return
		}
		s = &Series{Name: name, Stride: 1}
		r.series[name] = s
		r.log.Series = append(r.log.Series, s)
	}
	if name == Scale {
		if r.scale > v {
			r.drop(Drop{r.last, Number(r.scale), Number(v)})
		}
		r.scale = v
	}
	s.put(Point{r.last, v})
}

func (r *reading) drop(d Drop) {
	r.log.DropCount++
	if len(r.log.Drops) < MostDrops {
		r.log.Drops = append(r.log.Drops, d)
	}
}

// put keeps a point. Too many are thinned out by steps, so that two logs keep the
// same ones.
func (s *Series) put(p Point) {
	if p.Step%s.Stride != 0 {
		return
	}
	if n := len(s.Points); n > 0 && s.Points[n-1].Step >= p.Step {
		i, found := slices.BinarySearchFunc(s.Points, p.Step, func(q Point, step int64) int { return cmp.Compare(q.Step, step) })
		if found {
			s.Points[i] = p
			return
		}
		s.Points = slices.Insert(s.Points, i, p)
	} else {
		s.Points = append(s.Points, p)
	}
	for len(s.Points) > MaxPoints && s.Stride < math.MaxInt64/4 {
		s.Stride *= 2
		s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return p.Step%s.Stride != 0 })
	}
}

// finish orders the series: those that have a name of their own here first.
func (r *reading) finish() {
	own := []string{Loss, Scale, Rate, Norm}
	rank := func(s *Series) int { return (slices.Index(own, s.Name) + len(own) + 1) % (len(own) + 1) }
	order.Stable(r.log.Series, func(a, b *Series) int { return rank(a) - rank(b) })
	r.log.Counted = !r.named
	r.log.Settings = slices.DeleteFunc(r.settings.list, func(s Setting) bool { return !r.settings.taken && !ofEngine(s) })
	r.byEpoch()
}

// byEpoch numbers values by epochs where each has one: its last.
func (r *reading) byEpoch() {
	loss := r.log.Find(Loss)
	if loss == nil || r.begun < 2 || len(loss.Points) != r.begun || loss.Stride != 1 {
		return
	}
	place := map[int64]int64{}
	for i, p := range loss.Points {
		place[p.Step] = int64(i) + 1
	}
	for _, s := range r.log.Series {
		for _, p := range s.Points {
			if place[p.Step] == 0 {
				return
			}
		}
	}
	for _, s := range r.log.Series {
		for i := range s.Points {
			s.Points[i].Step = place[s.Points[i].Step]
		}
	}
	r.log.ByEpoch, r.log.Epochs, r.log.Counted = true, 0, false
}

// NothingError: no quantity was found in the lines of a file.
type NothingError struct {
	Path  string
	Lines int
}

func (e *NothingError) Error() string {
	return fmt.Sprintf("%s: found no quantity in %d lines", e.Path, e.Lines)
}
