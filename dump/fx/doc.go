// Package fx reads what torchair records of a graph of FX that is run node by node:
// an array of numpy for every input and output of a node.
//
//	msprobe_fx_dump/worldsize<W>_global_rank<R>/<model>/<token>/<node>-<function>.INPUT|OUTPUT.<index>.<time>.npy
//	[msprobe_fx_dump/]data_dump/<token>/gm_<time>_dump/
//
// as mm-aten.mm.default.OUTPUT.0.20240125031118787351.npy. Tokens are counted from 1,
// those of GE from 0; [dump.PlaceOf] gives both in the numbering of GE.
//
// A graph that GE compiled records ordinary device dumps. Which node an output of it
// is tells the attribute _fx_tensor_name of the graph beside (dynamo_original_*.txt),
// by which package fusion knows its golden array, the file above.
//
// All of this is from the manuals and sources of msprobe and torchair; no recording was
// at hand.
package fx
