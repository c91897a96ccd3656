// Package msprobe reads what the recorder msprobe writes about the calls of a
// PyTorch or MindSpore program: dump.json (or debug.json) with the arguments and
// results of every call, construct.json with the modules that calls belong to,
// and stack.json with their lines of source.
//
// A [Scanner] walks through dump.json call by call in the order of recording,
// with a window of the file in memory, so that files of any size are read:
//
//	s := msprobe.NewScanner(f, "step0/rank0/dump.json")
//	for s.Scan() {
//		switch rec := s.Result().(type) {
//		case *msprobe.Call:
//			// rec.Values: tensors with their statistics, and arguments
//		case *msprobe.SyntaxError:
//			// a part that cannot be read; the scan goes on behind it
//		}
//	}
//	if err := s.Err(); err != nil {
//
// The file is nearly JSON: numbers may be NaN and Infinity, whole numbers may be
// beyond 64 bits. A file cut short, because the recorder was killed, gives every
// value that is complete. Keys that are not known are kept aside, of whatever
// type they are.
//
// The forms of calls, tensors, scalars, slices, sizes, types and devices of
// PyTorch, NaN and infinities, statistics, CRC and xor, and debug.json were
// verified on recordings; so were MindSpore tensors and the older form of
// stack.json. DTensor, process groups, ACLGraph and the micro steps of Megatron
// are from the recorder's documentation only.
package msprobe
