package result

// Map says that calls of one side do what other calls of the other side do: a fused
// function and those it stands for, a Cell and a Module.
type Map struct {
	// Left and Right name calls: a function as NPU.npu_rms_norm or npu_rms_norm, or
	// the class of a module as RMSNorm. Of several they are made in this order, maybe
	// with others between them. Either side may be the one on the left.
	Left, Right []string
}
