package oracle

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump/msprobe"
)

// RecordingJob is a check of recordings of calls, as msprobe makes them.
type RecordingJob struct {
	Recordings []msprobe.Recording
	Full       bool
	Workers    int // below 1: as many as there are processors
	Progress   func(done, total int)
	// Only, if set, chooses calls by their names.
	Only func(call string) bool
}

// recordedCall is a call of a recording with what belongs to it.
type recordedCall struct {
	*msprobe.Call
	of    *recordedCalls
	name  string // with the step and rank before it, where there are several
	order int
}

// recordedCalls are the calls of one recording.
type recordedCalls struct {
	from   *msprobe.Recording
	header msprobe.Header
	prefix string
	calls  []*recordedCall
	index  map[string]*recordedCall
	inside map[string][]string // the calls within a module
	device bool                // some calls ran on an NPU or GPU
}

// Run checks all calls of all recordings. Findings are in the order of recording;
// they do not depend on the number of workers. Remarks tell what of the files could
// not be read. On an error, that of the context or of a file that cannot be read at
// all, what was found so far is returned along with it.
func (j RecordingJob) Run(ctx context.Context) (findings []Finding, remarks []string, err error) {
	var tasks []*recordedCall
	for i := range j.Recordings {
		r, notes, err := readCalls(&j.Recordings[i])
		remarks = append(remarks, notes...)
		if err != nil {
			return nil, remarks, err
		}
		if len(j.Recordings) > 1 {
			r.prefix = recordingLabel(&j.Recordings[i]) + "/"
		}
		for _, c := range r.calls {
			c.name = r.prefix + c.Name
			if c.Parsed.Form == msprobe.API || c.Parsed.Form == msprobe.Module {
				if j.Only == nil || j.Only(c.name) {
					tasks = append(tasks, c)
				}
			}
		}
	}
	findings = checked(ctx, len(tasks), j.Workers, j.Progress, func(i int, budget *budget) []Finding {
		need := budget.take(tasks[i].needs(j.Full))
		defer budget.give(need)
		return tasks[i].check(j.Full)
	})
	return findings, remarks, ctx.Err()
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

// mostRemarks bounds what is told of one recording's files.
const mostRemarks = 5

// readCalls reads the calls of a recording, without elements.
func readCalls(from *msprobe.Recording) (*recordedCalls, []string, error) {
	f, err := msprobe.Open(from.Dump)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r := &recordedCalls{from: from, index: map[string]*recordedCall{}, inside: map[string][]string{}}
	var remarks []string
	for f.Scan() {
		switch rec := f.Result().(type) {
		case *msprobe.Call:
			c := &recordedCall{Call: rec.Clone(), of: r, order: len(r.calls)}
			r.calls = append(r.calls, c)
			r.device = r.device || onDevice(c.Call)
			if r.index[c.Name] == nil {
				r.index[c.Name] = c
			}
		case *msprobe.SyntaxError:
			if len(remarks) < mostRemarks {
				remarks = append(remarks, rec.Error())
			}
		}
	}
	r.header = f.Header()
	if err := f.Err(); err != nil {
		return nil, remarks, err
	}
	note, err := r.readModules()
	if note != "" {
		remarks = append(remarks, note)
	}
	return r, remarks, err
}

// onDevice reports whether a call says that it ran on an NPU or GPU.
func onDevice(c *msprobe.Call) bool {
	if c.Parsed.Prefix == "NPU" {
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
func (r *recordedCalls) readModules() (remark string, err error) {
	if r.from.Construct == "" {
		return "", nil
	}
	in, err := openPlain(r.from.Construct)
	if err != nil {
		return err.Error(), nil
	}
	defer in.Close()
	c, err := msprobe.ReadConstruct(in, r.from.Construct)
	if c == nil {
		return "", err
	}
	if len(c.Errors) > 0 {
		remark = c.Errors[0].Error()
	}
	for child, parent := range c.Parent {
		if parent != "" {
			r.inside[parent] = append(r.inside[parent], child)
		}
	}
	for _, list := range r.inside {
		slices.Sort(list)
	}
	return remark, err
}

// forward is the forward call of a backward one.
func (c *recordedCall) forward() *recordedCall {
	n := c.Parsed
	n.Direction = msprobe.Forward
	return c.of.index[n.String()]
}

// needs estimates the memory that a check takes.
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
	f := Finding{Op: c.name, Type: c.kind(), ID: int64(c.order), Rank: -1, Index: index, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan}
	if v != nil {
		f.Shape, f.DType = v.Shape, v.Elem
		if n, ok := v.Elements(); ok {
			f.Elements = n
		}
	}
	return f
}

// kind is the function with its namespace, or the class of a module.
func (c *recordedCall) kind() string {
	if c.Parsed.Form == msprobe.Module {
		return c.Parsed.Prefix + "." + c.Parsed.Class
	}
	return c.Parsed.Prefix + "." + c.Parsed.API
}

// check judges the outputs of a call. A defect of this package is one call's
// unknown.
func (c *recordedCall) check(full bool) (out []Finding) {
	r := recordedOf(c.Call)
	for i, a := range r.flat {
		if a.tensor() {
			out = append(out, c.blank(a.v, i))
		}
	}
	if len(out) == 0 {
		return nil // nothing was computed that is recorded
	}
	defer func() {
		if p := recover(); p != nil {
			out = refused(out, because(Crashed, p))
		}
	}()
	if !slices.ContainsFunc(r.flat, func(a *argument) bool { return a.tensor() && (a.v.DataName != "" || elementless(a.v)) }) {
		for i := range out {
			c.statisticsOnly(r, &out[i])
		}
		return out
	}
	files := &files{from: c.of.from}
	defer files.close()
	b := &bound{recordedCall: c, r: r, files: files}
	if err := b.prepare(); err != nil {
		return refused(out, reasonOf(err))
	}
	defer b.call.release()
	for i := range out {
		b.judge(&out[i], full)
	}
	return out
}

func elementless(v *msprobe.Value) bool {
	n, ok := v.Elements()
	return ok && n == 0
}

// unknown says why an output is not known.
func unknown(f *Finding, reasons ...result.Reason) {
	f.Verdict, f.Reasons = Unknown, append(f.Reasons, reasons...)
}
