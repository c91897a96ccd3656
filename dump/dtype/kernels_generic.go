package dtype

// The types that most tensors have. A faster version for one processor
// replaces these three and nothing else.

func float16To32(dst []float32, src []byte)  { float16s(dst, src) }
func bfloat16To32(dst []float32, src []byte) { bfloat16s(dst, src) }
func int8To32(dst []float32, src []byte)     { int8s(dst, src) }
