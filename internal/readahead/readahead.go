// Package readahead asks the system to bring files into memory that will be read soon.
package readahead

// File asks for a regular file and returns at once; it reports whether it had to. What is in memory, what is no
// regular file and what cannot be opened is left alone: who reads it will say what is wrong with it. Where
// the system does not know how (only Linux does here), nothing is asked for.
func File(path string) bool { return file(path) }
