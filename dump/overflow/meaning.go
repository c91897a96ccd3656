package overflow

import (
	"embed"
	"fmt"

	"precision/internal/msg"
)

// Meaning is one thing that a status says.
type Meaning struct {
	// Bits is the part of the status that says it. Code is that part as a
	// number for the detectors that have one.
	Bits, Code uint64
	// What is the key of its text.
	What Message
}

// aiCoreBits are the documented bits of an AI Core's status.
var aiCoreBits = []Meaning{
	{0x008, 0, NegationOverflow},
	{0x010, 0, IntegerOverflow},
	{0x020, 0, FloatOverflow},
	{0x080, 0, NegativeToUnsigned},
	{0x100, 0, ToHalfOverflow},
	{0x400, 0, CubeOverflow},
}

// dhaCodes are bits 8 to 15 of the status of DHA Atomic Add, l2Codes bits 16 to
// 18 of that of L2 Atomic Add.
var (
	dhaCodes = map[uint64]Message{0x9: AtomicOverflow, 0xA: AtomicUnderflow, 0xB: SourceNaN, 0xC: DestinationNaN, 0xD: BothNaN}
	l2Codes  = map[uint64]Message{1: AtomicOverflow, 2: AtomicUnderflow, 3: SourceNaN, 4: DestinationNaN, 5: BothNaN}
)

const (
	dhaMask, dhaShift = 0xff00, 8
	l2Mask, l2Shift   = 0x70000, 16
)

// Explain tells what the status of a block says, lowest bit first. Bits that
// are not documented are one entry of their own. For the detectors of tagged
// records no meaning is published: each word that is not zero is an entry
// [Undocumented]. A status of zero says nothing.
func Explain(b *Block) (all []Meaning) {
	for _, status := range b.Status {
		if status == 0 {
			continue
		}
		switch b.Detector {
		case DHAAtomicAdd:
			all = append(all, coded(status, dhaMask, dhaShift, dhaCodes))
		case L2AtomicAdd:
			all = append(all, coded(status, l2Mask, l2Shift, l2Codes))
		case AICore:
			left := status
			for _, m := range aiCoreBits {
				if status&m.Bits != 0 {
					all = append(all, m)
					left &^= m.Bits
				}
			}
			if left != 0 {
				all = append(all, Meaning{Bits: left, What: UnknownBits})
			}
		default:
			all = append(all, Meaning{Bits: status, What: Undocumented})
		}
	}
	return all
}

// coded looks up a status that is a code; any status but zero is an overflow.
func coded(status, mask uint64, shift int, codes map[uint64]Message) Meaning {
	code := status & mask >> shift
	if what, ok := codes[code]; ok {
		return Meaning{status & mask, code, what}
	}
	return Meaning{status, code, UnknownCode}
}

// In is the meaning in a language.
func (m Meaning) In(l msg.Lang) string {
	switch m.What {
	case UnknownBits, Undocumented:
		return m.What.In(l, fmt.Sprintf("%#x", m.Bits))
	case UnknownCode:
		return m.What.In(l, fmt.Sprintf("%#x", m.Bits), m.Code)
	}
	return m.What.In(l)
}

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
