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
// # To add an operator
//
// One file with a call of register in an init function: the types, and a
// function that turns the [Call] into [Values], the outputs as they should be.
// The file says the formula, where it is from, and the bound. Most operators
// are put together from few kinds of Values: pointwise, strided (all that only
// moves elements), reduced, rows, product.
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
