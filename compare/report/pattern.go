package report

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/internal/lazy"
	"precision/internal/msg"
)

// Imported tables say in English why a tensor has no values. The sentences this
// program and msaccucmp.py write are recognised by the texts of the messages;
// what is not recognised stays a sentence.

// pattern recognises the sentence of a kind at the beginning of a text.
type pattern struct {
	kind result.Kind
	text func() *regexp.Regexp
	// args are the arguments in the order of the text, from 0; one can occur
	// several times. quoted tells which stand in quotes.
	args   []int
	quoted []bool
}

var (
	verbs = lazy.Regexp(`%(?:\[([0-9]+)\])?([sq])`)
	// vague are kinds that say nothing but an error: anything would fit.
	vague = map[result.Kind]bool{result.BadTensor: true, result.BadFile: true, result.BadDump: true, result.BadView: true, result.LayoutFailed: true,
		result.ConverterFailed: true, result.GraphSilent: true, result.GraphInput: true, result.GraphEntry: true,
		result.ScriptFailed: true, result.ScriptSays: true, result.Text: true,
		result.TinyLeftDump: true, // whose sentence is that of BadLeftDump
		result.GivenDiffers: true, result.GivenApart: true, result.GivenScaled: true,
		result.GivenNear: true} // which begin with a name, and are of no row
)

// parsed are the patterns of kinds that were asked for.
var parsed sync.Map

// patternOf is the pattern of a kind.
func patternOf(kind result.Kind) *pattern {
	if p, ok := parsed.Load(kind); ok {
		return p.(*pattern)
	}
	p := parsePattern(kind, msg.English.T("reason."+string(kind)))
	parsed.Store(kind, p)
	return p
}

// oldSentences are those of msaccucmp.py where this program has other words.
var oldSentences = sync.OnceValue(func() []*pattern {
	return []*pattern{
		parsePattern(result.ShapesDiffer, "[%s] Due to the different shapes on the left and right,the left dump data%s can not be compared to the right dump data%s. "+
			"Please check the batch of the dump data or the shape may be changed due to optimization."),
	}
})

// parsePattern turns the text of a message into a pattern.
func parsePattern(kind result.Kind, text string) *pattern {
	p := &pattern{kind: kind}
	var b strings.Builder
	b.WriteByte('^')
	at, next := 0, 0
	for _, m := range verbs().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:m[0]]))
		arg := next
		if m[2] >= 0 {
			arg, _ = strconv.Atoi(text[m[2]:m[3]])
			arg--
		}
		next = arg + 1
		p.args = append(p.args, arg)
		quoted := text[m[4]:m[5]] == "q"
		p.quoted = append(p.quoted, quoted)
		if quoted {
			b.WriteString(`("(?:[^"\\]|\\.)*")`)
		} else {
			b.WriteString(`((?:[^()]|\([^()]*\))*?)`) // a shape has commas
		}
		at = m[1]
	}
	b.WriteString(regexp.QuoteMeta(text[at:]))
	b.WriteString(`(?:,|$)`) // a sentence ends where the text does or the next one begins
	p.text = lazy.Regexp(b.String())
	return p
}

// count is the number of arguments.
func (p *pattern) count() int {
	n := 0
	for _, a := range p.args {
		n = max(n, a+1)
	}
	return n
}

// match cuts the sentence from the front of a text.
func (p *pattern) match(text string) (r result.Reason, rest string, ok bool) {
	m := p.text().FindStringSubmatchIndex(text)
	if m == nil {
		return r, text, false
	}
	args := make([]string, p.count())
	known := make([]bool, len(args))
	for i, arg := range p.args {
		value := text[m[2*i+2]:m[2*i+3]]
		if p.quoted[i] {
			var err error
			if value, err = strconv.Unquote(value); err != nil {
				return r, text, false
			}
		}
		if known[arg] && args[arg] != value {
			return r, text, false
		}
		args[arg], known[arg] = strings.Clone(value), true
	}
	if len(args) == 0 {
		args = nil
	}
	return result.Reason{Kind: p.kind, Args: args}, text[m[1]:], true
}

var (
	// cannotRead is in the errors of readers of dumps and arrays: where in a
	// file something is wrong.
	cannotRead = lazy.Regexp(`: offset \d+: |: the file (?:is|has) `)
	about      = lazy.Regexp(`^\[(.*?)\] `)
)

// ParseReasons reads the cell CompareFailReason of a table.
func ParseReasons(cell string) (list []result.Reason) {
	for cell != "" {
		r, rest, ok := cutReason(cell)
		if !ok {
			r, rest = result.Because(result.Text, strings.Clone(cell)), ""
			if m := about().FindStringSubmatchIndex(cell); cannotRead().MatchString(cell) {
				r = result.Because(result.BadDump, strings.Clone(cell))
				if m != nil {
					r = result.Because(result.BadTensor, strings.Clone(cell[m[2]:m[3]]), strings.Clone(cell[m[1]:]))
				}
			}
		}
		list = append(list, r)
		cell = rest
	}
	return list
}

// cutReason recognises the first sentence of a text. Where several fit it is
// the shortest: the others reach into the next sentence. Of equal ones it is
// the one with the most words of its own.
func cutReason(text string) (best result.Reason, rest string, ok bool) {
	try := func(p *pattern) {
		r, left, fits := p.match(text)
		if !fits {
			return
		}
		if n := filled(r); !ok || len(left) > len(rest) || len(left) == len(rest) && n < filled(best) {
			best, rest, ok = r, left, true
		}
	}
	for _, kind := range result.Kinds() {
		if !vague[kind] {
			try(patternOf(kind))
		}
	}
	for _, p := range oldSentences() {
		try(p)
	}
	return best, rest, ok
}

// filled is how much of a sentence are arguments.
func filled(r result.Reason) int {
	n := 0
	for _, a := range r.Args {
		n += len(a)
	}
	return n
}
