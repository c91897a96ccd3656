// Package fusion knows which operators of the network as it runs stand for which operators of the framework's network.
//
// [New] derives the [Rules] from a model: groups of operators that together stand for the same framework operators, and
// for each output the framework tensor it is. [Rules.GoldenInput] and [Rules.GoldenOutput] find the golden tensor of an
// operator's input or output, through the casts and layout conversions GE inserted and through called graphs.
// [Merge] joins the rules of a quantised network with those of the original, and of a run with fusion with those of a
// run without.
//
// [OpenResult] reads fusion_result.json, which tells what passes fired while a graph was compiled.
package fusion
