package engine

import (
	"context"
	"iter"
	"slices"

	"precision/compare/result"
	"precision/internal/nd"
	catalogue "precision/op"
)

// Side is one side of a comparison: what a run recorded, in whatever format. A
// new format is a package with a Side; [ByNames] pairs it with any other.
type Side interface {
	// Dir is the folder or file it was read from, Kind the kind of recording, as
	// "numpy".
	Dir() string
	Kind() string
	// Operators are those that were recorded, in execution order as far as the
	// recording tells it.
	Operators() iter.Seq[SideOperator]
	// Open opens a tensor that Operators names. The caller closes it.
	Open(op string, role result.Role, slot int) (*SideTensor, error)
}

// SideOperator is an operator of a recording.
type SideOperator struct {
	// Name is how the other side knows it, too.
	Name, Type string
	// Inputs and Outputs are the numbers of the tensors that were recorded, in
	// ascending order.
	Inputs, Outputs []int
	// Feeds are the outputs that go into it, none where the recording does not tell. Those of
	// operators without tensors are told, too: these are listed with neither inputs nor outputs.
	Feeds []result.Port
}

func (o *SideOperator) recorded() bool { return len(o.Inputs)+len(o.Outputs) > 0 }

// SideTensor is a tensor of a recording that is open.
type SideTensor struct {
	Tensor
	// File is what reasons call it.
	File  string
	Close func() error
}

// ByNames is a source of pairs: the operators that two sides have by the same
// name, and of each the inputs and outputs of the same number.
type ByNames struct {
	Left, Right Side
}

// Table says what is compared with what. Operators are those of the left side.
func (b *ByNames) Table() *result.Table {
	t := &result.Table{}
	t.Meta.Left = result.Side{Dir: b.Left.Dir(), Kind: b.Left.Kind()}
	t.Meta.Right = result.Side{Dir: b.Right.Dir(), Kind: b.Right.Kind()}
	t.Meta.Pairing.How = result.ByName
	golden := map[string]SideOperator{}
	for op := range b.Right.Operators() {
		golden[op.Name] = op
	}
	for op := range b.Left.Operators() {
		if other := golden[op.Name]; op.Type == "" {
			op.Type, op.Feeds = other.Type, other.Feeds
		}
		n := len(t.Ops)
		t.Ops = append(t.Ops, result.Operator{
			Name: op.Name, Type: op.Type, Index: n, Order: n, Inputs: op.Feeds, Outputs: len(op.Outputs), Dumped: op.recorded(), NoKernel: !op.recorded(),
			Constant: catalogue.Is(op.Type, catalogue.Constant), Feed: catalogue.Is(op.Type, catalogue.Feed),
		})
	}
	return t
}

// Groups are the operators of the left side in their order, then those that only
// the right side has.
func (b *ByNames) Groups() (list []Group) {
	right := map[string]SideOperator{}
	var order []string
	for op := range b.Right.Operators() {
		if _, twice := right[op.Name]; !twice {
			order = append(order, op.Name)
		}
		right[op.Name] = op
	}
	seen := map[string]bool{}
	for op := range b.Left.Operators() {
		if !op.recorded() {
			continue
		}
		row := b.row(len(list), op)
		seen[op.Name] = true
		other, ok := right[op.Name]
		if !ok {
			row.Right.Names = "*"
			row.Add(result.Because(result.NoRightOp, op.Name))
			list = append(list, only(row, &MissingError{op.Name}))
			continue
		}
		list = append(list, func(ctx context.Context, w *Worker) (found Found) {
			found.Err = b.operator(ctx, row, op, other, w, &found)
			return found
		})
	}
	for _, name := range order {
		if op := right[name]; !seen[name] && op.recorded() {
			row := b.row(len(list), op)
			row.Left.Names = "*"
			row.Add(result.Because(result.NoLeftOp, name))
			list = append(list, only(row, &MissingError{name}))
		}
	}
	return list
}

// row is a row about a whole operator.
func (b *ByNames) row(i int, op SideOperator) result.Row {
	row := wholeRow(i)
	row.Op, row.Type = op.Name, op.Type
	row.Left.Names, row.Right.Names = op.Name, op.Name
	return row
}

// only is a group with a row that is known beforehand.
func only(row result.Row, failed error) Group {
	return func(context.Context, *Worker) Found { return Found{Rows: []result.Row{row}, Failed: failed} }
}

// operator compares the tensors of an operator that both sides have.
func (b *ByNames) operator(ctx context.Context, base result.Row, left, right SideOperator, w *Worker, found *Found) error {
	for _, d := range []struct {
		role        result.Role
		left, right []int
	}{{result.Input, left.Inputs, right.Inputs}, {result.Output, left.Outputs, right.Outputs}} {
		slots := append(slices.Clone(d.left), d.right...)
		slices.Sort(slots)
		for _, slot := range slices.Compact(slots) {
			row := base
			row.Role, row.Slot = d.role, slot
			switch {
			case !slices.Contains(d.right, slot):
				row.Add(result.Because(result.NoRightTensor, row.Op, row.Tensor()))
			case !slices.Contains(d.left, slot):
				row.Add(result.Because(result.NoLeftTensor, row.Op, row.Tensor()))
			default:
				if err := b.tensor(ctx, &row, w); err != nil {
					return err
				}
			}
			found.add(row)
		}
	}
	return nil
}

func (b *ByNames) tensor(ctx context.Context, row *result.Row, w *Worker) error {
	left, err := b.Left.Open(row.Op, row.Role, row.Slot)
	if err != nil {
		row.Unreadable(result.Because(result.BadTensor, row.Op, err.Error()), b.Left.Dir(), err)
		return nil
	}
	defer left.Close()
	right, err := b.Right.Open(row.Op, row.Role, row.Slot)
	if err != nil {
		row.Unreadable(result.Because(result.BadTensor, row.Op, err.Error()), b.Right.Dir(), err)
		return nil
	}
	defer right.Close()
	row.Left.File, row.Right.File = left.File, right.File
	row.Left.DType, row.Left.Shape = left.Type, left.Shape
	row.Right.DType, row.Right.Shape = right.Type, right.Shape
	shapes := []string{shapeText(left.Shape), shapeText(right.Shape)}
	switch {
	case left.Count != right.Count:
		row.Add(result.Because(result.ShapesDiffer, row.Op, shapes[0], shapes[1]))
		return nil
	case otherOrder(left.Shape, right.Shape):
		row.Add(result.Because(result.AxesUnknown, row.Op, shapes[0], shapes[1]))
		return nil
	case !slices.Equal(nd.WithoutOnes(left.Shape), nd.WithoutOnes(right.Shape)):
		row.Add(result.Because(result.StorageOrder, shapes[0], shapes[1]))
	}
	return w.Compare(ctx, row, &left.Tensor, &right.Tensor, left.File, right.File)
}
