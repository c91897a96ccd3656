// Package compare pairs the tensors an NPU recorded with golden ones, computes
// their metrics and yields the rows of a result table.
//
// # From folders to rows
//
// A [Job] names two folders and a graph; [Job.Open] finds the data, reads the
// graph and checks that the sides go together. The [Session] it gives writes
// the table with [Session.WriteFile], or hands rows on through [Run]:
//
//	session, err := compare.Job{Left: npu, Right: golden, Graph: graph}.Open(ctx)
//	…
//	summary, err := session.WriteFile(ctx, "result.csv", 0.98)
//
// # What is paired
//
// With a graph, every tensor in the dump of an operator is paired with the
// framework tensor it stands for: an output by what the graph says of its
// origin, an input at the operator that produces it, both through inserted
// casts and layout conversions. Without a graph operators are paired by name:
// all tensors of two NPU runs, or the outputs of an NPU run with arrays.
//
// # How a pair is computed
//
// A plan is made from shapes and layouts alone: a strided view that reads the
// stored elements in golden order with the block padding left out. Tiles are
// then read through the view, widened, and reduced by compare/metric. Memory
// depends on the number of workers, not on the size of tensors, and the digits
// depend on neither: see pair.go.
//
// # Rows and reasons
//
// What cannot be compared is a row with a [Reason], not an error: one bad
// tensor never takes others with it. Errors are for what makes the whole
// comparison senseless. Where msaccucmp.py has an exit code for an error,
// [ExitCode] finds it.
//
// In reference numerics rows follow the habits of msaccucmp.py, flat shapes and
// blank reasons included; in exact numerics they say what is the case.
package compare
