package compare

// Exit codes of msaccucmp.py that operators and options give.
const (
	codeNoDump    = 2
	codeParameter = 6
	codeBadDump   = 11
	codeIndex     = 12
	codeShape     = 40
)
