// Package oracle recomputes recorded operators from their own recorded inputs
// and tells which of them their inputs do not explain. It needs no golden data.
//
// # How an operator is judged
//
// The inputs of an operator as they were dumped are taken as given, however
// wrong. What the operator makes of them is computed in float64, together with
// a bound: how far a device may be off that multiplies exactly, adds in float32
// in any order and rounds the result to the type of the output. With y the
// value, B the bound before the last rounding, v the unit roundoff of the
// output's type and t half its least subnormal number, an element is explained
// when
//
//	|recorded - y| <= B + v·(|y| + B) + t
//
// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapters 3 and
// 4). An output is [Wrong] when an element lies beyond that under every reading
// of the graph, [Suspect] when something short of that is odd, and [Unknown],
// with a reason, where the package cannot tell. Bounds are absolute: nothing is
// divided by a sum that may have cancelled.
//
// # Files
//
// What is computed stands in files of forms, each of which opens with its formulas, where devices
// round, and the sources:
//
//   - formula.go, arithmetic.go, activation.go, logic.go: the numbers in one place;
//   - move.go, pick.go, cache.go: what moves, parts and places, layouts of sequences and their caches;
//   - product.go, conv.go, linear.go, recurrent.go, attention.go, route.go: products and what is
//     made of them;
//   - reduce.go, norm.go, pool.go, distances.go, quant.go: rows, windows, losses, numbers in steps;
//   - tape.go, programs.go: functions whose gradients follow from what they compute.
//
// What computes is values.go, operand.go and gemm.go. A call finds its form in registry.go, call.go and
// mindspore.go; modules.go has what is made of several calls. Judging is check.go and judge.go, for
// dumps (run.go, follow.go), for recordings of calls (recording.go, bound.go, statistics.go) and for
// ranks together (gather.go, meet.go, ranks.go); why.go and gatherwhy.go look for causes.
//
// # To add an operator
//
// A row of op/operators.txt names it and says how it is computed: a formula, another function whose
// parameters its inputs are, steps, or a form of this package. A form is a call of define or register
// in the file of its family: a function that turns a call into [Values], the outputs as they should
// be. Its comment says the formula, where it is from, and the bound. Most forms are put together from
// few kinds of Values: pointwise, strided (all that only moves elements), reduced, rows, product.
//
// # Memory
//
// Values are computed on demand, in runs. Operands are read through
// [precision/dump/layout] a tile at a time, or kept as float32 where an operator
// needs them in any order and they are not larger than [maxHeld] elements. No
// attribute ever decides how much is allocated: shapes are those of recorded
// tensors, and an operator whose formula gives another shape than the recorded
// one is refused.
package oracle
