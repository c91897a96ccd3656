// Package engine pairs tensors of two runs, computes their metrics and emits the
// rows of a result table. It judges nothing and prints nothing.
//
// # From folders to rows
//
// A [Job] names two folders and, if there is one, a graph; [Job.Open] finds the
// data, reads the graph and checks that the sides go together. The [Session] it
// gives is run:
//
//	session, err := engine.Job{Left: npu, Right: golden, Graph: graph}.Open(ctx)
//	…
//	out, err := session.Run(ctx, csv.Row)
//
// Every row goes to the listeners as soon as its turn comes, and into the
// table of the outcome, which compare/verdict judges and compare/report renders.
//
// # Sources
//
// What is paired with what is the business of a [Source]; [Run] does the rest, with
// one pool of workers, and brings rows into order. The sources are
//
//   - [Folders]: two folders of recordings, brought together by a graph or by
//     the names of operators;
//   - package recording: recordings of calls, which are aligned;
//   - package weights: two sets of named tensors;
//   - package torch: two PyTorch recordings in HDF5 files.
//
// [Arrays] compares two files, [Detail] one tensor element by element.
//
// # What is paired
//
// With a graph, every tensor in the dump of an operator is paired with the
// framework tensor it stands for: an output by what the graph says of its
// origin, an input at the operator that produces it, both through inserted
// casts and layout conversions. Without a graph operators are paired by name:
// all tensors of two NPU runs, or the outputs of an NPU run with arrays.
//
// A job without a graph takes the one that lies beside the dumps. Where names cover
// more operators than the graph, as between two runs of one network, pairs are
// found by name, and the graph tells order and edges only. Of several recordings in
// a folder the newest complete one is taken. All of this is told in the table's
// [result.Meta].
//
// # How a pair is computed
//
// A plan is made from shapes and layouts alone: a strided view that reads the
// stored elements in golden order with the block padding left out. Tiles are
// then read through the view, widened, and reduced by compare/metric. Memory
// depends on the number of workers, not on the size of tensors, and the digits
// depend on neither: see pair.go.
//
// # Reasons and errors
//
// What cannot be compared is a row with a [result.Reason], not an error: one bad
// tensor never takes others with it. Errors are for what makes the whole
// comparison senseless. They say what sort of thing went wrong ([Fault]) and name
// no option; a program maps them to its options and exit codes.
//
// In reference numerics rows follow the habits of msaccucmp.py, flat shapes and
// blank reasons included; in exact numerics they say what is the case.
package engine
