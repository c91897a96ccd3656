// Package result is the model of a comparison: what an engine found, as data.
//
// A [Table] holds [Row]s, one for every pair of tensors, and the [Operator]s of
// the network with the edges between them, as far as a graph tells. Why a row
// has no values is a [Reason]: a kind and its arguments, never a sentence.
//
// The package knows no files, no flags and no language. Engines fill tables
// (package compare), the judge reads them (compare/verdict), and renderers
// turn them into csv, text, JSON or a page (compare/report).
//
// # Sides
//
// Every pair has a left side, the tensor that was recorded on the NPU and is
// under test, and a right side, what it is held against: the golden array of a
// framework, or the dump of another NPU run.
package result
