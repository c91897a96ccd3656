package dtype

// The element types a device dump can name, by their numbers in its header.
const (
	Undefined     Type = 0 // raw bytes, read as int8
	Float32       Type = 1
	Float16       Type = 2
	Int8          Type = 3
	Uint8         Type = 4
	Int16         Type = 5
	Uint16        Type = 6
	Int32         Type = 7
	Int64         Type = 8
	Uint32        Type = 9
	Uint64        Type = 10
	Bool          Type = 11
	Float64       Type = 12
	String        Type = 13
	DualSubInt8   Type = 14
	DualSubUint8  Type = 15
	Complex64     Type = 16
	Complex128    Type = 17
	QInt8         Type = 18
	QInt16        Type = 19
	QInt32        Type = 20
	QUint8        Type = 21
	QUint16       Type = 22
	Resource      Type = 23 // a handle, read as int64
	StringRef     Type = 24
	Dual          Type = 25
	Variant       Type = 26
	BFloat16      Type = 27
	Int4          Type = 28
	Uint1         Type = 29
	Int2          Type = 30
	Uint2         Type = 31
	Complex32     Type = 32 // two float16
	HiFloat8      Type = 33
	Float8E5M2    Type = 34
	Float8E4M3FN  Type = 35
	Float8E8M0    Type = 36
	Float6E3M2    Type = 37
	Float6E2M3    Type = 38
	Float4E2M1    Type = 39
	Float4E1M2    Type = 40
	HiFloat4      Type = 41
	HiFloat4Scale Type = 42
)

// rows is all that the program knows of element types, a row a type: whatever
// needs a name, a number, a size or a limit of a type asks for it here. Types
// whose packing in memory is not documented (the 6-bit floats) or whose values
// depend on another tensor (hifloat4) have no way to be widened.
var rows = []row{
	{typ: Float16, name: "float16", wire: "DT_FLOAT16", ge: 1, class: classFloat, bits: 16, numpy: "f2",
		torch: "HalfStorage", aliases: "half fp16 f16", limits: limits{0x1p-11, 0x1p-14, 0x1p-24, 65504},
		widen: widening{float16To32, float16To64}},
	{typ: BFloat16, name: "bfloat16", wire: "DT_BF16", ge: 27, class: classFloat, bits: 16, array: Float32, reference: Float32,
		torch: "BFloat16Storage", aliases: "bf16", limits: limits{0x1p-8, 0x1p-126, 0x1p-133, 0x1.fep127},
		widen: widening{bfloat16To32, bfloat16To64}},
	{typ: Float32, name: "float32", wire: "DT_FLOAT", ge: 0, class: classFloat, bits: 32, numpy: "f4",
		torch: "FloatStorage", aliases: "float fp32 f32", limits: limits{0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep127},
		widen: widening{float32To32, float32s[float64]}},
	{typ: Float64, name: "float64", wire: "DT_DOUBLE", ge: 11, class: classFloat, bits: 64, numpy: "f8", wide: true,
		torch: "DoubleStorage", aliases: "double fp64 f64", limits: limits{0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023},
		widen: widening{float64s[float32], float64s[float64]}},

	{typ: HiFloat8, name: "hifloat8", wire: "DT_HIFLOAT8", ge: 34, class: classFloat, bits: 8, array: Float32, reference: Float64,
		limits: limits{0x1p-2, 0x1p-15, 0x1p-22, 32768}, widen: codes8(&hiFloat8)},
	{typ: Float8E5M2, name: "float8_e5m2", wire: "DT_FLOAT8_E5M2", ge: 35, class: classFloat, bits: 8, array: Float32, reference: Float64,
		torch: newStorage, limits: limits{0x1p-3, 0x1p-14, 0x1p-16, 57344}, widen: codes8(&float8E5M2)},
	{typ: Float8E4M3FN, name: "float8_e4m3fn", wire: "DT_FLOAT8_E4M3FN", ge: 36, class: classFloat, bits: 8, array: Float32, reference: Float64,
		torch: newStorage, limits: limits{0x1p-4, 0x1p-6, 0x1p-9, 448}, widen: codes8(&float8E4M3FN)},
	{typ: Float8E8M0, name: "float8_e8m0", wire: "DT_FLOAT8_E8M0", ge: 37, class: classFloat, bits: 8, array: Float32,
		torch: newStorage, aliases: "float8_e8m0fnu", limits: limits{0x1p-1, 0x1p-127, 0x1p-127, 0x1p127}, widen: codes8(&float8E8M0)},
	{typ: Float6E3M2, name: "float6_e3m2", wire: "DT_FLOAT6_E3M2", ge: 38, class: classFloat, limits: limits{0x1p-3, 0x1p-2, 0x1p-4, 28}},
	{typ: Float6E2M3, name: "float6_e2m3", wire: "DT_FLOAT6_E2M3", ge: 39, class: classFloat, limits: limits{0x1p-4, 1, 0x1p-3, 7.5}},
	{typ: Float4E2M1, name: "float4_e2m1", wire: "DT_FLOAT4_E2M1", ge: 40, class: classFloat, bits: 4, array: Float32,
		limits: limits{0x1p-2, 1, 0x1p-1, 6}, widen: codes4(&float4E2M1)},
	{typ: Float4E1M2, name: "float4_e1m2", wire: "DT_FLOAT4_E1M2", ge: 41, class: classFloat, bits: 4, array: Float32,
		limits: limits{0x1p-3, 1, 0x1p-2, 1.75}, widen: codes4(&float4E1M2)},
	{typ: HiFloat4, name: "hifloat4", wire: "DT_HIFLOAT4", ge: 42, class: classFloat, bits: 4},
	{typ: HiFloat4Scale, name: "hifloat4_scale", wire: "DT_HIFLOAT4_SCALE", ge: none, class: classFloat, wide: true},

	{typ: Complex32, name: "complex32", wire: "DT_COMPLEX32", ge: 33, class: classComplex, bits: 32, array: Complex64,
		torch: newStorage, aliases: "chalf", limits: limits{0x1p-11, 0x1p-14, 0x1p-24, 65504},
		widen: widening{float16To32, float16To64}},
	{typ: Complex64, name: "complex64", wire: "DT_COMPLEX64", ge: 16, class: classComplex, bits: 64, numpy: "c8",
		torch: "ComplexFloatStorage", aliases: "cfloat", limits: limits{0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep127},
		widen: widening{float32To32, float32s[float64]}},
	{typ: Complex128, name: "complex128", wire: "DT_COMPLEX128", ge: 17, class: classComplex, bits: 128, numpy: "c16", wide: true,
		torch: "ComplexDoubleStorage", aliases: "cdouble", limits: limits{0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023},
		widen: widening{float64s[float32], float64s[float64]}},

	{typ: Bool, name: "bool", wire: "DT_BOOL", ge: 12, class: classBool, bits: 8, numpy: "b1",
		torch: "BoolStorage", aliases: "bool_", widen: widening{bools[float32], bools[float64]}},
	{typ: Int8, name: "int8", wire: "DT_INT8", ge: 2, class: classSigned, bits: 8, numpy: "i1",
		torch: "CharStorage", aliases: "char", widen: widening{int8To32, int8s[float64]}},
	{typ: Uint8, name: "uint8", wire: "DT_UINT8", ge: 4, class: classUnsigned, bits: 8, numpy: "u1",
		torch: "ByteStorage", aliases: "byte float4_e2m1fn_x2", // two numbers a byte, which are compared bit by bit
		widen: widening{uint8To32, uint8s[float64]}},
	{typ: Int16, name: "int16", wire: "DT_INT16", ge: 6, class: classSigned, bits: 16, numpy: "i2",
		torch: "ShortStorage", aliases: "short", widen: widening{int16s[float32], int16s[float64]}},
	{typ: Uint16, name: "uint16", wire: "DT_UINT16", ge: 7, class: classUnsigned, bits: 16, numpy: "u2",
		torch: newStorage, kept: Int32, widen: widening{uint16s[float32], uint16s[float64]}},
	{typ: Int32, name: "int32", wire: "DT_INT32", ge: 3, class: classSigned, bits: 32, numpy: "i4", wide: true,
		torch: "IntStorage", aliases: "int", widen: widening{int32s[float32], int32s[float64]}},
	{typ: Uint32, name: "uint32", wire: "DT_UINT32", ge: 8, class: classUnsigned, bits: 32, numpy: "u4", wide: true,
		torch: newStorage, kept: Int64, widen: widening{uint32s[float32], uint32s[float64]}},
	{typ: Int64, name: "int64", wire: "DT_INT64", ge: 9, class: classSigned, bits: 64, numpy: "i8", wide: true,
		torch: "LongStorage", aliases: "long", widen: widening{int64s[float32], int64s[float64]}},
	{typ: Uint64, name: "uint64", wire: "DT_UINT64", ge: 10, class: classUnsigned, bits: 64, numpy: "u8", wide: true,
		torch: newStorage, kept: Int64, widen: widening{uint64s[float32], uint64s[float64]}},

	{typ: Int4, name: "int4", wire: "DT_INT4", ge: 29, class: classSigned, bits: 4, array: Int8, widen: codes4(&int4)},
	{typ: Uint1, name: "uint1", wire: "DT_UINT1", ge: 30, class: classUnsigned, bits: 1, array: Uint8, reference: Uint8,
		widen: widening{bits1[float32], bits1[float64]}},
	{typ: Int2, name: "int2", wire: "DT_INT2", ge: 31, class: classSigned, bits: 2, array: Int8, widen: codes2(&int2)},
	{typ: Uint2, name: "uint2", wire: "DT_UINT2", ge: 32, class: classUnsigned, bits: 2, array: Uint8, widen: codes2(&uint2)},

	{typ: QInt8, name: "qint8", wire: "DT_QINT8", ge: 18, class: classSigned, bits: 8, array: Int8,
		widen: widening{int8To32, int8s[float64]}},
	{typ: QInt16, name: "qint16", wire: "DT_QINT16", ge: 19, class: classSigned, bits: 16, array: Int16,
		widen: widening{int16s[float32], int16s[float64]}},
	{typ: QInt32, name: "qint32", wire: "DT_QINT32", ge: 20, class: classSigned, bits: 32, array: Int32, wide: true,
		widen: widening{int32s[float32], int32s[float64]}},
	{typ: QUint8, name: "quint8", wire: "DT_QUINT8", ge: 21, class: classUnsigned, bits: 8, array: Uint8,
		widen: widening{uint8To32, uint8s[float64]}},
	{typ: QUint16, name: "quint16", wire: "DT_QUINT16", ge: 22, class: classUnsigned, bits: 16, array: Uint16,
		widen: widening{uint16s[float32], uint16s[float64]}},

	// These two borrow the names of what they are read as.
	{typ: Undefined, name: "int8", borrowed: true, wire: "DT_UNDEFINED", ge: 28, class: classSigned, bits: 8, array: Int8, reference: Int8,
		kept: Int8, widen: widening{int8To32, int8s[float64]}},
	{typ: Resource, name: "int64", borrowed: true, wire: "DT_RESOURCE", ge: 23, class: classSigned, bits: 64, array: Int64, reference: Int64, wide: true,
		kept: Int64, widen: widening{int64s[float32], int64s[float64]}},

	{typ: String, name: "string", wire: "DT_STRING", ge: 13, wide: true},
	{typ: StringRef, name: "string_ref", wire: "DT_STRING_REF", ge: 24, wide: true},
	{typ: DualSubInt8, name: "dual_sub_int8", wire: "DT_DUAL_SUB_INT8", ge: 14, wide: true},
	{typ: DualSubUint8, name: "dual_sub_uint8", wire: "DT_DUAL_SUB_UINT8", ge: 15, wide: true},
	{typ: Dual, name: "dual", wire: "DT_DUAL", ge: 25, wide: true},
	{typ: Variant, name: "variant", wire: "DT_VARIANT", ge: 26, wide: true},
}
