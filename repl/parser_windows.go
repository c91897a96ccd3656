package repl

import gprompt "github.com/c-bata/go-prompt"

// lineParser is the line editor's own on Windows.
type lineParser struct{ gprompt.ConsoleParser }

func newLineParser(*promptState) *lineParser { return nil }

func (l *lineParser) close() {}
