// Package layout knows the memory layouts an NPU stores tensors in and how to
// read them back in the order of an ordinary framework array.
//
// A device layout is described by a [Format] number. [Restore] turns a pair of
// formats and the stored dims into a [View]: strides over the stored elements
// that yield the logical tensor, with the padding of the channel blocks cut
// off. A View is planned from dims alone; the elements are moved later, a tile
// at a time, by a [Reader], from memory or from a file.
//
// The package knows nothing of element types beyond their size in bytes.
package layout
