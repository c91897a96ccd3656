package compare

// Exit codes of msaccucmp.py that operators and options give.
const (
	codeNoDump    = 2
	codePath      = 3
	codeParameter = 6
	codeBadDump   = 11
	codeIndex     = 12
	codeGraph     = 13
	codeWrite     = 19
	codeScenario  = 20
	codeFormat    = 22
	codeShapes    = 23
	codeFileType  = 24
	codeRefused   = 30
	codeAlgorithm = 31
	codeDelete    = 32
	codeFile      = 33
	codeShape     = 40
)
