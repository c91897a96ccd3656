// Package overflow reads the records that a device leaves of overflows and
// tells which operators they are about.
//
// With overflow detection on, an overflow leaves two files in the folder of
// its step: a record, Opdebug.Node_OpDebug.<task>.<stream>.<time>, and the
// dump of the operator. The record is a device dump whose only output has 2048
// bytes. The numbers in its name belong to the task that wrote it; those of
// the operator are in the payload. [Read] decodes it, [Match] finds the dump,
// [Analyse] does both for all records of a folder and adds statistics of the
// tensors, and [Summary] is the report.
//
// A payload has one of two forms, told apart by its first four bytes (device
// overflow record format; all integers little-endian, offsets in bytes):
//
//	old form, 2048 bytes, all fields uint64
//	   0  DHA Atomic Add: model, stream, task, task type, pc start, parameters
//	 128  L2 Atomic Add: the same
//	 256  AI Core: the same
//	 512  status of DHA Atomic Add
//	 768  status of L2 Atomic Add
//	1024  AI Core: kernel code, block, status
//
//	tagged form
//	   0  uint32 0x5A5A5A5A, version, valid, detector, reserved, length
//	  24  uint64 fields, which ones depends on the detector
//
// # Differences from msaccucmp.py
//
//   - One bad record does not end the report: the others are in it, with the
//     reason for the bad one, and the exit code is that of the first bad one.
//   - Only names of records and dumps count. There, whatever begins like one
//     does, so that a second run into the folder of the dumps finds the
//     results of the first.
//   - Records of the same name in different folders are all there.
//   - Renamed files (mapping.csv) count in every folder, not only the top one.
//   - A dump without stream or with numbers of FFTS+ in its name is compared by
//     the numbers it has. There, its fields are mixed up, or the command ends
//     with code 1.
//   - Buffers, empty tensors and tensors whose bytes are cut do not end the
//     command.
package overflow
