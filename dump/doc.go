// Package dump finds recorded tensors and reads what their files say about
// them.
//
// # Reading a file
//
// [OpenFile] reads the header of a device dump, of a compact (nano) dump or of a
// numpy array and returns a [File]: which tensors there are, of what type,
// format and shape, and where in the file their elements lie. It does not read
// the elements; the file stays open for them.
//
// A device dump is a header length (uint64), a protobuf header of that length,
// and then the elements of all inputs, all outputs, all buffers and all work
// spaces, without gaps. Integers are little-endian.
//
// What is wrong with one tensor is its own affair: a payload that was cut, a
// shape that needs more bytes than there are, or a type that cannot be decoded
// are in [Tensor.Err], and the other tensors of the file are as usable as ever.
// What makes a whole file unreadable is an [*Error], which carries the exit
// code that msaccucmp.py uses for it.
//
// # Finding files
//
// [ParseName] takes the name of a file apart. [Scan] lists the recordings of
// one folder by operator, the newest last, and [Resolve] finds the folder that
// has the recordings when it is given one further up. Everything that was
// passed over or repaired on the way is listed as a [Warning].
//
// # Differences from msaccucmp.py
//
//   - Files of an unknown task type are passed over with a warning; there, one
//     such file ends the run with code 37.
//   - The time of a dump is taken from its place in each form of name; there,
//     it is the last field, so that names that end in a device number have none.
//   - Dots in the operator part of numpy names are normalised like all other
//     separators; there, such a file is never found.
//   - Renamed files (mapping.csv) take part under their real names everywhere.
//   - Only the known forms of names count as dumps; there, every name that
//     begins like one does, the converter's own output included.
//   - An operator makes a side quantised by a whole part of its name; there,
//     my_quantity does too.
package dump
