// Package recording pairs two recordings of the calls of a program, as msprobe
// makes them, and is a source of rows for the engine: tensors of which both sides
// have the elements are compared element by element, all others by what the
// recordings say of them.
//
// # Pairs
//
// Calls are brought together as sequences (align.go): what both sides do in the
// same order is a pair, whatever numbers the calls have. What is left is paired by
// name, then by equal arguments. Two calls of one function that were made in
// another order change places again if their arguments say so. Backward calls go
// with their forward calls. A call without a partner is a row without values.
//
// # Edges
//
// A recording has no graph. What feeds an input is found by content (feed.go): the
// latest earlier output of the same side with the same checksum, or the same
// statistics and number of elements.
package recording
