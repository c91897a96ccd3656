package console

import (
	"sync/atomic"

	gprompt "github.com/c-bata/go-prompt"
)

// lineParser is the line editor's own on Windows; it notes how a line ended.
type lineParser struct {
	gprompt.ConsoleParser
	p    *prompt
	last atomic.Int32
}

func newLineParser(p *prompt) *lineParser {
	return &lineParser{ConsoleParser: gprompt.NewStandardInputParser(), p: p}
}

func (l *lineParser) Read() ([]byte, error) {
	if l.p.leave.Load() {
		return []byte{3}, nil // after every key the editor asks whether to leave
	}
	b, err := l.ConsoleParser.Read()
	if err == nil && len(b) > 0 && b[0] != 0 {
		l.last.Store(int32(b[0]))
	}
	return b, err
}

func (l *lineParser) entered() bool { last := l.last.Load(); return last == '\r' || last == '\n' }

func (l *lineParser) close() {}

// The history is not searched here, so no keys are left over.
func (l *lineParser) take() string { return "" }
func (l *lineParser) give(string)  {}
