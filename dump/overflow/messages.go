package overflow

import (
	"embed"

	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Message is the key of a text for people.
type Message string

const (
	NegationOverflow   Message = "overflow.negationOverflow"
	IntegerOverflow    Message = "overflow.integerOverflow"
	FloatOverflow      Message = "overflow.floatOverflow"
	NegativeToUnsigned Message = "overflow.negativeToUnsigned"
	ToHalfOverflow     Message = "overflow.toHalfOverflow"
	CubeOverflow       Message = "overflow.cubeOverflow"
	AtomicOverflow     Message = "overflow.atomicOverflow"
	AtomicUnderflow    Message = "overflow.atomicUnderflow"
	SourceNaN          Message = "overflow.sourceNaN"
	DestinationNaN     Message = "overflow.destinationNaN"
	BothNaN            Message = "overflow.bothNaN"
	UnknownBits        Message = "overflow.unknownBits"
	UnknownCode        Message = "overflow.unknownCode"
	Undocumented       Message = "overflow.undocumented"

	AdviceHere       Message = "overflow.adviceHere"
	AdviceUpstream   Message = "overflow.adviceUpstream"
	AdviceInside     Message = "overflow.adviceInside"
	AdviceNoTensors  Message = "overflow.adviceNoTensors"
	AdviceIncomplete Message = "overflow.adviceIncomplete"

	StatusLine Message = "overflow.statusLine"
)

// In is the text in a language.
func (m Message) In(l msg.Lang, args ...any) string { return l.T(string(m), args...) }
