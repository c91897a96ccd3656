// Package job compares a whole training job: many ranks, many steps, each a
// recording of its own, with one pool of workers and memory that depends on the
// workers and not on the ranks.
//
// # From folders to a verdict
//
//	plan, err := job.Request{Left: dumps, Right: golden, …}.Plan(ctx)
//	result, err := plan.Run(ctx, out, job.Settings{…})
//
// [Request.Plan] finds the recordings, brings them together by rank and step, and
// says what has no partner. The plan is a list of units: parts, each the comparison of
// one rank and step, and meetings, each an operator that several ranks ran together.
// [Plan.Run] runs the units, writes the tables of a part as soon as it is
// done, and keeps of it a [Digest], which is small. When all are done the digests are
// drawn together into a [Result]: which roots all ranks have in common, which are those of one
// rank or host, and at which step they begin.
//
// # What can end it
//
// Finished units are in a journal in the output folder, and so are the finished
// operators of a part that takes long (journal.go, rows.go). A run that was killed goes on
// where it was, and its files are those of a run that was not: nothing in them depends on
// when, in which order or on which machine a unit ran. Therefore a shard of the units can
// run anywhere, and [Merge] joins shards to the files of a whole run.
package job
