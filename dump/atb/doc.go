// Package atb reads what the ATB probe of msprobe records of a network built with
// Ascend Transformer Boost: the inputs and outputs of operations and kernels, as
// tensors, as statistics, or both.
//
//	atb_dump_data/data/<device>_<process>/<round>/
//	    statistic.csv
//	    <id>_<Operation>[/<id>_<Operation>...]/op_param.json
//	                                          /before/intensor<i>[_<name>].bin
//	                                          /after/outtensor<i>[_<name>].bin
//	atb_dump_data/info/{layer,model}/<device>_<process>/*.json
//
// [Find] lists the rounds below a path, [Load] gives the operations of one, children
// ahead of what they are part of, from the table and from the folders: either may be
// there without the other.
//
// A .bin file is lines key=value, then the elements (see [ReadHeader]). A tensor that
// was saved elsewhere is an alias: a line data=2_0_outtensor1.bin instead of
// elements names the operation by its path of numbers, and data=intensor0.bin is the
// tensor of that name of the parent. [Recording.Open] follows aliases, finds
// circles, and never leaves the recording, as an alias names operations and not files.
//
// info holds the structure: the tensors of operations by names that say what feeds
// what.
//
// Verified on files that were made to the grammar of the writer (headers, elements,
// an alias, the table). Circles of aliases, parameters and the structure rest on the
// writer's sources; so does that lines of the table come in any order, as threads
// write them.
package atb
