// Package stats reads tables of statistics: what recorders write of tensors whose
// elements they do not keep, a line a tensor, as csv.
//
//   - GE, dump_data=stats: one file an operator, type.name.task.stream.time.csv, with
//     the columns Input/Output, Index, Data Size, Data Type, Format, Shape and the
//     statistics that were chosen;
//   - MindSpore (O0, O1) and msprobe's merge of the former: statistic.csv, with Op
//     Type, Op Name, Task ID, Stream ID, Timestamp, IO (or Input/Output) and Slot in
//     front;
//   - ATB: statistic.csv, with Device and PID, Execution Count, Op Name, Op Type, Op
//     Id, Input/Output and Index in front, and the path of the tensor behind.
//
// Columns are found by their names, as the choice of statistics moves them; blanks,
// underscores and capitals do not matter. ATB's table is verified on files made to
// the writer's grammar, the others are from manuals and sources only.
//
// A NaN is not in every recorder's extremes. Where counts of NaN and infinities, or a
// mean or norm of NaN, tell of some, Max and Min are what PyTorch would say: NaN if
// there is any, else the infinity.
package stats
