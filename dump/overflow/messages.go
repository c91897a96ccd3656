package overflow

// Language of texts for people.
type Language uint8

const (
	English Language = iota
	Chinese
	languages
)

// Message is the key of a text for people.
type Message uint8

const (
	NegationOverflow Message = iota
	IntegerOverflow
	FloatOverflow
	NegativeToUnsigned
	ToHalfOverflow
	CubeOverflow
	AtomicOverflow
	AtomicUnderflow
	SourceNaN
	DestinationNaN
	BothNaN
	UnknownBits
	UnknownCode
	Undocumented

	AdviceHere
	AdviceUpstream
	AdviceInside
	AdviceNoTensors
	AdviceIncomplete

	StatusLine
	messages
)

// texts holds every message in every language. A further language is a column
// here and a constant above.
var texts = [messages][languages]string{
	NegationOverflow:   {"overflow in negating the smallest signed integer", "对最小的有符号整数取负时溢出"},
	IntegerOverflow:    {"overflow in an integer addition, subtraction, multiplication or multiply-add", "整数加减、乘法或乘加时溢出"},
	FloatOverflow:      {"overflow in floating-point arithmetic", "浮点运算溢出"},
	NegativeToUnsigned: {"a negative number converted to an unsigned type", "负数转换为无符号类型"},
	ToHalfOverflow:     {"overflow in converting float32 or int32 to float16", "float32 或 int32 转换为 float16 时溢出"},
	CubeOverflow:       {"overflow in the sums of the matrix unit (cube)", "矩阵单元（CUBE）累加时溢出"},
	AtomicOverflow:     {"the atomic addition overflowed", "原子加结果上溢"},
	AtomicUnderflow:    {"the atomic addition underflowed", "原子加结果下溢"},
	SourceNaN:          {"the source of the atomic addition is NaN", "原子加的源操作数为 NaN"},
	DestinationNaN:     {"the destination of the atomic addition is NaN", "原子加的目的操作数为 NaN"},
	BothNaN:            {"source and destination of the atomic addition are NaN", "原子加的源和目的操作数都为 NaN"},
	UnknownBits:        {"bits %s, whose meaning is not documented", "状态位 %s，含义未公开"},
	UnknownCode:        {"status %s with the code %d, whose meaning is not documented", "状态 %s，代码 %d 的含义未公开"},
	Undocumented:       {"status %s; what its bits mean is not documented", "状态 %s，各位的含义未公开"},

	AdviceHere:       {"extreme values are in the outputs but not in the inputs: this operator overflowed", "极值只出现在输出中，输入正常：溢出发生在本算子"},
	AdviceUpstream:   {"extreme values are already in the inputs: look at the operators before it and at constants", "输入中已有极值：请检查上游算子或常量输入"},
	AdviceInside:     {"neither inputs nor outputs have extreme values: an intermediate result overflowed", "输入和输出都没有极值：溢出发生在计算的中间结果"},
	AdviceNoTensors:  {"no tensor could be read", "没有可读取的张量"},
	AdviceIncomplete: {"inputs or outputs are not in the dump or could not be read: whether extreme values were in the inputs already is not known", "dump 中缺少输入或输出，或有张量无法读取：无法判断输入中是否已有极值"},

	StatusLine: {"meaning", "含义"},
}

// In is the text in a language.
func (m Message) In(l Language) string {
	if m >= messages || l >= languages {
		return ""
	}
	return texts[m][l]
}

// fieldNames explains the fields of records.
var fieldNames = map[string][languages]string{
	"model_id":    {"model of the operator", "算子所属模型的编号"},
	"stream_id":   {"stream of the operator", "算子所在流的编号"},
	"task_id":     {"task of the operator", "算子任务的编号"},
	"task_type":   {"kind of task", "任务类型"},
	"context_id":  {"FFTS+ context, 65535 for none", "FFTS+ 上下文编号，65535 表示无"},
	"thread_id":   {"FFTS+ thread, 65535 for none", "FFTS+ 线程编号，65535 表示无"},
	"pc_start":    {"address where the operator's code starts", "算子代码的起始地址"},
	"para_base":   {"address of the operator's parameters", "算子参数的起始地址"},
	"kernel_code": {"address where the kernel starts", "核函数代码的起始地址"},
	"block_idx":   {"block within the kernel", "核内分块号"},
	"block_id":    {"block within the kernel", "核内分块号"},
	"core_id":     {"AI core", "AI Core 编号"},
	"cpu_id":      {"AI CPU", "AI CPU 编号"},
	"src_addr":    {"address copied from", "搬运的源地址"},
	"dst_addr":    {"address copied to", "搬运的目的地址"},
	"channel_id":  {"DMA channel", "DMA 通道号"},
	"status":      {"what overflowed", "溢出状态"},
}

// FieldName explains a field of a record by its name in JSON; "" if there is
// no such field.
func FieldName(name string, l Language) string {
	if l >= languages {
		return ""
	}
	return fieldNames[name][l]
}
