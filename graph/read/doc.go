// Package read reads the graphs that the Ascend Graph Engine (GE) writes: the text dump ge_proto_*.txt, the JSON that atc
// prints from it or from an offline model, the offline model itself (.om, and its zip form), a binary model
// definition, and the ONNX-style dump ge_onnx_*.pbtxt. [Open] and [Read] tell them apart by their content;
// [FindFiles] and [OpenFolder] look for them below a folder.
//
// What readers leave out: attribute groups and weight compression tables, which say nothing about precision, and
// fields unknown to the schema, which give a warning.
package read
