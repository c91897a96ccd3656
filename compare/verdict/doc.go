// Package verdict judges a table: which tensors are wrong and by what, which
// operators they belong to, and which of these the error begins at.
//
// # One judge
//
// [Judge] is the only place in the program that says good or bad. Every face
// asks it: the summary in the terminal, the shell, JSON, JUnit, SARIF, the page,
// and the exit status. It reads a [result.Table] and a [Profile] and gives a
// [Judged]; it opens no files and prints nothing.
//
// # From a tensor to a verdict
//
// A tensor is bad if a [Cause] holds: NaN or Inf on one side, a cosine or a
// distance beyond its limit, a side of zeros, an integer that differs. Limits
// come from the profile. Cosine alone does not see a wrong scale, one broken
// tile, one flipped bit; therefore a tensor that no limit finds bad is suspect if
// its error jumps: if it is far larger than the errors of the operator's inputs
// can make it. What an operator makes of errors in its inputs is predicted
// from its type (conditioning.go), what rounding adds from the coarsest dtype,
// and both are set against the noise of the network itself.
//
// # From tensors to roots
//
// An operator is bad if an output is. A root is a bad operator that its inputs
// do not explain; the others inherit. Where inputs were not compared, the search
// goes upstream to the nearest compared tensors, and what lies between is the
// region the root is in. NaN that no input has is always a root of its own.
//
// # No verdict
//
// Where fewer than half of the computed tensors were compared there is none:
// the table is inconclusive, and a gate fails.
package verdict
