package main

import (
	"io"
	"os"
)

// output is standard output of a command. It remembers that something could not
// be written, which few who print ask for.
type output struct {
	w   io.Writer
	err error // the first one
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// terminal is the file a writer leads to, or nil.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, _ := w.(*os.File)
	return f
}
