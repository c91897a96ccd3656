package oracle

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"precision/dump"
	"precision/graph"
)

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

func splitPath(dir string) []string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	var parts []string
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
	tasks := j.tasks()
	settings := Settings{Full: j.Full, Env: EnvironmentOf(j.Graph), Golden: j.Golden}
	findings := checked(ctx, len(tasks), j.Workers, j.Progress, func(i int, budget *budget) []Finding {
		return j.check(tasks[i], settings, budget)
	})
	return findings, ctx.Err()
}

// tasks lists the work: large operators and small ones as the graph has them.
func (j Job) tasks() []task {
	var out []task
	for d, device := range j.Devices {
		used := map[*dump.Op]bool{}
		for _, g := range j.Graph.Graphs {
			for _, op := range g.Ops {
				rec := device.Folder.Op(op.Name)
				if rec == nil || used[rec] || skipped[op.Type] || j.Only != nil && !j.Only(op.Name) {
					continue
				}
				used[rec] = true
				out = append(out, task{op, d, rec.Newest()})
			}
		}
		for _, g := range j.Graph.Graphs {
			for _, op := range g.Ops {
				if rec := device.Folder.Op(op.Name); rec != nil && skipped[op.Type] {
					used[rec] = true // the graph has it, and there is nothing to compute
				}
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
func (j Job) check(t task, s Settings, b *budget) (out []Finding) {
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
	lone := Finding{Op: name, Type: t.entry.Name.OpType, Rank: -1, Index: 0, Ratio: nan, Expected: nan, Found: nan, Bound: nan, Largest: nan}
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
		return place(failed(list, refuse(BadDump, err), t.entry.Path))
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
		return place(j.collective(t, r, s))
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
