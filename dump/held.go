package dump

// Device tells whether the folder holds dumps of whole operators, inputs and
// outputs, as a device wrote them: in its layouts and under its names of operators.
// Else every recording is one output of the framework's operator.
func (f *Folder) Device() bool { return f.Kind == Offline }

// Simulated tells whether the folder holds what the framework computed of a
// quantised network: numbers of the device's dtypes, in no layout of a device.
func (f *Folder) Simulated() bool { return f.Kind == Quant }

// Holding returns the recordings that hold an output of an operator, nil if there
// are none: those of the operator where it is recorded as a whole, else those of
// the output.
func (f *Folder) Holding(op string, output int) *Op {
	if f.Device() {
		return f.Op(op)
	}
	return f.Output(op, output)
}

// Described names the kind of recordings in a word: npu, quantised, numpy, or what
// [Kind] calls it.
func (f *Folder) Described() string {
	switch {
	case f.Device():
		return "npu"
	case f.Simulated():
		return "quantised"
	case f.Numpy:
		return "numpy"
	}
	return f.Kind.String()
}
