package engine

import (
	"context"
	"slices"
	"strings"

	"precision/compare/metric"
	"precision/compare/result"
	"precision/dump"
	"precision/dump/dtype"
	"precision/dump/layout"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/nd"
)

// Single-operator detail: one tensor of one operator, element by element.

// DetailOptions say which tensor, and how much of it to write.
type DetailOptions struct {
	Op    string
	Input bool
	Slot  int
	// TopN is how many of the largest errors are listed, 1 to 10000.
	TopN int
	// MaxLine is how many elements one file holds, 10000 to 1000000.
	MaxLine int
	// SkipElements leaves out the files of all elements.
	SkipElements bool
}

var opName = lazy.Regexp(`^[0-9A-Za-z_./:-]+$`)

// Validate checks the ranges. Errors are *[Error].
func (d *DetailOptions) Validate() error {
	switch {
	case !opName().MatchString(d.Op):
		return faultf(FaultOption, "operator name %q: found characters that no operator has", d.Op)
	case d.TopN < 1 || d.TopN > 10000:
		return faultf(FaultRange, "the number of largest errors is %d, expected 1 to 10000", d.TopN)
	}
	return nil
}

// CheckMaxLine checks the number of lines of an element file.
func (d *DetailOptions) CheckMaxLine() error {
	if d.MaxLine < 10000 || d.MaxLine > 1000000 {
		return faultf(FaultOption, "the number of lines is %d, expected 10000 to 1000000", d.MaxLine)
	}
	return nil
}

// DetailResult tells what was written.
type DetailResult struct {
	Files []string
	// Absolute and Relative are the tables of the largest errors, padded for a
	// terminal.
	Absolute, Relative string
	// Overflow names the float16 tensors of the operator that overflow.
	Overflow []string
}

// detailPair is a prepared pair of one tensor.
type detailPair struct {
	left                *dumpFile
	right               *rightTensor
	leftData, rightData *operand
	shape               []int64
	axes                string // header of the coordinates
	leftName            string // texts of the summary
	rightName           string
	boolean             bool
	scalar              bool // its array has no axes; those by a rule file have one
}

func (p *detailPair) close() {
	p.left.Close()
	if p.right != nil && p.right.file != p.left {
		p.right.Close()
	}
}

// pick is the tensor of a dump that the options name.
func (d *DetailOptions) pick(f *dumpFile) *dump.Tensor {
	list := f.Outputs
	if d.Input {
		list = f.Inputs
	}
	wrong(d.Slot < 0 || d.Slot >= len(list), FaultRange, "[%s] %s has %d tensors of kind %s, there is no number %d", d.Op, f.Path, len(list), dump.SideOf(d.Input), d.Slot)
	t := &list[d.Slot]
	wrong(t.Err == nil && !t.Type.Readable(), FaultType, "[%s] %s: the element type %s cannot be read", d.Op, f.Path, t.Type)
	must.Do(t.Err)
	return t
}

// detailRule prepares a tensor with the help of the graph: both sides in the
// order NCHW, NCDHW for volumes, or that of the golden array for FRACTAL_Z.
func (e *engine) detailRule(d *DetailOptions) *detailPair {
	op := e.opt.Rules.Op(d.Op)
	wrong(op == nil, FaultOption, "There is no %q in the fusion rule file.", d.Op)
	wrong(op.Filtered, FaultNoCounterpart, "[%s] The operator lies inside a quantised pair and has no counterpart.", d.Op)
	wrong(len(op.Group.Ops) > 1 && op.Inner(), FaultNoCounterpart, "[%s] The operator is an inner one of its group and has no counterpart.", d.Op)
	left, err := e.openLeft(op.Name)
	if err != nil {
		must.Do(e.missingLeft(op.Name, op.Type, err))
	}
	p := &detailPair{left: left, leftName: strings.ReplaceAll(op.Group.NPUNames(), ",", " "), rightName: strings.ReplaceAll(op.Group.GoldenNames(), ",", " ")}
	p.fill(func() { e.fillRule(d, p, op.Name) })
	return p
}

// fill fills a pair, which is closed if that fails.
func (p *detailPair) fill(work func()) {
	if err := must.Try(work); err != nil {
		p.close()
		must.Do(err)
	}
}

func (e *engine) fillRule(d *DetailOptions, p *detailPair, name string) {
	op := e.opt.Rules.Op(name)
	t := d.pick(p.left)
	row := &result.Row{Op: name, Role: role(d.Input), Slot: d.Slot}
	ref, failed := e.reference(op, t)
	faulty(FaultNoDump, "", failed)
	var err error
	p.right, err = must.Of(func() *rightTensor { return e.openRight(row, ref) })
	faulty(FaultNoDump, "", err)
	st := storedOf(t)
	if e.opt.Left.Simulated() {
		p.asStored(name, t)
		return
	}
	g := rightShape{rule: ref.Shape}
	var from layout.Format // the order of the golden side
	if p.right.array {
		from, err = must.Of(func() layout.Format {
			return targetLayout(rightShape{layout: ref.Layout, rule: ref.Shape, data: p.right.shape()}, st.format)
		})
		faulty(FaultLayout, "", err)
	} else {
		g.rule = p.right.tensor.OriginShape
		p.right.view, from, err = originView(storedOf(p.right.tensor))
		faulty(FaultBadDump, p.right.path(), err)
	}
	target := detailTarget(st.format, from)
	if order, ok := layout.Order(from, target); ok && len(order) == len(p.right.view.Dims) {
		p.right.view, err = p.right.view.Transpose(order)
		faulty(FaultLayout, p.right.path(), err)
	}
	g.layout, g.data = target.String(), p.right.view.Dims
	if len(g.rule) == 0 {
		g.rule = t.OriginShape
	}
	plan := planned(func() plan { return detailPlan(name, st, target, g) })
	p.axes = axesOf(st, target)
	p.operands(t, plan)
}

// asStored prepares two framework arrays: nothing is converted.
func (p *detailPair) asStored(op string, t *dump.Tensor) {
	plan := planned(func() plan { return samePlan(op, storedOf(t), rightShape{data: p.right.shape()}) })
	var err error
	plan.view, err = t.View()
	faulty(FaultBadDump, p.left.Path, err)
	p.axes = axesOf(storedOf(t), layout.NCHW)
	p.operands(t, plan)
}

// detailTarget is the order both sides are brought to.
func detailTarget(own, right layout.Format) layout.Format {
	switch own {
	case layout.NDHWC, layout.NCDHW, layout.DHWCN, layout.NDC1HWC0:
		return layout.NCDHW
	case layout.FractalZ:
		return right
	}
	return layout.NCHW
}

// axesOf is the header of the coordinates: the axes of the order, blank
// separated. A tensor stored as a scalar has none.
func axesOf(s stored, target layout.Format) string {
	if len(s.shape) == 0 {
		return "ID"
	}
	return strings.Join(strings.Split(target.String(), ""), " ")
}

// detailPlan prepares the left side like oldPlan, but for a target that is
// never ND and without replacing the golden shape.
func detailPlan(op string, s stored, target layout.Format, g rightShape) plan {
	emptyRight(op, s, g)
	rightCount, _ := nd.Count(g.data...)
	var v layout.View
	if oldScalarLike(s.shape) {
		v = viewed(op)(layout.Contiguous(s.shape))
	} else {
		v = oldConvert(op, s, target, g)
	}
	if v = oldSlice(op, s, v, g.data, rightCount); v.Len() != rightCount {
		must.Do(shapesDiffer(op, v.Dims, g.data))
	}
	return plan{view: v, shape: v.Dims, count: rightCount}
}

// planned makes a plan, or ends with what sort of thing is wrong.
func planned(by func() plan) plan {
	p, err := must.Of(by)
	fault := FaultShapes
	if failed, ok := err.(*PairError); ok {
		switch failed.Reason.Kind.Class() {
		case result.NoConverter:
			fault = FaultLayout
		case result.Unreadable:
			fault = FaultBadDump
		}
	}
	faulty(fault, "", err)
	return p
}

// detailDirect prepares a tensor of two NPU dumps: as stored, no restoration.
func (e *engine) detailDirect(d *DetailOptions) *detailPair {
	left, right := e.opt.Left.Op(d.Op), e.opt.Right.Op(d.Op)
	wrong(left == nil, FaultNoDump, "[%s] There is no dump file for my output operator %q.", d.Op, d.Op)
	wrong(right == nil, FaultNoDump, "[%s] There is no the ground truth dump file for the op %q.", d.Op, d.Op)
	p := &detailPair{left: must.Get(e.openDump(left)), leftName: d.Op, rightName: d.Op}
	p.fill(func() {
		p.right = &rightTensor{file: must.Get(e.openDump(right))}
		p.fillDirect(d)
	})
	return p
}

func (p *detailPair) fillDirect(d *DetailOptions) {
	t, g := d.pick(p.left), d.pick(p.right.file)
	if !slices.Equal(t.Shape, g.Shape) {
		faulty(FaultBadDump, "", shapeMismatch(d.Op, d.Input, t, g))
	}
	wrong(t.Format != g.Format, FaultLayout, "[%s] The format does not match (%s vs %s).", d.Op, t.Format, g.Format)
	var err error
	p.right.tensor = g
	p.right.view, err = layout.Contiguous(shapeOf(g))
	faulty(FaultBadDump, "", err)
	v, err := layout.Contiguous(shapeOf(t))
	faulty(FaultBadDump, "", err)
	p.axes = axesOf(storedOf(t), detailTarget(t.Format, layout.NCHW))
	p.operands(t, plan{view: v, shape: v.Dims, count: v.Len()})
	p.scalar = len(t.Shape) == 0
}

func (p *detailPair) operands(t *dump.Tensor, plan plan) {
	var err error
	if p.leftData, err = viewOperand(p.left, t.Offset, t.Type, t.BigEndian, plan.view); err == nil {
		p.rightData, err = p.right.operand()
	}
	faulty(FaultBadDump, "", err)
	p.shape = plan.shape
	p.boolean = t.Type == dtype.Bool && p.right.typ() == dtype.Bool
}

// tiles reads both sides a tile at a time as float64.
func (p *detailPair) tiles(ctx context.Context, use func(first int64, x, y []float64)) {
	pair := newPairing(p.leftData, p.rightData, p.leftData.count, metric.Config{})
	pair.wide, pair.parts = true, 1
	s := new(Worker)
	t := pair.newTiler(s, false)
	for at := int64(0); at < pair.count; at += metric.TileLen {
		must.Do(ctx.Err())
		n := min(metric.TileLen, pair.count-at)
		if err := t.fill64(s.x64[:n], s.y64[:n], nil, nil, at); err != nil {
			faulty(FaultBadDump, sideOf(err, p.left.Path, p.right.path()), err)
		}
		use(at, s.x64[:n], s.y64[:n])
	}
}
