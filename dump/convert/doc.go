// Package convert writes the tensors of recordings into files that other tools
// read: numpy arrays, bare elements and PyTorch files, as stored or brought to
// another layout. Buffers and work spaces become files of bytes, overflow
// records become JSON.
//
// [Files] finds the recordings that a user names, [Convert] writes what is in
// them. Files are converted side by side, and what is wrong with one tensor or
// one file stops no other: the [Report] tells, in the order of the files, what
// was written, what was not and why, and which exit code that means.
//
// # Two ways
//
// With [Options.Compat] names, element types and exit codes are those of
// msaccucmp.py convert, for scripts that rely on them. Without it
//
//   - names tell the real shape, type and layout, and of a renamed recording
//     (mapping.csv) the real name;
//   - scalars have no dims, empty tensors keep their type, 8-bit floats become
//     float32;
//   - every type that can be decoded is, and of the others the bytes are written;
//   - all pairs of layouts that package layout knows can be converted, and the
//     padding of channel blocks is cut off wherever the original shape shows it;
//   - buffers, work spaces and overflow records are written with a layout, too;
//   - a damaged recording yields the tensors that it has in full.
//
// # Differences from msaccucmp.py
//
// Even with Compat some things are better, where the old tool loses data or
// writes wrong ones:
//
//   - original shapes are never applied to the axes of another layout: NHWC to
//     NCHW, anything to HWCN and to FRACTAL_Z keep all their elements;
//   - weights of several groups do not overwrite each other in FRACTAL_Z;
//   - 8-bit floats have their true values, bits that fill no byte are kept;
//   - one tensor of an unreadable type leaves the others of its file readable;
//   - PyTorch files are PyTorch files with a layout, too;
//   - what is converted to a layout is never named after another one;
//   - two recordings never overwrite each other's results.
package convert
