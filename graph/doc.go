// Package graph reads the graphs that the Ascend Graph Engine (GE) writes and answers what a
// precision comparison asks of them: which framework operators an NPU operator stands for, which
// golden tensor belongs to an input or output, how operators are connected.
//
// One [Model] holds every source: the text dump ge_proto_*.txt, the JSON that atc prints from it or
// from an offline model, the offline model (.om) itself, and the ONNX-style dump. [Open] and [Read]
// tell the sources apart by their content. Byte blobs (kernels, weights) are counted and dropped
// while reading, so a model is much smaller than its file.
//
// [NewRules] derives the fusion relations from a model; [Rules.Golden] finds the golden tensor of an
// operator's input or output.
package graph
