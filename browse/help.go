package browse

import (
	"strings"

	"precision/compare/report"
	"precision/internal/msg"
)

// helpText is what the keys do.
func helpText(lang msg.Lang) *text {
	var body []paragraph
	for line := range strings.Lines(lang.T("browse.help")) {
		keys, what, _ := strings.Cut(strings.TrimSpace(line), "|")
		body = append(body, paragraph{label: strings.TrimSpace(keys), segments: []report.Segment{{Text: strings.TrimSpace(what)}}, target: nowhere})
	}
	return newText("?", body)
}
