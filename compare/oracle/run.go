package oracle

import (
	"context"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/dump"
	"precision/dump/mindspore"
	"precision/dump/msprobe"
	"precision/graph"
	"precision/graph/read"
	"precision/internal/each"
	"precision/op"
)

// A check of a network as dumps of its operators: which work there is, in which order it is done by
// several workers, and what is counted when it is done.
//
// Each operator of each device is a task of its own. Findings do not depend on the number of
// workers nor on the order in which tasks end; only the memory that may be under way together
// bounds how many run at once ([budget]). A panic in a formula is a defect of this package and
// makes one operator unknown, not the run.
//
// Coverage is part of the result: an operator that was not dumped, could not be read, or is of a
// type that nothing recomputes is counted, as a check that looked at little must not look like one
// that found nothing.

// Device is one folder of dumps: what one device recorded in one step.
type Device struct {
	Folder *dump.Folder
	// Rank is the device's number and Step the recorded step, as the folders
	// say: …/<time>/<device>/<model>/<model id>/<step>; -1 where they do not.
	Rank, Step int
}

// DeviceOf reads rank and step off the path of a folder.
func DeviceOf(f *dump.Folder) Device {
	d := Device{Folder: f, Rank: -1, Step: -1}
	parts := splitPath(f.Dir)
	if n := len(parts); n >= 5 {
		if rank, err := strconv.Atoi(parts[n-4]); err == nil {
			if step, err := strconv.Atoi(parts[n-1]); err == nil {
				d.Rank, d.Step = rank, step
			}
		}
	}
	return d
}

func splitPath(dir string) (parts []string) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for {
		parent, base := filepath.Split(filepath.Clean(dir))
		if base == "" || base == "." {
			break
		}
		parts = append(parts, base)
		if dir = filepath.Clean(parent); parent == "" {
			break
		}
	}
	slices.Reverse(parts)
	return parts
}

// Job is a check of a network.
type Job struct {
	Devices  []Device
	Graph    *graph.Model
	Golden   *Golden // nil without golden data
	Full     bool
	Workers  int // below 1: as many as there are processors
	Progress func(done, total int)
	// Only, if set, chooses operators by their names in the graph.
	Only func(op string) bool
	// Keep is that of [Settings].
	Keep bool

	met *sync.Map // operators that devices ran together: [Job.collective]
}

// task is one operator on one device.
type task struct {
	op     *graph.Op
	device int
	entry  *dump.Entry
}

// Run checks all operators that were dumped. Findings are in the order of the
// devices, and of the graph for each; what the graph does not have comes last.
// They do not depend on the number of workers. On an error, that of the context,
// what was found so far is returned along with it.
func (j Job) Run(ctx context.Context) ([]Finding, error) {
	j.met = &sync.Map{}
	tasks := j.tasks()
	settings := Settings{Full: j.Full, Keep: j.Keep, Env: EnvironmentOf(j.Graph), Golden: j.Golden}
	findings := checked(ctx, len(tasks), j.Workers, j.Progress, func(i int, budget *budget) []Finding {
		return j.check(ctx, tasks[i], settings, budget)
	})
	return findings, ctx.Err()
}

// tasks lists the work: large operators and small ones as the graph has them.
func (j Job) tasks() (out []task) {
	for d, device := range j.Devices {
		used := map[*dump.Op]bool{}
		for op := range j.Graph.Ops() {
			rec := device.Folder.Op(op.Name)
			if rec == nil || used[rec] || skipped[op.Type] || j.Only != nil && !j.Only(op.Name) {
				continue
			}
			used[rec] = true
			out = append(out, task{op, d, rec.Newest()})
		}
		for op := range j.Graph.Ops() {
			if rec := device.Folder.Op(op.Name); rec != nil && skipped[op.Type] {
				used[rec] = true // the graph has it, and there is nothing to compute
			}
		}
		for _, rec := range device.Folder.Ops {
			if !used[rec] && j.Only == nil {
				out = append(out, task{nil, d, rec.Newest()})
			}
		}
	}
	return out
}

// skipped are the operators without a kernel; some names of their dumps are
// those of others.
var skipped = map[string]bool{"Const": true, "Constant": true, "Variable": true, "NetOutput": true, "Data": true, "PlaceHolder": true, "End": true}

// check does one task. A defect of this package is one operator's unknown.
func (j Job) check(ctx context.Context, t task, s Settings, b *budget) (out []Finding) {
	device := j.Devices[t.device]
	place := func(f []Finding) []Finding {
		for i := range f {
			f[i].Rank = -1
			if len(j.Devices) > 1 {
				f[i].Rank = device.Rank
			}
		}
		return f
	}
	name := t.entry.Name.OpName
	if t.op != nil {
		name = t.op.Name
	}
	lone := newFinding(name, t.entry.Name.OpType, 0, 0)
	defer func() {
		if p := recover(); p != nil {
			lone.Reasons = append(lone.Reasons, because(Crashed, p))
			out = place([]Finding{lone})
		}
	}()
	r, err := t.entry.Open()
	if err == nil {
		defer r.Close()
		err = r.Misnamed()
	}
	if err != nil {
		list := []Finding{lone}
		if t.op != nil { // each output that the graph gives it has a line
			for i := 1; i < len(t.op.OutputDesc); i++ {
				next := lone
				next.Index = i
				list = append(list, next)
			}
		}
		return place(failed(list, refuse(BadDump, err), nil, t.entry.Path))
	}
	if t.op == nil {
		lone.Reasons = append(lone.Reasons, because(NotInGraph))
		return place([]Finding{lone})
	}
	if len(r.Outputs) == 0 {
		lone.Reasons = append(lone.Reasons, because(OutputCount, 0, len(t.op.OutputDesc)))
		return place([]Finding{lone})
	}
	size := needs(r, s.Full)
	if s.Golden != nil && s.Golden.follows(t.op.Name) {
		size *= 2
	}
	need := b.take(size)
	defer b.give(need)
	if isCollective(t.op.Type) {
		return place(j.collective(ctx, t, r))
	}
	s.Earlier = j.earlier(t)
	out = CheckOp(t.op, r, s)
	j.contrary(t, r, out)
	return place(out)
}

// memory is how much the operands of the operators under way may take.
const memory = 320 << 20

// needs estimates the memory a check takes: the operands that are kept as
// float32, and what is computed at once.
func needs(r *dump.Reader, full bool) int64 {
	var n int64 = 16 << 20
	if full {
		n += 64 << 20
	}
	for _, list := range [][]dump.Tensor{r.Inputs, r.Outputs} {
		for i := range list {
			if e := list[i].Elements(); e <= maxHeld {
				n += 4 * e
			}
		}
	}
	return n
}

// budget lets as many tasks run as their memory allows, and one in any case.
type budget struct {
	mu   sync.Mutex
	free *sync.Cond
	left int64
	size int64
}

func newBudget(size int64) *budget {
	b := &budget{left: size, size: size}
	b.free = sync.NewCond(&b.mu)
	return b
}

func (b *budget) take(n int64) int64 {
	n = min(n, b.size)
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left < n {
		b.free.Wait()
	}
	b.left -= n
	return n
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.left += n
	b.mu.Unlock()
	b.free.Broadcast()
}

// checked runs check for every number below n, several at a time, until the context is done, and
// returns the findings in the order of the numbers. Workers below 1 are as many as there are
// processors; progress, if not nil, is called one at a time.
func checked(ctx context.Context, n, workers int, progress func(done, total int), check func(i int, budget *budget) []Finding) (findings []Finding) {
	out := make([][]Finding, n)
	memory := newBudget(memory)
	each.Number(ctx, n, workers, progress, func() func(int) {
		return func(i int) { out[i] = check(i, memory) }
	})
	for _, f := range out {
		findings = append(findings, f...)
	}
	return findings
}

// Check is the finding as the judge of a comparison takes it.
func (f *Finding) Check() result.Check {
	c := result.Check{Op: f.Op, Output: f.Index, Known: f.Verdict != Unknown, Wrong: f.Verdict == Wrong, Suspect: f.Verdict == Suspect,
		Ratio: f.Ratio, Local: math.NaN(), Inherited: math.NaN(), Amplification: math.NaN(), Pattern: f.Pattern, Golden: f.Golden, Apart: f.Apart, Why: f.Why}
	if len(f.Patterns) > 0 && string(f.Patterns[0].Kind) == f.Pattern {
		c.Evidence, c.Explained = f.Patterns[0].Evidence(), f.Patterns[0].Explained
	}
	if f.Golden == result.GoldenUntried {
		c.Apart = math.NaN()
	}
	if s := f.Split; s != nil {
		c.Local, c.Inherited, c.Amplification = s.Local, s.Inherited, s.Amplification
	}
	return c
}

// Checks are the findings of one device as the judge of a comparison takes them.
func Checks(findings []Finding) []result.Check {
	list := make([]result.Check, len(findings))
	for i := range findings {
		list[i] = findings[i].Check()
	}
	return list
}

// Weigh tells with how many weights of the device golden outputs do not follow from golden
// inputs: of so many operators as have one of those names and can be recomputed. Another
// attribute, or another form of the operator, is no other weight.
func Weigh(ctx context.Context, beside *Golden, graph string, workers int, names []string) (w result.Weighed, err error) {
	model, err := read.Open(ctx, graph)
	if err != nil || beside.Folder.Device() || beside.Rules == nil {
		return w, err
	}
	only := func(op string) bool { return slices.Contains(names, op) }
	beside.Follow, beside.brief = only, true
	job := Job{Devices: []Device{DeviceOf(beside.Dumps)}, Graph: model, Workers: workers, Only: only, Golden: beside}
	findings, err := job.Run(ctx)
	of, differ := map[string]bool{}, map[string]bool{}
	for i := range findings {
		c := findings[i].Check()
		if c.Golden != result.GoldenUntried {
			of[c.Op] = true
		}
		if c.OtherWeight() {
			differ[c.Op] = true
		}
	}
	return result.Weighed{Differ: len(differ), Of: len(of)}, err
}

// Recompute checks the dumps of a comparison with their graph, for a judge, and the golden
// side of the operators that it doubts.
func Recompute(ctx context.Context, beside *Golden, graph string, workers int, progress func(done, total int)) ([]result.Check, error) {
	model, err := read.Open(ctx, graph)
	if err != nil {
		return nil, err
	}
	job := Job{Devices: []Device{DeviceOf(beside.Dumps)}, Graph: model, Workers: workers, Progress: progress}
	if !beside.Folder.Device() && beside.Rules != nil {
		job.Golden = beside
	}
	findings, err := job.Run(ctx)
	return Checks(findings), err
}

// RecomputeCalls checks the calls of the left side of a comparison of recordings, for a judge, and
// of those that it doubts the right side, too: a golden call that does not follow from its own
// arguments, where that of the left side does, is wrong itself. That it follows says nothing of
// the left one, which may have had other arguments and weights. ok is false where the left
// side holds no calls that a check knows.
func RecomputeCalls(ctx context.Context, left, right string, t *result.Table, doubted func(op string) bool, workers int, progress func(done, total int)) (list []result.Check, ok bool, err error) {
	own, err := callsOf(ctx, left, RecordingJob{Workers: workers, Progress: progress})
	if err != nil || own == nil {
		return nil, false, err
	}
	golden := map[string]string{} // the right call of a left one that is doubted
	wanted := map[string]bool{}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Right.Names != "*" && doubted(r.Op) {
			name := partOf(r.Op) + r.Right.Names
			golden[r.Op] = name
			wanted[name], wanted[r.Right.Names] = true, true
		}
	}
	var beside callFindings
	if len(golden) > 0 {
		if beside, err = callsOf(ctx, right, RecordingJob{Workers: workers, Only: func(call string) bool { return wanted[unnumbered(call)] }}); err != nil {
			return nil, true, err
		}
	}
	for i := range t.Ops {
		op := t.Ops[i].Name
		right := beside.of(golden[op])
		for k, f := range own.of(op) {
			c := f.Check()
			c.Op = op
			if k < len(right) && right[k].Index == f.Index && right[k].Verdict == Wrong && c.Known && !c.Wrong {
				c.Golden = result.GoldenWrong
			}
			list = append(list, c)
		}
	}
	return list, true, ctx.Err()
}

// callFindings are those of a recording by their calls, as tables name these.
type callFindings map[string][]*Finding

// of are those of a call; a recording of one process has them without its step and rank.
func (m callFindings) of(call string) []*Finding {
	if list := m[call]; list != nil {
		return list
	}
	return m[strings.TrimPrefix(call, partOf(call))]
}

// callsOf checks the recordings below a folder; nil where there are none.
func callsOf(ctx context.Context, dir string, j RecordingJob) (callFindings, error) {
	j.Recordings, _ = msprobe.Find(dir)
	if len(j.Recordings) == 0 {
		if j.Kernels, _ = mindspore.Find(dir); len(j.Kernels) == 0 {
			return nil, nil
		}
	}
	findings, _, err := j.Run(ctx)
	if err != nil {
		return nil, err
	}
	by := callFindings{}
	for i := range findings {
		name := unnumbered(findings[i].Op)
		by[name] = append(by[name], &findings[i])
	}
	return by, nil
}

// partOf is the step and rank before the name of a call, with the stroke after them.
func partOf(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// unnumbered is the name of a call as tables of comparisons have it, where processes without a
// rank have no number.
func unnumbered(name string) string {
	part := partOf(name)
	if at := strings.LastIndex("/"+part, "/proc"); at >= 0 {
		return part[:at] + "proc/" + name[len(part):]
	}
	return name
}

// Coverage is how much of what was to be checked was.
type Coverage struct {
	// Expected are the outputs that the graph or the recording promises, Judged those with a
	// verdict.
	Expected, Judged int
	// Missing are those that could have been recorded and were not.
	Missing []string
	// Damaged is what was recorded and cannot be read; a file that several outputs need is in
	// it once.
	Damaged []result.Damage
	// Outputs are the outputs of the network that have no verdict for either, Leaving how many
	// the network has, and Broken how many of the former are damaged.
	Outputs         []string
	Leaving, Broken int
	// Gaps are ranks without a recording, although ranks around them, or other steps of
	// theirs, have one.
	Gaps []string
	// Strangers are operators that were recorded and that the graph does not have, Recorded how
	// many were.
	Strangers []string
	Recorded  int
}

// Place is whose recording it is; -1 is not known.
type Place struct{ Step, Rank int }

// GapsIn names the ranks between the first and the last that lack a recording: the ranks of a
// node or of a job follow each other, and all record the same steps.
func GapsIn(places []Place) (names []string) {
	have, steps, least, most := map[Place]bool{}, map[int]bool{}, -1, -1
	for _, p := range places {
		if p.Rank < 0 {
			continue
		}
		have[p], steps[p.Step] = true, true
		if least < 0 || p.Rank < least {
			least = p.Rank
		}
		most = max(most, p.Rank)
	}
	for _, step := range slices.Sorted(maps.Keys(steps)) {
		for rank := max(least, 0); rank <= most; rank++ {
			if len(names) == mostGaps {
				return names // a number that is no rank
			}
			if p := (Place{step, rank}); !have[p] {
				name := "rank" + itoa(rank)
				if step >= 0 {
					name = "step" + itoa(step) + "/" + name
				}
				names = append(names, name)
			}
		}
	}
	return names
}

// mostGaps bounds the names of gaps.
const mostGaps = 1000

// CoverageOf counts findings. Damaged is what else could not be read, leaves tells of the
// operators whose outputs leave the network; nil where that is not known.
func CoverageOf(findings []Finding, damaged []result.Damage, leaves map[string]bool) Coverage {
	c := Coverage{Damaged: damaged}
	type place struct {
		file   string
		offset int64
	}
	seen := map[place]bool{}
	for i := range findings {
		f := &findings[i]
		strange := len(f.Reasons) > 0 && f.Reasons[0].Kind == NotInGraph
		if i == 0 || findings[i-1].Op != f.Op || findings[i-1].Rank != f.Rank {
			if !f.missing() {
				c.Recorded++
			}
			if strange {
				c.Strangers = append(c.Strangers, f.Op)
			}
		}
		if f.aside() {
			continue
		}
		c.Expected++
		if leaves[f.Op] {
			c.Leaving++
			if f.Damage != nil || f.missing() {
				c.Outputs = append(c.Outputs, f.Name())
			}
			if f.Damage != nil {
				c.Broken++
			}
		}
		switch {
		case f.Verdict != Unknown:
			c.Judged++
		case f.Damage != nil:
			if at := (place{f.Damage.File, f.Damage.Offset}); at.file == "" || !seen[at] {
				seen[at] = true
				c.Damaged = append(c.Damaged, *f.Damage)
			}
		case f.missing():
			c.Missing = append(c.Missing, f.Name())
		}
	}
	return c
}

// missing tells that the output was not recorded, though the operator or call was to be.
func (f *Finding) missing() bool {
	return len(f.Reasons) > 0 && (slices.Contains([]result.Kind{NoDump, NoKernel, NoResult, NoProcess}, f.Reasons[0].Kind))
}

// aside tells of findings that nothing is expected of: there are no elements, the graph does
// not have the operator, or it may have no kernel.
func (f *Finding) aside() bool {
	if len(f.Reasons) == 0 {
		return false
	}
	kind := f.Reasons[0].Kind
	return kind == Empty || kind == NoKernel || kind == NotInGraph && f.Damage == nil
}

// Unread are dumps that nothing is computed for and that cannot be believed: of inputs of the
// network and weights, as whoever takes them has them, too.
func (j Job) Unread() (list []result.Damage) {
	for _, device := range j.Devices {
		seen := map[*dump.Op]bool{}
		for o := range j.Graph.Ops() {
			rec := device.Folder.Op(o.Name)
			if rec == nil || seen[rec] || !skipped[o.Type] || !op.Is(o.Type, op.Feed|op.Constant) {
				continue
			}
			seen[rec] = true
			e := rec.Newest()
			r, err := e.Open()
			if err == nil {
				r.Close()
				err = r.Misnamed()
				for i := range r.Outputs {
					if err == nil && r.Outputs[i].Err != nil {
						err = r.Outputs[i].Err
					}
				}
			}
			if err != nil && dump.Code(err) != dump.CodeType { // of a type that nobody reads
				list = append(list, result.DamageOf(result.TensorName(o.Name, result.Output, 0), e.Path, reasonOf(refuse(BadDump, err)), err))
			}
		}
	}
	return list
}

// Missing are findings for what the graph promises and was not dumped: the outputs of operators
// that run a kernel, which computes tells. Where some are missing, so may be those of operators
// that are still: that run a kernel only where the compiler left them one, and that nothing is
// expected of.
func (j Job) Missing(computes, passthrough func(*graph.Op) bool) (list []Finding) {
	if list = j.undumped(NoDump, func(op *graph.Op) bool { return computes(op) && !passthrough(op) }); len(list) > 0 {
		list = append(list, j.undumped(NoKernel, func(op *graph.Op) bool { return computes(op) && passthrough(op) })...)
	}
	return list
}

func (j Job) undumped(why result.Kind, which func(*graph.Op) bool) (list []Finding) {
	for _, device := range j.Devices {
		dumped := map[string]bool{}
		for op := range j.Graph.Ops() {
			if rec := device.Folder.Op(op.Name); rec != nil || skipped[op.Type] || !which(op) || dumped[op.Name] {
				continue
			}
			dumped[op.Name] = true
			for i := range max(1, len(op.OutputDesc)) {
				f := refused([]Finding{newFinding(op.Name, op.Type, op.ID, i)}, because(why))[0]
				if len(j.Devices) > 1 {
					f.Rank = device.Rank
				}
				list = append(list, f)
			}
		}
	}
	return list
}

// Leaves are the operators whose outputs leave the network: what feeds its NetOutput, or where
// there is none what no operator takes.
func (j Job) Leaves() map[string]bool {
	leaves, taken := map[string]bool{}, map[string]bool{}
	for op := range j.Graph.Ops() {
		for _, e := range op.Inputs {
			if from := e.Producer(); !e.IsControl() && from != "" {
				taken[from] = true
				if op.Type == "NetOutput" {
					leaves[from] = true
				}
			}
		}
	}
	if len(leaves) > 0 {
		return leaves
	}
	for op := range j.Graph.Ops() {
		if !taken[op.Name] {
			leaves[op.Name] = true
		}
	}
	return leaves
}
