package repl

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"precision/internal/msg"
)

// A result table says in English why a tensor has no values, as the tools do
// that read it. For people the sentences are translated: the English texts of
// the messages reason.1, reason.2 … are the patterns of what tables say, with
// %s for names and numbers, and those of the other languages what it means.

// reasonPattern recognises a sentence at the beginning of a reason.
type reasonPattern struct {
	key  string
	text *regexp.Regexp
}

// reasonPatterns are all patterns, the first that fits counts.
var reasonPatterns = sync.OnceValue(func() []reasonPattern {
	var list []reasonPattern
	for i := 1; ; i++ {
		key := "reason." + strconv.Itoa(i)
		if !msg.English.Has(key) {
			return list
		}
		parts := strings.Split(msg.English.T(key), "%s")
		for j := range parts {
			parts[j] = regexp.QuoteMeta(parts[j])
		}
		// A sentence ends where the reason does or the next one begins.
		list = append(list, reasonPattern{key, regexp.MustCompile(`^` + strings.Join(parts, `(.*?)`) + `(?:,|$)`)})
	}
})

// reason is a reason of a table in the language of the session.
func (s *session) reason(text string) string { return Reason(s.Lang, text) }

// Reason translates a reason of a result table. What is not recognised stays as
// it is.
func Reason(lang msg.Lang, text string) string {
	if lang == msg.English {
		return text
	}
	var out []string
	for text != "" {
		key, args, rest := cutReason(text)
		if key == "" {
			out = append(out, text)
			break
		}
		out = append(out, lang.T(key, args...))
		text = rest
	}
	return strings.Join(out, "；")
}

// cutReason recognises the first sentence of a reason: its message, what is
// filled in, and the sentences that follow. key is "" if it is not known.
func cutReason(text string) (key string, args []any, rest string) {
	for _, p := range reasonPatterns() {
		m := p.text.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		for i := 2; i < len(m); i += 2 {
			args = append(args, text[m[i]:m[i+1]])
		}
		return p.key, args, text[m[1]:]
	}
	return "", nil, ""
}

// reasonKinds sorts sentences: the number of a message, and the key of what it
// comes down to.
var reasonKinds = map[string]string{
	"reason.1": "kind.mine", "reason.3": "kind.mine", "reason.21": "kind.mine",
	"reason.2": "kind.golden", "reason.4": "kind.golden", "reason.30": "kind.golden",
	"reason.5": "kind.shape", "reason.6": "kind.shape", "reason.17": "kind.shape", "reason.19": "kind.shape",
	"reason.12": "kind.empty", "reason.18": "kind.empty", "reason.23": "kind.empty", "reason.24": "kind.empty",
	"reason.11": "kind.type", "reason.22": "kind.type",
	"reason.13": "kind.finite", "reason.20": "kind.skipped", "reason.25": "kind.layout", "reason.26": "kind.unreadable", "reason.29": "kind.graph",
	"reason.34": "kind.both",
}

// cannotRead is in the errors of readers of dumps and arrays: where in a file
// something is wrong.
var cannotRead = regexp.MustCompile(`: offset \d+: |: the file (?:is|has) `)

// reasonKind is in a few words why a tensor has no values: that of the first
// sentence that tells.
func (s *session) reasonKind(text string) string {
	switch {
	case text == "":
		return s.T("kind.none")
	case cannotRead.MatchString(text):
		return s.T("kind.unreadable")
	}
	for rest := text; rest != ""; {
		key, _, next := cutReason(rest)
		if kind, ok := reasonKinds[key]; ok {
			return s.T(kind)
		}
		if key == "" {
			break
		}
		rest = next
	}
	return s.T("kind.other")
}
