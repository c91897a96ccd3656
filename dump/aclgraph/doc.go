// Package aclgraph reads the tensors that msprobe's AclGraphDumper records of a
// PyTorch program captured as a graph:
//
//	step<N>/rank<R>|pid<P>/dump_tensor_data|tensor_data/<api>.<call>.input|input_kwargs|output[.<place>].pt
//	dump_tensor_data/rank<R>|pid<P>/    files of a replay that was not filed away yet
//
// There is no dump.json with tensors: the names of the files are all that tells the
// calls. They tell no order, and calls are counted on from step to step; [Load] lists
// them by name and counts those of one function from 0. Statistics of the same
// recorder are a dump.json, which package msprobe reads.
//
// Files with the names of an ordinary recording (<entry>.output.0.pt or .npy), of which
// the dump.json is lost or was never written, are read likewise.
//
// All of this is from the recorder's manual; no recording was at hand. The files
// themselves are those of torch.save, which package torch was verified on.
package aclgraph
