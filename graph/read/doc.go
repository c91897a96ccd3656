// Package read reads the graphs that the Ascend Graph Engine (GE) writes: the text dump ge_proto_*.txt, the JSON that atc
// prints from it or from an offline model, the offline model itself (.om, and its zip form), a binary model
// definition, and the ONNX-style dump ge_onnx_*.pbtxt. [Open] and [Read] tell them apart by their content;
// [FindFiles] and [OpenFolder] look for them below a folder.
//
// The forms say the same in different words. The schema (messages.go) lists every field once, with its number, its name and
// the place its value goes to; tokenizers of text, JSON, the binary form and ONNX-style dumps find messages and values
// and tell them to one assembler, which puts the model together. A new field is one line of the schema.
//
// What readers leave out: attribute groups and weight compression tables, which say nothing about precision, and
// fields unknown to the schema, which give a warning.
package read
