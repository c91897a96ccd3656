package dtype

func widenFloat16(dst []float32, src []byte)  { widenFloat16Generic(dst, src) }
func widenBFloat16(dst []float32, src []byte) { widenBFloat16Generic(dst, src) }
