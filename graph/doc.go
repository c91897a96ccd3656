// Package graph reads the graphs that the Ascend Graph Engine (GE) writes and answers what a
// precision comparison asks of them: which framework operators an NPU operator stands for, which
// golden tensor belongs to an input or output, how operators are connected.
//
// One [Model] holds every source: the text dump ge_proto_*.txt, the JSON that atc prints from it or
// from an offline model, the offline model (.om) itself, and the ONNX-style dump. [Open] and [Read]
// tell the sources apart by their content. Byte blobs (kernels, weights) are counted and dropped
// while reading, so a model is much smaller than its file.
//
// What readers leave out: attribute groups and weight compression tables, which say nothing about precision, and
// fields unknown to the schema, which give a warning.
//
// [NewRules] derives the fusion relations from a model; [Rules.GoldenInput] and [Rules.GoldenOutput] find the
// golden tensor of an operator's input or output. [NewIndex] answers questions about edges, also through called graphs; it is what
// node descriptions, drawings and the comparison of two builds ([Compare]) start from. [MatchDump] finds the graph a
// dump folder belongs to, [ReadFusionResult] reads which fusion passes fired, and [WriteJSON] writes what atc would.
package graph
