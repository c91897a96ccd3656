// Package mindspore reads what MindSpore records of a graph it runs kernel by kernel
// (jit levels O0 and O1): a file of numpy for each tensor, a table of statistics, or
// both.
//
//	rank_<rank>/<net>/<graph>/<iteration>/statistic.csv
//	                                      type.name.task.stream.time.input.<index>[.<slot>].<format>[.<dtype>].npy
//	                                      type.name.json
//	                                      mapping.csv
//
// Since version 2.4 names end in the type that the tensor had: a bfloat16, int4 or
// uint1 is kept as float32, int8 or uint8. Names that were too long for the file
// system are in mapping.csv. type.name.json holds the arguments of a kernel.
//
// A kernel that ran several times has files of several times. These may differ
// between the tensors of one run, so that a run ends where a tensor comes again.
// The number in the names of kernels (-op12) counts nodes of the graph, and is
// another when the graph is built in another way.
//
// Names and elements were verified on MindSpore 2.10 on a CPU; the table of statistics is from its
// manuals. What
// msaccucmp converts (type.name.task.stream.time.output.0.NCHW.npy) is named alike
// and read, too; that was verified.
package mindspore
