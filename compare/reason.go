package compare

import (
	"fmt"
	"strings"
)

// Kind sorts reasons for the summary.
type Kind uint8

// The kinds of reasons a row can carry.
const (
	Remark        Kind = iota // the row was compared; something to know about it
	NoMine                    // the operator has no dump on the NPU side
	NoGolden                  // the golden side has no such tensor
	Unreadable                // a file or a tensor in it cannot be read
	ShapeDiffers              // shapes or element counts do not fit
	NoConverter               // no way from the dump's layout to the golden one
	NotInGraph                // the graph does not tell which tensor it is
	TypeUnsupport             // element type without numeric values
	Skipped                   // left out on purpose
	Empty                     // no elements
)

var kindTexts = [...]string{
	Remark:        "compared with a remark",
	NoMine:        "no NPU dump of the operator",
	NoGolden:      "no golden tensor",
	Unreadable:    "unreadable file or tensor",
	ShapeDiffers:  "shapes do not fit",
	NoConverter:   "layout cannot be converted",
	NotInGraph:    "tensor not described by the graph",
	TypeUnsupport: "element type not supported",
	Skipped:       "skipped",
	Empty:         "no elements",
}

// String says the kind in a few words.
func (k Kind) String() string {
	if int(k) < len(kindTexts) {
		return kindTexts[k]
	}
	return fmt.Sprintf("reason kind %d", uint8(k))
}

// Reason is one message of a row, as data: the face renders it.
type Reason struct {
	Kind Kind
	Text string
	// Quiet marks reasons that the old tool keeps to itself: its cell is
	// empty where ours says why. They are left out in its format.
	Quiet bool
}

func remark(text string) Reason { return Reason{Kind: Remark, Text: text} }

// joinReasons is the CompareFailReason cell.
func joinReasons(reasons []Reason, oldFormat bool) string {
	var texts []string
	for _, r := range reasons {
		if oldFormat && r.Quiet {
			continue
		}
		if r.Text != "" {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, ",")
}

// shapeText writes dims the way messages do: (1, 3, 4, 4).
func shapeText(dims []int64) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, d := range dims {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", d)
	}
	b.WriteByte(')')
	return b.String()
}
