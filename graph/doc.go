// Package graph is the model of a graph that the Ascend Graph Engine (GE) compiled, and the questions a precision
// comparison asks of it: which framework operators an NPU operator stands for, how operators are connected, what two
// builds of a network have in common.
//
// One [Model] holds every source. It consists of graphs ([Graph]), these of operators ([Op]) with inputs ([Edge]),
// tensor descriptors ([TensorDesc]) and attributes ([Attrs], [Value]). Byte blobs (kernels, weights) are counted and
// not kept, so a model is much smaller than its file. Models are made with a [Builder], which keeps what occurs again
// and again once.
//
// Questions about edges, also through called graphs, go to an [Index]; node descriptions ([Index.Node]) and the
// comparison of two builds ([Compare]) start from it. [Model.Summary] counts, [Model.Select] finds operators,
// [Model.Casts] judges the casts, [MatchDump] finds the graph that a folder of dumps belongs to.
//
// The rooms around it import it, and it imports none of them: graph/read reads models from files, graph/write writes
// the JSON that atc would, graph/fusion derives which operators stand for which framework operators, graph/draw makes
// pictures.
package graph
