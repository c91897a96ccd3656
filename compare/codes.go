package compare

// Exit codes of msaccucmp.py that operators and options give.
const (
	codeNoDump    = 2
	codePath      = 3
	codeParameter = 6
	codeBadDump   = 11
	codeIndex     = 12
	codeScenario  = 20
	codeAlgorithm = 31
	codeShape     = 40
)
