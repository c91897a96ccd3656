package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"precision/compare/result"
	"precision/dump"
	"precision/internal/must"
	"precision/internal/nd"
	catalogue "precision/op"
)

// arrayPair are two folders of arrays, outputs of operators in files name.output.time.npy. Operators of the same name are
// paired, and of each the outputs of the same number.
type arrayPair struct{ left, right *dump.Folder }

// arrayOp is an operator of a folder of arrays.
type arrayOp struct {
	name, typ string
	outputs   []int // that were recorded, in ascending order
	// feeds are the outputs that go into it, none where the recording does not tell. Those of operators without arrays are
	// told, too: these are listed without outputs.
	feeds []result.Port
}

// SideTensor is a tensor of a recording that is open.
type SideTensor struct {
	Tensor
	// File is what reasons call it.
	File  string
	Close func() error
}

// arrayOps are the operators of a folder in the order in which their first outputs were written.
func arrayOps(folder *dump.Folder) (ordered []*arrayOp) {
	var list []*arrayOp
	byName := map[string]*arrayOp{}
	named := func(name string) *arrayOp {
		op := &arrayOp{name: name}
		var feeds []dump.Port
		op.typ, feeds = folder.Made(name)
		for _, from := range feeds {
			op.feeds = append(op.feeds, result.Port{Op: from.Op, Index: from.Output})
		}
		byName[name] = op
		return op
	}
	for _, f := range byTime(folder) {
		i := strings.LastIndexByte(f.Key, '.')
		if i < 0 {
			continue
		}
		slot, err := strconv.Atoi(f.Key[i+1:])
		if err != nil {
			continue
		}
		op := byName[f.Key[:i]]
		if op == nil {
			op = named(f.Key[:i])
			list = append(list, op)
		}
		op.outputs = append(op.outputs, slot)
	}
	var add func(op *arrayOp)
	add = func(op *arrayOp) { // behind what feeds it and was not recorded
		for _, from := range op.feeds {
			if byName[from.Op] == nil {
				add(named(from.Op))
			}
		}
		slices.Sort(op.outputs)
		ordered = append(ordered, op)
	}
	for _, op := range list {
		add(op)
	}
	return ordered
}

// ops are the operators of the left side.
func (p *arrayPair) ops() (list []result.Operator) {
	golden := map[string]*arrayOp{}
	for _, op := range arrayOps(p.right) {
		golden[op.name] = op
	}
	for n, op := range arrayOps(p.left) {
		if other := golden[op.name]; op.typ == "" && other != nil {
			op.typ, op.feeds = other.typ, other.feeds
		}
		recorded := len(op.outputs) > 0
		list = append(list, result.Operator{
			Name: op.name, Type: op.typ, Index: n, Order: n, Inputs: op.feeds, Outputs: len(op.outputs), Dumped: recorded, NoKernel: !recorded,
			Constant: catalogue.Is(op.typ, catalogue.Constant), Feed: catalogue.Is(op.typ, catalogue.Feed),
		})
	}
	return list
}

// groups are the operators of the left side in their order, then those that only the right side has.
func (p *arrayPair) groups() (list []Group) {
	right := arrayOps(p.right)
	golden := map[string]*arrayOp{}
	for _, op := range right {
		golden[op.name] = op
	}
	rowOf := func(op *arrayOp) result.Row {
		row := wholeRow(len(list))
		row.Op, row.Type = op.name, op.typ
		row.Left.Names, row.Right.Names = op.name, op.name
		return row
	}
	alone := func(row result.Row, why result.Kind) { // on one side
		row.Add(result.Because(why, row.Op))
		list = append(list, func(context.Context, *Worker) Found {
			return Found{Rows: []result.Row{row}, Failed: &MissingError{row.Op}}
		})
	}
	seen := map[string]bool{}
	for _, op := range arrayOps(p.left) {
		if len(op.outputs) == 0 {
			continue
		}
		row, other := rowOf(op), golden[op.name]
		seen[op.name] = true
		if other == nil {
			row.Right.Names = "*"
			alone(row, result.NoRightOp)
			continue
		}
		list = append(list, func(ctx context.Context, w *Worker) (found Found) {
			found.Err = p.operator(ctx, row, op, other, w, &found)
			return found
		})
	}
	for _, op := range right {
		if !seen[op.name] && len(op.outputs) > 0 {
			row := rowOf(op)
			row.Left.Names = "*"
			alone(row, result.NoLeftOp)
		}
	}
	return list
}

// operator compares the outputs of an operator that both sides have.
func (p *arrayPair) operator(ctx context.Context, base result.Row, left, right *arrayOp, w *Worker, found *Found) error {
	slots := slices.Concat(left.outputs, right.outputs)
	slices.Sort(slots)
	for _, slot := range slices.Compact(slots) {
		row := base
		row.Role, row.Slot = result.Output, slot
		switch {
		case !slices.Contains(right.outputs, slot):
			row.Add(result.Because(result.NoRightTensor, row.Op, row.Tensor()))
		case !slices.Contains(left.outputs, slot):
			row.Add(result.Because(result.NoLeftTensor, row.Op, row.Tensor()))
		default:
			if err := onRow(&row, func() { p.tensor(ctx, &row, w) }); err != nil {
				return err
			}
		}
		found.add(row)
	}
	return nil
}

func (p *arrayPair) tensor(ctx context.Context, row *result.Row, w *Worker) {
	var sides [2]*SideTensor
	for i, folder := range []*dump.Folder{p.left, p.right} {
		r, err := folder.Output(row.Op, row.Slot).Newest().Open()
		if err == nil {
			sides[i], err = onlyTensor(r)
		}
		if err != nil {
			must.Do(unreadable(result.BadTensor, folder.Dir, err, row.Op, err.Error()))
		}
		defer sides[i].Close()
	}
	left, right := sides[0], sides[1]
	row.Left.File, row.Right.File = left.File, right.File
	row.Left.DType, row.Left.Shape = left.Type, left.Shape
	row.Right.DType, row.Right.Shape = right.Type, right.Shape
	shapes := []string{shapeText(left.Shape), shapeText(right.Shape)}
	switch {
	case left.Count != right.Count:
		must.Do(planFailed(result.ShapesDiffer, row.Op, shapes[0], shapes[1]))
	case otherOrder(left.Shape, right.Shape):
		must.Do(planFailed(result.AxesUnknown, row.Op, shapes[0], shapes[1]))
	case !slices.Equal(nd.WithoutOnes(left.Shape), nd.WithoutOnes(right.Shape)):
		row.Add(result.Because(result.StorageOrder, shapes[0], shapes[1]))
	}
	must.Do(w.Compare(ctx, row, &left.Tensor, &right.Tensor, left.File, right.File))
}

// onlyTensor is the only tensor of a file, in the order of its axes. The file is closed where it cannot be read.
func onlyTensor(r *dump.Reader) (*SideTensor, error) {
	t := &r.Outputs[0]
	v, err := t.View()
	if t.Err != nil {
		err = t.Err
	}
	var o *operand
	if err == nil {
		o, err = viewOperand(r, t.Offset, t.Type, t.BigEndian, v)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return &SideTensor{o.tensor(shapeOf(t)), r.Path, r.Close}, nil
}
