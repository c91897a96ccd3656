package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/dump/torch"
	"precision/internal/each"
	"precision/internal/must"
	"precision/internal/plainfile"
	catalogue "precision/op"
)

// A check of recordings of calls (msprobe of PyTorch and MindSpore, and kernels of MindSpore
// itself): reading them, the files of their tensors, and running the calls through judging. What
// one call goes through is in bound.go, what ranks do together in ranks.go, and what a module is
// made of in modules.go.
//
// Calls are independent, as each is judged by the arguments that were recorded with it: a wrong
// result earlier on is an input like any other, and accuses no one twice. So they are judged by
// several workers, each with files of its own, which are opened when something needs their elements
// and closed with the call.

// RecordingJob is a check of recordings of calls, as msprobe makes them.
type RecordingJob struct {
	Recordings []msprobe.Recording
	// Kernels are recordings of MindSpore itself, kernel by kernel.
	Kernels  []mindspore.Recording
	Full     bool
	Workers  int // below 1: as many as there are processors
	Progress func(done, total int)
	// Only, if set, chooses calls by their names.
	Only func(call string) bool
	// Keep is that of [Settings].
	Keep bool
}

// recordedCall is a call of a recording with what belongs to it.
type recordedCall struct {
	*msprobe.Call
	of    *recordedCalls
	name  string // with the step and rank before it, where there are several
	order int
	meets *assembly // with the calls of other ranks, nil for what a rank does by itself
	// first is the place of its first output, where it is a part of another call.
	first int
	bad   []result.Damage
}

// recordedCalls are the calls of one recording.
type recordedCalls struct {
	from    *msprobe.Recording
	header  msprobe.Header
	prefix  string
	calls   []*recordedCall
	index   map[string]*recordedCall
	inside  map[string][]string // the calls within a module
	kernels bool                // it was dumped kernel by kernel
	keep    bool                // elements of wrong outputs
	device  bool                // some calls ran on an NPU or GPU
	owns    bool                // some modules have their parameters recorded
	bad     []result.Damage     // what cannot be read of its files
	step    []*recordedCalls    // of all ranks of the step, this one too
	before  *recordedCalls      // of the step before, nil without one
	// most is how many outputs the calls of a function have, counted when first asked for.
	most     map[string]int
	counting sync.Once
	// summands are the outputs that ranks have one summand each of, by form, looked for when first
	// asked for.
	summands map[string][]partOfSum
	summing  sync.Once
	// path is the file of a tensor by its DataName.
	path func(dataName string) (string, error)
}

// Run checks all calls of all recordings. Findings are in the order of recording;
// they do not depend on the number of workers. Damaged is what of the files could
// not be read. On an error, that of the context or of a file that cannot be read at
// all, what was found so far is returned along with it.
func (j RecordingJob) Run(ctx context.Context) (findings []Finding, bad []result.Damage, err error) {
	var tasks []*recordedCall
	var opened []*recordedCalls
	for i := range len(j.Recordings) + len(j.Kernels) {
		var r *recordedCalls
		var err error
		if i < len(j.Recordings) {
			r, err = readCalls(&j.Recordings[i])
		} else {
			r, err = readKernels(&j.Kernels[i-len(j.Recordings)])
		}
		if err != nil {
			return nil, bad, err
		}
		if len(j.Recordings)+len(j.Kernels) > 1 {
			r.prefix = recordingLabel(r.from) + "/"
		}
		r.keep = j.Keep
		opened = append(opened, r)
		for _, d := range r.bad {
			d.Name = r.prefix + d.Name
			bad = append(bad, d)
		}
		for _, c := range r.calls {
			c.name = r.prefix + c.Name
		}
	}
	type step struct {
		mode string
		n    int
	}
	steps := map[step][]*recordedCalls{}
	for _, r := range opened {
		at := step{r.from.Mode, r.from.Step}
		steps[at] = append(steps[at], r)
	}
	for _, r := range opened {
		r.step = steps[step{r.from.Mode, r.from.Step}]
		for _, o := range opened {
			if o.from.Mode == r.from.Mode && o.from.Rank == r.from.Rank && o.from.Step < r.from.Step && (r.before == nil || o.from.Step > r.before.from.Step) {
				r.before = o
			}
		}
	}
	meetings := assemblies(opened, j.Only)
	for _, r := range opened {
		for _, c := range r.calls {
			if c.meets != nil {
				continue // judged with the calls of other ranks
			}
			if c.Parsed.Form == msprobe.API || c.Parsed.Form == msprobe.Module {
				if j.Only == nil || j.Only(c.name) {
					tasks = append(tasks, c)
				}
			}
		}
	}
	total := len(tasks) + len(meetings)
	progress := func(before int) func(done, of int) {
		if j.Progress == nil {
			return nil
		}
		return func(done, _ int) { j.Progress(before+done, total) }
	}
	findings = checked(ctx, len(tasks), j.Workers, progress(0), func(i int, budget *budget) []Finding {
		need := budget.take(tasks[i].needs(j.Full))
		defer budget.give(need)
		return tasks[i].check(j.Full)
	})
	settleLooser(findings)
	if j.Only == nil {
		rest := findings
		for _, r := range opened {
			n := 0
			for n < len(rest) && strings.HasPrefix(rest[n].Op, r.prefix) {
				n++
			}
			r.compose(rest[:n])
			rest = rest[n:]
		}
	}
	findings = append(findings, checked(ctx, len(meetings), j.Workers, progress(len(tasks)), func(i int, _ *budget) []Finding {
		return meetings[i].check(ctx)
	})...)
	for _, c := range tasks {
		bad = append(bad, c.bad...)
	}
	for _, m := range meetings {
		for _, c := range m.calls {
			if c != nil {
				bad = append(bad, c.bad...)
			}
		}
	}
	if j.Only == nil {
		findings = addRemarks(sources(opened, findings), append(replicas(opened), jumps(opened)...))
	}
	return append(findings, j.gaps()...), unreported(bad, findings), ctx.Err()
}

// unreported is the damage that no finding reports, as it leaves an output unknown.
func unreported(bad []result.Damage, findings []Finding) []result.Damage {
	type place struct {
		file   string
		offset int64
	}
	reported := map[place]bool{}
	for i := range findings {
		if d := findings[i].Damage; d != nil && findings[i].Verdict == Unknown {
			reported[place{d.File, d.Offset}] = true
		}
	}
	return slices.DeleteFunc(bad, func(d result.Damage) bool { return reported[place{d.File, d.Offset}] })
}

// gaps are findings for processes that are missing: ranks that another step has, of a step that
// has other ranks.
// Only where all recordings have a step and a rank.
func (j RecordingJob) gaps() (list []Finding) {
	if j.Only != nil {
		return nil
	}
	type process struct {
		mode       string
		step, rank int
	}
	there := map[process]bool{}
	var steps, ranks []process
	for i := range j.Recordings {
		r := &j.Recordings[i]
		if r.Step < 0 || r.Rank < 0 {
			return nil
		}
		there[process{r.Mode, r.Step, r.Rank}] = true
		if x := (process{r.Mode, r.Step, 0}); !slices.Contains(steps, x) {
			steps = append(steps, x)
		}
		if x := (process{r.Mode, 0, r.Rank}); !slices.Contains(ranks, x) {
			ranks = append(ranks, x)
		}
	}
	for _, s := range steps {
		for _, r := range ranks {
			if s.mode == r.mode && !there[process{s.mode, s.step, r.rank}] {
				label := recordingLabel(&msprobe.Recording{Mode: s.mode, Step: s.step, Rank: r.rank})
				list = append(list, refused([]Finding{newFinding(label, "", 0, 0)}, because(NoProcess))...)
			}
		}
	}
	return list
}

// recordingLabel names a recording by its step and rank.
func recordingLabel(r *msprobe.Recording) string {
	var parts []string
	if r.Mode != "" {
		parts = append(parts, r.Mode)
	}
	if r.Step >= 0 {
		parts = append(parts, "step"+strconv.Itoa(r.Step))
	}
	switch {
	case r.Rank >= 0:
		parts = append(parts, "rank"+strconv.Itoa(r.Rank))
	case r.Process >= 0:
		parts = append(parts, "proc"+strconv.Itoa(r.Process))
	}
	return strings.Join(parts, "/")
}

// mostDamage bounds what is told of one recording's files.
const mostDamage = 1000

// cut notes what cannot be read of a file of the recording.
func (r *recordedCalls) cut(kind result.Kind, file string, err error) {
	if len(r.bad) < mostDamage {
		r.bad = append(r.bad, result.DamageOf(filepath.Base(file), file, result.Because(kind, err.Error()), err))
	}
}

// readCalls reads the calls of a recording, without elements.
func readCalls(from *msprobe.Recording) (*recordedCalls, error) {
	f, err := msprobe.Open(from.Dump)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &recordedCalls{from: from, index: map[string]*recordedCall{}, inside: map[string][]string{}, path: from.File}
	for f.Scan() {
		switch rec := f.Result().(type) {
		case *msprobe.Call:
			c := &recordedCall{Call: rec.Clone(), of: r, order: len(r.calls)}
			r.calls = append(r.calls, c)
			r.device = r.device || onDevice(c.Call)
			r.owns = r.owns || slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Section == msprobe.Parameters })
			if r.index[c.Name] == nil {
				r.index[c.Name] = c
			}
		case *msprobe.SyntaxError:
			r.cut(result.RecordingCut, from.Dump, rec)
		}
	}
	r.header = f.Header()
	if err := f.Err(); err != nil {
		return nil, err
	}
	// Names stay as they are in the file; which forward call a backward call is of goes by the number.
	for at, number := range msprobe.BackwardNumbers(each.Of(r.calls, func(c *recordedCall) msprobe.Name { return c.Parsed })) {
		r.calls[at].Parsed.Number = number
	}
	return r, r.readModules()
}

// readKernels reads the kernels of a recording of MindSpore as calls of primitives.
func readKernels(from *mindspore.Recording) (*recordedCalls, error) {
	it, err := mindspore.Load(*from)
	if err != nil {
		return nil, err
	}
	list := it.Calls()
	r := &recordedCalls{from: &msprobe.Recording{Dir: from.Dir, Mode: from.Label(), Step: from.Step, Rank: from.Rank, Process: -1}, index: map[string]*recordedCall{},
		inside: map[string][]string{}, path: list.Path, header: msprobe.Header{Framework: "mindspore"}, kernels: true}
	for _, e := range it.Remarks {
		r.cut(result.FileDamaged, from.Dir, e)
	}
	for _, c := range list.Calls {
		if c.Parsed.Class == mindspore.State {
			continue
		}
		c.Parsed.Prefix, c.Parsed.API, c.Parsed.Class = "Primitive", c.Parsed.Class, ""
		call := &recordedCall{Call: c, of: r, order: len(r.calls)}
		r.calls = append(r.calls, call)
		r.index[c.Name] = call
	}
	return r, nil
}

// ofDevice tells of the prefix of a function that it runs on an NPU alone.
func ofDevice(prefix string) bool { return prefix == "NPU" || prefix == "MindSpeed" }

// onDevice reports whether a call says that it ran on an NPU or GPU.
func onDevice(c *msprobe.Call) bool {
	if ofDevice(c.Parsed.Prefix) {
		return true
	}
	for i := range c.Values {
		v := &c.Values[i]
		if (v.Kind == msprobe.Device || v.Kind == msprobe.Scalar) && (strings.HasPrefix(v.Value.S, "npu") || strings.HasPrefix(v.Value.S, "cuda")) {
			return true
		}
	}
	return false
}

// readModules reads which calls were made in which module.
func (r *recordedCalls) readModules() error {
	if r.from.Construct == "" {
		return nil
	}
	in, err := openPlain(r.from.Construct)
	if err != nil {
		r.cut(result.FileDamaged, r.from.Construct, err)
		return nil
	}
	defer in.Close()
	c, err := msprobe.ReadConstruct(in, r.from.Construct)
	if c == nil {
		return err
	}
	for _, bad := range c.Errors {
		r.cut(result.FileDamaged, r.from.Construct, bad)
	}
	for child, parent := range c.Parent {
		if parent != "" {
			r.inside[parent] = append(r.inside[parent], child)
		}
	}
	for _, list := range r.inside {
		slices.Sort(list)
	}
	return err
}

// forward is the forward call of a backward one.
func (c *recordedCall) forward() *recordedCall {
	n := c.Parsed
	n.Direction = msprobe.Forward
	return c.of.index[n.String()]
}

// needs estimates the memory that a check takes. 4 MB for buffers, 64 MB more of a whole check, and
// 4 bytes for each element of tensors that may be held.
func (c *recordedCall) needs(full bool) int64 {
	var n int64 = 4 << 20
	if full {
		n += 64 << 20
	}
	for _, x := range []*recordedCall{c, c.forward()} {
		if x == nil {
			continue
		}
		for i := range x.Values {
			if e, ok := x.Values[i].Elements(); ok && x.Values[i].DataName != "" && e <= maxHeld {
				n += 4 * e
			}
		}
		if c == c.forward() {
			break
		}
	}
	return n
}

// blank is the finding of an output before it is judged.
func (c *recordedCall) blank(v *msprobe.Value, index int) Finding {
	f := newFinding(c.name, c.kind(), int64(c.order), index)
	f.function = c.kind() + "." + c.Parsed.Direction.String()
	if v != nil {
		f.Shape, f.DType = v.Shape, v.Elem
		if n, ok := v.Elements(); ok {
			f.Elements = n
		}
	}
	return f
}

// results is how many tensors the outputs of a call have at least: of a gradient one for each input
// that asked for one, else as many as other calls of the function have.
func (r *recordedCalls) results(c *recordedCall) int {
	r.counting.Do(func() {
		r.most = map[string]int{}
		for _, c := range r.calls {
			n := 0
			for i := range c.Values {
				if v := &c.Values[i]; v.Section == msprobe.Output && v.Kind == msprobe.Tensor {
					n++
				}
			}
			function := c.kind() + "." + c.Parsed.Direction.String()
			r.most[function] = max(r.most[function], n)
		}
	})
	n := 0
	if c.Parsed.Direction == msprobe.Backward && c.Parsed.Form != msprobe.Module {
		if forward := c.forward(); forward != nil {
			for i := range forward.Values {
				if v := &forward.Values[i]; v.Section == msprobe.Input && v.RequiresGrad == msprobe.Yes {
					n++
				}
			}
		}
	}
	return max(n, r.most[c.kind()+"."+c.Parsed.Direction.String()])
}

// kind is the function with its namespace, or the class of a module.
func (c *recordedCall) kind() string {
	if c.Parsed.Form == msprobe.Module {
		return c.Parsed.Prefix + "." + c.Parsed.Class
	}
	return c.Parsed.Prefix + "." + c.Parsed.API
}

// check judges the outputs of a call. Complex numbers that are only moved are judged part by part,
// and are what the worse of both is.
func (c *recordedCall) check(full bool) []Finding {
	if !c.movesComplex() {
		return c.checkPart(full, &files{path: c.of.path})
	}
	out := c.checkPart(full, &files{path: c.of.path, of: realPart})
	for i, f := range c.checkPart(full, &files{path: c.of.path, of: imaginaryPart}) {
		if f.Verdict == Wrong || out[i].Verdict == OK {
			out[i] = f
		}
	}
	return out
}

// movesComplex tells a call that moves complex numbers, and others that are places alone.
func (c *recordedCall) movesComplex() (complex bool) {
	for i := range c.Values {
		v := &c.Values[i]
		if v.Kind == msprobe.Tensor && v.Known && !v.Elem.IsComplex() && !discrete(v.Elem) {
			return false
		}
		complex = complex || v.Kind == msprobe.Tensor && v.Known && v.Elem.IsComplex() && v.Section != msprobe.Output
	}
	if !complex {
		return false
	}
	row := catalogue.Of(c.Parsed.API)
	f, base, _, _ := called(c.Parsed.Prefix, c.Parsed.API, c.of.header.Framework)
	// A number that is put somewhere is real, and of a conjugate the sign is another.
	return f != nil && row.Traits&catalogue.Moves != 0 && row.Traits&catalogue.Shaped == 0 && !slices.Contains(f.params, "value") && !strings.Contains(base, "conj") && base != "adjoint"
}

// checkPart judges the outputs by files. A defect of this package is one call's unknown.
func (c *recordedCall) checkPart(full bool, files *files) (out []Finding) {
	r := recordedOf(c.Call)
	for i, a := range r.flat {
		if a.tensor() {
			out = append(out, c.blank(a.v, i))
		}
	}
	defer func() {
		files.close()
		c.glance(files)
	}()
	switch {
	case len(out) > 0:
	case c.Outputs || c.Parsed.Direction == msprobe.NoDirection && !slices.ContainsFunc(c.Values, func(v msprobe.Value) bool { return v.Kind == msprobe.Tensor }):
		return c.mended(files, full) // nothing was computed that is recorded
	default: // recorders write the outputs of every call, if there are none as an empty list
		out = []Finding{c.blank(nil, 0)}
		for i := 1; i < c.of.results(c); i++ {
			out = append(out, c.blank(nil, i))
		}
		return refused(out, because(NoResult))
	}
	defer func() {
		if p := recover(); p != nil {
			out = refused(out, because(Crashed, p))
		}
	}()
	if !slices.ContainsFunc(r.flat, func(a *argument) bool { return a.tensor() && (a.v.DataName != "" || elementless(a.v)) }) {
		claim, known := c.claim(r)
		for i := range out {
			c.statisticsOnly(r, &out[i], claim, known)
		}
		return out
	}
	if c.unfilled() {
		return refused(out, because(Unfilled))
	}
	b := &bound{recordedCall: c, r: r, files: files}
	if err := b.prepare(); err != nil {
		return failed(out, err, nil, "")
	}
	defer b.call.release()
	passed := c.passed()
	for i := range out {
		if b.judge(&out[i], full); passed && out[i].Verdict != OK {
			out[i] = c.blank(r.flat[out[i].Index].v, out[i].Index)
			unknown(&out[i], because(Passed))
		}
	}
	return append(out, c.mended(files, full)...)
}

// unfilled tells a call whose results are memory that nothing has been written to.
func (c *recordedCall) unfilled() bool {
	return c.Parsed.Unfilled(msprobe.Output, "0", func(msprobe.Section, string) (msprobe.Number, bool) { return msprobe.Number{}, false })
}

// passed tells a backward call whose forward call may have returned its argument itself. The
// recorder then takes the gradients of the call that made it.
func (c *recordedCall) passed() bool {
	f := c.forward()
	return c.Parsed.Direction == msprobe.Backward && f != nil && f.Passes()
}

func elementless(v *msprobe.Value) bool {
	n, ok := v.Elements()
	return ok && n == 0
}

// unknown says why an output is not known.
func unknown(f *Finding, reasons ...result.Reason) {
	f.Verdict, f.Reasons = Unknown, append(f.Reasons, reasons...)
}

// This file opens the tensors of a recording of calls: .pt files of PyTorch and
// arrays of MindSpore.

// files are the open files of a call.
type files struct {
	path   func(dataName string) (string, error)
	open   []io.Closer
	read   map[string]error   // what came of it, by the data name
	known  map[string]operand // as they were opened
	sliced bool               // a file holds more than its tensor: parts of tensors were recorded
	device bool               // a tensor was on a device other than the CPU
	beside []*files           // of the same call on other ranks
	of     complexPart        // what complex numbers are taken for
}

// complexPart is what complex numbers are taken for, if for anything.
type complexPart int

const (
	noPart complexPart = iota
	realPart
	imaginaryPart
)

// take makes a tensor of complex numbers one of a part of each.
func (p complexPart) take(o *operand) {
	n := count(o.shape)
	refuseIf(n > maxDense, TooLarge, n, maxDense)
	raw, both := make([]byte, o.typ.Bytes(n)), make([]float64, 2*n)
	must.Do(o.rd.ReadTile(raw, 0, n))
	dtype.Widen64(o.typ, both, raw)
	made := inMemory(o.name, map[dtype.Type]dtype.Type{dtype.Complex32: dtype.Float16, dtype.Complex64: dtype.Float32, dtype.Complex128: dtype.Float64}[o.typ], o.shape)
	for i := range n {
		if x := both[2*i+int64(p-realPart)]; made.f32 != nil {
			made.f32[i] = float32(x)
		} else {
			made.f64[i] = x
		}
	}
	made.part = o.part
	*o = *made
}

func (f *files) close() {
	for _, c := range f.open {
		c.Close()
	}
	for _, other := range f.beside {
		other.close()
	}
}

// tensor opens a recorded tensor; name is for messages. Each file is opened once; only shapes and
// types that fit are taken from it again. A tensor without statistics or file is one that the
// recorder could not read, as FRACTAL_NZ.
func (f *files) tensor(v *msprobe.Value, name string) (*operand, error) {
	return must.Of(func() *operand { return f.opened(v, name) })
}

func (f *files) opened(v *msprobe.Value, name string) *operand {
	n, ok := v.Elements()
	o := &operand{name: name, typ: v.Elem, shape: v.Shape}
	refuseIf(!v.Known || !computes(v.Elem) && (f.of == noPart || !v.Elem.IsComplex()), BadType, name, v.DType)
	refuseIf(!ok || len(v.Shape) > maxRank, BadLayout, name, "rank "+itoa(len(v.Shape)))
	hollow(v.Shape)
	refuseIf(v.DataName == "" && n != 0, NoElements, name)
	if v.DataName == "" {
		f.empty(o)
		return o
	}
	if was, ok := f.known[v.DataName]; ok && slices.Equal(was.shape, o.shape) && (v.Elem == was.numeric() || v.Elem.IsComplex()) {
		was.name = name
		return &was
	}
	path, err := f.path(v.DataName)
	switch {
	case err != nil:
	case strings.HasSuffix(path, ".npy"):
		err = plainfile.At(path, must.Try(func() { f.array(o, path, n) }))
	default:
		err = plainfile.At(path, must.Try(func() { f.saved(o, path) }))
	}
	if err == nil && o.typ.IsComplex() {
		err = must.Try(func() { f.of.take(o) })
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && v.Max.Kind == msprobe.Null && v.Min.Kind == msprobe.Null && v.Norm.Kind == msprobe.Null && !narrowFloat(v.Elem):
		err = refuse(NotWritten, name, layout.FractalNZ, err)
	default:
		err = refuse(BadTensor, name, err)
	}
	if f.read == nil {
		f.read = map[string]error{}
	}
	f.read[v.DataName] = err
	must.Do(err)
	if f.known == nil {
		f.known = map[string]operand{}
	}
	f.known[v.DataName] = *o
	return o
}

// glance looks at the files of a call that nothing was computed from: of text, or of what its
// formula does not take. What cannot be read of them is damaged all the same, as is what was
// opened to no avail: an argument may give its type alone, and is not missed then.
func (c *recordedCall) glance(f *files) {
	for i := range c.Values {
		v := &c.Values[i]
		if v.DataName == "" {
			continue
		}
		name := c.name + ":" + v.Section.String() + ":" + v.Path
		path, err := f.path(v.DataName)
		if was, ok := f.read[v.DataName]; ok {
			err = was
		} else if err = opens(path, err); err != nil {
			err = refuse(BadTensor, name, err)
		}
		if err != nil && !errors.Is(err, msprobe.ErrNoTensors) {
			c.bad = append(c.bad, result.DamageOf(name, path, reasonOf(err), err))
		}
	}
}

// opens tells why the file of a tensor cannot be opened, if it cannot; err is why it has no path.
func opens(path string, err error) error {
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, ".npy") {
		a, err := dump.OpenFile(path)
		if err == nil {
			a.Close()
		} else if dump.Code(err) == dump.CodeType {
			return nil // no numbers, and whole
		}
		return err
	}
	t, err := torch.Open(path)
	if err == nil {
		t.Close()
	}
	return err
}

// empty makes the tensor without elements that it takes no file for.
func (f *files) empty(o *operand) {
	v, err := layout.Contiguous(o.shape)
	refuseIf(err != nil, BadLayout, o.name, err)
	o.src, o.view = strings.NewReader(""), v
	o.rd = must.Get(layout.NewReader(o.src, 0, o.typ.Bits()/8, o.view))
}

// saved opens a file of torch.save.
func (f *files) saved(o *operand, path string) {
	file := must.Get(torch.Open(path))
	f.open = append(f.open, file)
	t := must.Get(file.Bare())
	if t.Type != o.typ || !slices.Equal(t.Shape, o.shape) {
		panic(must.Failure(fmt.Errorf("found %s %v, recorded %s %v", t.Type, t.Shape, o.typ, o.shape)))
	}
	if t.BigEndian {
		panic(must.Failure(errors.New("found big-endian elements, expected little-endian ones")))
	}
	o.src, o.base, o.view = file, t.Start, must.Get(t.View())
	o.part = t.Part()
	f.sliced = f.sliced || o.part
	f.device = f.device || t.Device() != "" && t.Device() != "cpu"
	o.rd = must.Get(layout.NewReader(o.src, o.base, o.typ.Bits()/8, o.view))
}

// array opens an array of numpy. MindSpore keeps bfloat16 as float32 there.
func (f *files) array(o *operand, path string, n int64) {
	file := must.Get(dump.OpenFile(path))
	f.open = append(f.open, file)
	if len(file.Outputs) != 1 {
		panic(must.Failure(fmt.Errorf("found %d tensors, expected an array", len(file.Outputs))))
	}
	t := &file.Outputs[0]
	must.Do(t.Err)
	o.view = must.Get(t.View())
	if t.Type == dtype.Float16 && o.typ == dtype.Float32 {
		t.Type = o.typ // as it was found to be, see mindspore.Calls
	}
	widened := t.Type == dtype.Float32 && o.typ == dtype.BFloat16
	if o.view.Len() != n || t.Type != o.typ && !widened || t.BigEndian {
		panic(must.Failure(fmt.Errorf("found %d elements of %s, recorded %s %v", o.view.Len(), t.Type, o.typ, o.shape)))
	}
	if widened {
		o.rounded, o.typ = o.typ, t.Type
	}
	o.src, o.base = file, t.Offset
	o.rd = must.Get(layout.NewReader(o.src, o.base, o.typ.Bits()/8, o.view))
}
