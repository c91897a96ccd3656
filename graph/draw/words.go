package draw

import (
	"embed"
	"strings"
	"unicode"

	"precision/graph"
	"precision/internal/clean"
	"precision/internal/msg"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

func (s *Style) say(key string, args ...any) string { return s.Lang.T("draw."+key, args...) }

// columns is how wide a text is: characters of Chinese, Japanese and Korean take two.
func columns(text string) (n int) {
	for _, r := range text {
		n++
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= '　' && r <= '〿' || r >= '！' && r <= '｠' {
			n++
		}
	}
	return n
}

// legend explains below a picture what cannot be seen in it.
func (d *Drawing) legend(s *Style) (out []string) {
	if len(s.Heat) > 0 {
		out = append(out, s.say("colours", heatName, heatBad, heatGood))
	}
	if d.Cut > 0 {
		out = append(out, s.say("left", d.Cut))
	}
	return out
}

// more counts the neighbours of a node that are not drawn.
func (s *Style) more(n Node) string {
	switch {
	case n.MoreIn == 0:
		return s.say("out", n.MoreOut)
	case n.MoreOut == 0:
		return s.say("in", n.MoreIn)
	}
	return s.say("both", s.say("in", n.MoreIn), s.say("out", n.MoreOut))
}

// tooltip tells what does not fit into a box.
func (s *Style) tooltip(o *graph.Op) string {
	lines := []string{s.say("op", clean.Name(o.Type), clean.Name(o.Name), o.ID, o.StreamID)}
	if names, stated := o.OriginNames(); len(names) > 0 {
		lines = append(lines, s.say("of", clean.Name(strings.Join(names, ", "))))
	} else if stated {
		lines = append(lines, s.say("inserted"))
	}
	if p := append(o.Passes(), o.UBPasses()...); len(p) > 0 {
		lines = append(lines, s.say("by", strings.Join(p, ", ")))
	}
	for i := range o.InputDesc {
		lines = append(lines, s.say("input", i, &o.InputDesc[i]))
	}
	for i := range o.OutputDesc {
		lines = append(lines, s.say("output", i, &o.OutputDesc[i]))
	}
	for i := range lines {
		lines[i] = clean.Line(lines[i])
	}
	return strings.Join(lines, "\n")
}
