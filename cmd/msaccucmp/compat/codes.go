package compat

import (
	"errors"
	"fmt"
	"strings"

	"precision/compare/engine"
	"precision/dump"
	"precision/graph"
	"precision/internal/must"
)

// Exit codes of msaccucmp.py.
const (
	CodeNoDump    = 2
	CodePath      = 3
	CodeParameter = 6
	CodeOpen      = 7
	codeBadDump   = 11
	codeIndex     = 12
	codeGraph     = 13
	codeWrite     = 19
	codeScenario  = 20
	codeType      = 21
	codeFormat    = 22
	CodeShapes    = 23
	CodeFileType  = 24
	codeRefused   = 30
	codeAlgorithm = 31
	codeDelete    = 32
	codeName      = 48
)

// codes are the exit codes of what goes wrong in a comparison.
var codes = map[engine.Fault]int{
	engine.FaultOption: CodeParameter, engine.FaultPath: CodePath, engine.FaultNoDump: CodeNoDump, engine.FaultParse: CodeOpen,
	engine.FaultBadDump: codeBadDump, engine.FaultRange: codeIndex, engine.FaultType: codeType, engine.FaultLayout: codeFormat,
	engine.FaultShapes: CodeShapes, engine.FaultNames: codeName, engine.FaultNoCounterpart: codeRefused,
	engine.FaultWrite: codeWrite, engine.FaultDelete: codeDelete,
}

// Error is an error with the exit code msaccucmp.py gives for it.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Refuse ends the work (package must) with an exit code where something is bad.
func Refuse(bad bool, code int, format string, args ...any) {
	if bad {
		must.Do(errorf(code, format, args...))
	}
}

func errorf(code int, format string, args ...any) *Error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// ExitCode is the exit code of msaccucmp.py in err: 0 of nil, 1 where it has
// none.
func ExitCode(err error) int {
	var code *Error
	var fault *engine.Error
	var rule *graph.Error
	var missing *engine.MissingError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return code.Code
	case errors.As(err, &fault):
		return codes[fault.Fault]
	case errors.As(err, &missing):
		return CodeNoDump
	case errors.As(err, &rule):
		if strings.Contains(err.Error(), "no such file") {
			return CodePath
		}
		return codeGraph
	}
	return dump.Code(err)
}
