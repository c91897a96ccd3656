package stage

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"precision/compare/weights"
	"precision/dump/checkpoint"
	"precision/dump/dtype"
	"precision/dump/msprobe"
	"precision/internal/must"
)

// tape is what one side recorded: its passes in order.
type tape struct {
	passes []*pass
	// bare tells that a recording has no elements, but statistics.
	bare bool
	// faults are parts of the recording that could not be read.
	faults []error
	named  []namedWeight
	// told are numbers that calls were given, by the stage whose function they are of: these need no elements.
	told map[string][]float64
}

// pass is one walk through the network. Calls are those of the forward direction, modules behind what they called.
type pass struct {
	tape  *tape
	rec   *msprobe.Recording
	calls []*msprobe.Call
	// sites are calls by the parameter they use, in Hugging Face's names without ".weight", and modules by their path.
	sites map[string]*site
	ids   []int64
	batch int // rows of ids, 1 where tokens are packed
}

// site is a call of a module, or a function that stands for one.
type site struct {
	at        int // among the calls of the pass
	ins, outs []*msprobe.Value
	call      *msprobe.Call
	// parts is how many calls share the parameter, as slices of its columns do.
	parts int
}

const mostCalls = 1 << 20

// read reads the recordings below a path. Passes begin where tokens are embedded; what comes before the first belongs to it.
func read(ctx context.Context, path string, set *checkpoint.Set) (*tape, error) {
	list, err := msprobe.Find(path)
	if err != nil {
		return nil, err
	}
	t := &tape{told: map[string][]float64{}}
	if set != nil {
		t.named = named(set)
	}
	total := 0
	for i := range list {
		if list[i].Rank > 0 {
			continue // other ranks hold parts of the same
		}
		calls, err := t.calls(ctx, &list[i])
		if err != nil {
			return nil, err
		}
		if total += len(calls); total > mostCalls {
			return nil, fmt.Errorf("%s: found more than %d calls, expected fewer", path, mostCalls)
		}
		if list[i].Tensors == "" {
			t.bare = true
		}
		t.tell(calls)
		t.split(&list[i], calls)
	}
	for _, p := range t.passes {
		p.name(t)
	}
	t.passes = slices.DeleteFunc(t.passes, func(p *pass) bool { return p.ids == nil })
	return t, ctx.Err()
}

func (t *tape) calls(ctx context.Context, r *msprobe.Recording) (calls []*msprobe.Call, err error) {
	f, err := msprobe.Open(r.Dump)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	again := false // computed again for gradients
	for f.Scan() && ctx.Err() == nil {
		switch c := f.Result().(type) {
		case *msprobe.Call:
			if c.Parsed.Direction == msprobe.Backward {
				// What follows a backward call is computed again for its gradients, until a batch begins anew.
				again = true
			}
			again = again && !embeds(c) && !embedModule(c)
			if c.Parsed.Direction == msprobe.Forward && !again && !c.Cut && len(calls) < mostCalls { // half a call is another one
				calls = append(calls, c.Clone())
			}
		case *msprobe.SyntaxError:
			t.faults = append(t.faults, c)
		}
	}
	if f.Err() != nil {
		t.faults = append(t.faults, f.Err())
	}
	return calls, nil
}

func embeds(c *msprobe.Call) bool {
	return c.Parsed.Form == msprobe.API && strings.HasSuffix(strings.ToLower(c.Parsed.API), "embedding")
}

func embedModule(c *msprobe.Call) bool {
	return c.Parsed.Form == msprobe.Module && strings.HasSuffix(c.Parsed.API, "embed_tokens")
}

// split cuts the calls of a step into passes.
func (t *tape) split(r *msprobe.Recording, calls []*msprobe.Call) {
	begins := embeds
	if !slices.ContainsFunc(calls, embeds) {
		begins = embedModule
	}
	first := 0
	var starts []int
	for i, c := range calls {
		if begins(c) {
			starts = append(starts, i)
		}
	}
	for i := range starts {
		end := len(calls)
		if i+1 < len(starts) {
			end = starts[i+1]
			// Angles and masks of a pass are made ahead of it, behind the last module of the one before.
			for end > starts[i]+1 && calls[end-1].Parsed.Form != msprobe.Module {
				end--
			}
			if end == starts[i]+1 {
				end = starts[i+1]
			}
		}
		t.passes = append(t.passes, &pass{tape: t, rec: r, calls: calls[first:end], sites: map[string]*site{}})
		first = end
	}
}

// tensors are the tensors of one section of a call.
func tensors(c *msprobe.Call, sections ...msprobe.Section) (list []*msprobe.Value) {
	for i := range c.Values {
		if v := &c.Values[i]; v.Kind == msprobe.Tensor && slices.Contains(sections, v.Section) {
			list = append(list, v)
		}
	}
	return list
}

// tell keeps the epsilons, scales and bases among the arguments of calls.
func (t *tape) tell(calls []*msprobe.Call) {
	for i, c := range calls {
		if c.Parsed.Form == msprobe.Module {
			continue
		}
		near := func(at int, part string) bool {
			return at >= 0 && at < len(calls) && strings.Contains(calls[at].Parsed.API, part)
		}
		api := strings.Trim(c.Parsed.API, "_")
		for k := range c.Values {
			v := &c.Values[k]
			x, ok := v.Value.Value()
			if v.Kind != msprobe.Scalar || v.Section == msprobe.Output || !ok || v.Value.Kind == msprobe.Bool || x <= 0 {
				continue
			}
			scores := near(i-1, "matmul") && len(tensors(c, msprobe.Output)) == 1 && len(tensors(c, msprobe.Output)[0].Shape) == 4
			switch {
			case x < 0.05 && (strings.Contains(api, "rms_norm") || api == "add" && near(i+1, "rsqrt")):
				t.told["norm"] = unique(t.told["norm"], x)
			case attends(c) && strings.Contains(v.Path, "scale") || api == "mul" && scores:
				t.told["attn"] = unique(t.told["attn"], x)
			case api == "truediv" && scores:
				t.told["attn"] = unique(t.told["attn"], 1/x)
			case api == "rpow" && x >= 100:
				t.told["rope"] = unique(t.told["rope"], x)
			}
		}
	}
}

// scalar is the number at a place among the arguments of a call.
func scalar(c *msprobe.Call, section msprobe.Section, path string) (float64, bool) {
	n, ok := c.Argument(section, path)
	if !ok {
		return 0, false
	}
	return n.Value()
}

func size(v *msprobe.Value) int {
	n, ok := v.Elements()
	if !ok || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// load reads the elements of a recorded tensor.
func (p *pass) load(v *msprobe.Value) ([]float64, error) {
	if v == nil || v.DataName == "" {
		return nil, fmt.Errorf("%s: no elements", p.rec.Dump)
	}
	set, x, err := p.open(v)
	if err == nil {
		defer set.Close()
		var r *checkpoint.Numbers
		if r, err = x.Numbers(); err == nil {
			out := make([]float64, x.Len())
			if err = r.Read(out, 0); err == nil {
				return out, nil
			}
		}
	}
	return nil, p.fault(err)
}

// fault keeps that a file cannot be read: what it held is damaged, not only absent.
func (p *pass) fault(err error) error {
	if !slices.ContainsFunc(p.tape.faults, func(e error) bool { return e.Error() == err.Error() }) {
		p.tape.faults = append(p.tape.faults, err)
	}
	return err
}

// open opens the file of a recorded tensor, which has to be as large as was noted.
func (p *pass) open(v *msprobe.Value) (_ *checkpoint.Set, _ *checkpoint.Tensor, err error) {
	defer must.Catch(&err)
	must.Not(v.DataName == "", "%s: no elements", p.rec.Dump)
	file := must.Get(p.rec.File(v.DataName))
	set := must.Get(checkpoint.Open(file))
	if len(set.Tensors) != 1 {
		err = fmt.Errorf("%s: found %d tensors, expected one", file, len(set.Tensors))
	} else if n, ok := v.Elements(); !ok || set.Tensors[0].Len() != n {
		err = fmt.Errorf("%s: found %d elements, expected shape %v as in %s", file, set.Tensors[0].Len(), v.Shape, filepath.Base(p.rec.Dump))
	}
	if err != nil {
		set.Close()
		return nil, nil, err
	}
	return set, set.Tensors[0], nil
}

// namedWeight is a weight that functions are known by, in order of use.
type namedWeight struct {
	name  string
	shape []int64
	*checkpoint.Tensor
	// head are the first elements: most weights differ in these from others.
	head []float64
}

func named(set *checkpoint.Set) (list []namedWeight) {
	for _, t := range set.Tensors {
		if len(t.Shape) == 0 || len(t.Shape) > 3 {
			continue
		}
		list = append(list, namedWeight{name: strings.TrimSuffix(weights.Name(t.Name), ".weight"), shape: t.Shape, Tensor: t})
	}
	return list
}

// which finds the weight that a value holds: as a whole, or as a slice of its columns. Of several equal ones the first that is not in use.
func (t *tape) which(p *pass, v *msprobe.Value) (name string, part bool) {
	var got *checkpoint.Numbers
	for i := range t.named {
		w := &t.named[i]
		whole := slices.Equal(w.shape, v.Shape)
		column := len(v.Shape) == 2 && len(w.shape) == 2 && w.shape[0] == v.Shape[0] && v.Shape[1] > 0 && w.shape[1]%v.Shape[1] == 0
		if !whole && !column || whole && p.sites[w.name] != nil {
			continue
		}
		if v.DataName == "" {
			return "", false
		}
		if got == nil {
			set, x, err := p.open(v)
			if err != nil {
				p.fault(err)
				return "", false
			}
			defer set.Close()
			if got, err = x.Numbers(); err != nil {
				return "", false
			}
		}
		n, _ := v.Elements()
		if first := make([]float64, min(64, n)); whole && w.head != nil && (got.Read(first, 0) != nil || !slices.Equal(first, w.head)) {
			continue
		}
		own, err := w.Numbers()
		if err != nil {
			continue
		}
		if whole {
			if equal(got, own, 0, 0, n) {
				return w.name, false
			}
			if w.head == nil {
				if w.head = make([]float64, min(64, n)); own.Read(w.head, 0) != nil {
					w.head = nil
				}
			}
			continue
		}
		k, width, last := v.Shape[1], w.shape[1], w.shape[0]-1
		for lo := int64(0); lo < width; lo += k {
			if equal(got, own, 0, lo, k) && equal(got, own, last*k, last*width+lo, k) {
				return w.name, true
			}
		}
	}
	return "", false
}

// equal compares n elements of two tensors, some at a time.
func equal(a, b *checkpoint.Numbers, i, j, n int64) bool {
	const most = 1 << 16
	x, y := make([]float64, min(n, most)), make([]float64, min(n, most))
	for at := int64(0); at < n; at += most {
		k := min(most, n-at)
		if a.Read(x[:k], i+at) != nil || b.Read(y[:k], j+at) != nil || !slices.Equal(x[:k], y[:k]) {
			return false
		}
	}
	return n > 0
}

var modulePath = strings.NewReplacer("language_model.model.", "model.", "language_model.", "")

// name finds the sites of a pass.
func (p *pass) name(t *tape) {
	modules := false
	for i, c := range p.calls {
		switch {
		case c.Parsed.Form == msprobe.Module:
			name := strings.TrimSuffix(weights.Name(modulePath.Replace(c.Parsed.API)+".weight"), ".weight")
			s := &site{at: i, call: c, ins: tensors(c, msprobe.Input, msprobe.Kwargs), outs: tensors(c, msprobe.Output), parts: 1}
			if strings.HasSuffix(c.Parsed.API, ".base_layer") {
				name += ".base_layer" // what an adapter adds to comes behind it
			}
			if old := p.sites[name]; old == nil {
				p.sites[name] = s
			}
			if embedModule(c) && p.ids == nil && len(s.ins) > 0 {
				p.tokens(s.ins[0])
			}
			modules = modules || strings.Contains(name, ".layers.")
		case embeds(c) && p.ids == nil:
			if in := tensors(c, msprobe.Input); len(in) > 0 {
				p.tokens(in[0])
			}
		}
	}
	if modules {
		return
	}
	for i, c := range p.calls {
		api := strings.ToLower(c.Parsed.API)
		in, out := tensors(c, msprobe.Input), tensors(c, msprobe.Output)
		if len(in) < 2 || len(out) == 0 {
			continue
		}
		switch {
		case api == "linear" || api == "embedding":
			p.put(t, in[1], &site{at: i, call: c, ins: in[:1], outs: out})
		case api == "npu_rms_norm":
			p.put(t, in[1], &site{at: i, call: c, ins: in[:1], outs: out[:1]})
		case api == "npu_add_rms_norm" && len(out) == 3:
			p.put(t, in[2], &site{at: i, call: c, ins: in[:2], outs: []*msprobe.Value{out[0], out[2]}})
		case api == "__mul__" && len(in[0].Shape) == 1 && len(in[1].Shape) > 1 && slices.Equal(in[0].Shape, in[1].Shape[len(in[1].Shape)-1:]):
			// The last step of a norm that is written out: what it reads is the nearest power before.
			for j := i - 1; j >= max(0, i-12); j-- {
				if x := tensors(p.calls[j], msprobe.Input); p.calls[j].Parsed.API == "pow" && len(x) > 0 {
					p.put(t, in[0], &site{at: i, call: c, ins: x[:1], outs: out})
					break
				}
			}
		}
	}
}

// adapter is the scale of what low-rank training adds, as the first calls show it that have all parts: sum = base + scale·product; 0 where none has.
func (t *tape) adapter() float64 {
	for _, p := range t.passes {
		names := slices.Sorted(maps.Keys(p.sites))
		for _, name := range names {
			s := p.sites[name]
			whole, found := strings.CutSuffix(name, ".base_layer")
			if !found || p.sites[whole] == nil {
				continue
			}
			for _, added := range names {
				if !strings.HasPrefix(added, whole+".lora_B") {
					continue
				}
				var v [3][]float64
				for i, from := range []*site{p.sites[whole], s, p.sites[added]} {
					v[i], _ = p.load(out(from, 0))
				}
				if len(v[0]) == 0 || len(v[0]) != len(v[1]) || len(v[0]) != len(v[2]) {
					continue
				}
				sum, size := 0.0, 0.0
				for i, x := range v[2] {
					sum += (v[0][i] - v[1][i]) * x
					size += x * x
				}
				if x := sum / size; x-x == 0 {
					return x
				}
			}
		}
	}
	return 0
}

// put files a call under the weight that it uses.
func (p *pass) put(t *tape, weight *msprobe.Value, s *site) {
	name, part := t.which(p, weight)
	if name == "" {
		return
	}
	s.parts = 1
	if old := p.sites[name]; old != nil && part {
		old.parts++
		old.at = s.at
		return
	}
	p.sites[name] = s
}

// tokens reads the ids that a pass begins with.
func (p *pass) tokens(v *msprobe.Value) {
	if !v.Known || !v.Elem.IsInteger() {
		return
	}
	x, err := p.load(v)
	if err != nil || len(x) == 0 {
		return
	}
	p.ids = make([]int64, len(x))
	for i := range x {
		p.ids[i] = int64(x[i])
	}
	p.batch = 1
	if len(v.Shape) == 2 {
		p.batch = int(v.Shape[0])
	}
}

// unit is the rms error of one rounding to a type, relative.
func unit(t dtype.Type) float64 {
	switch t {
	case dtype.BFloat16:
		return 1.67e-3
	case dtype.Float16:
		return 2.1e-4
	case dtype.Float32:
		return 2.55e-8
	}
	return t.Unit() * 0.43
}
