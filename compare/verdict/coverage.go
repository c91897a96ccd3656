package verdict

import (
	"precision/compare/result"
)

// still are operator types that only give tensors another shape. Without a dump
// they ran no kernel: the compiler made them a change of address.
var still = map[string]bool{
	"Reshape": true, "ExpandDims": true, "Squeeze": true, "Unsqueeze": true, "Flatten": true, "FlattenV2": true, "Identity": true, "IdentityN": true,
	"PhonyConcat": true, "PhonySplit": true, "ReFormat": true, "Bitcast": true, "StopGradient": true, "PartitionedCall": true, "NoOp": true, "NetOutput": true,
	"ReadVariableOp": true, "Assign": true, "StreamActive": true, "StreamSwitch": true, "StreamMerge": true, "Send": true, "Recv": true, "LabelSet": true,
}

// constants and feeds are the operator types whose tensors no kernel computes.
var constants = map[string]bool{"Const": true, "Constant": true, "Variable": true, "VariableV2": true, "VarHandleOp": true, "TemporaryVariable": true, "FileConstant": true}
var feeds = map[string]bool{"Data": true, "PlaceHolder": true, "AnnData": true, "Aipp": true, "AippData": true, "QueueData": true, "GetNext": true, "IteratorV2": true}

// computes tells whether a kernel computes the operator's outputs.
func computes(op *result.Operator) bool {
	return !op.Constant && !op.Feed && !constants[op.Type] && !feeds[op.Type]
}

// coverage counts the outputs of compute operators. An operator without a
// tensor to speak of counts as one.
func (j *judge) coverage() Coverage {
	c := Coverage{Missing: map[result.Class]int{}}
	for i := range j.operators {
		op := &j.operators[i]
		if !computes(op.Op) {
			for _, t := range op.Outputs {
				if t.Verdict != Uncompared {
					c.Constants++
				}
			}
			continue
		}
		for _, t := range op.Outputs {
			r := &j.table.Rows[t.Row]
			switch {
			case t.Verdict != Uncompared:
				c.Expected++
				c.Compared++
			case op.Op.Inner || op.Op.Skipped || r.Class() == result.Empty || r.Class() == result.Skipped:
			default:
				c.Expected++
				c.Missing[r.Class()]++
			}
		}
		if len(op.Outputs) == 0 && len(op.Whole) > 0 && !op.Op.NoKernel && !still[op.Op.Type] && !op.Op.Inner && !op.Op.Skipped {
			if class := j.table.Rows[op.Whole[0]].Class(); class != result.Empty && class != result.Skipped {
				c.Expected++
				c.Missing[class]++
			}
		}
		for _, t := range op.Inputs { // weights that were compared
			p := j.table.Rows[t.Row].Facts.Producer
			if from := j.named(p.Op); t.Verdict != Uncompared && from != nil && !computes(from.Op) {
				c.Constants++
			}
		}
	}
	return c
}
