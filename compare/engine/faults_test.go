package engine

import (
	"errors"

	"precision/dump"
)

// faultOf is the fault in err, 0 if it has none.
func faultOf(err error) Fault {
	var fault *Error
	var missing *MissingError
	switch {
	case errors.As(err, &fault):
		return fault.Fault
	case errors.As(err, &missing):
		return FaultNoDump
	case dump.Code(err) == dump.CodeType:
		return FaultType
	}
	return 0
}

// exitOf is the exit code that the recorded cases have for err.
func exitOf(err error) int {
	if err == nil {
		return 0
	}
	return map[Fault]int{FaultNoDump: 2, FaultPath: 3, FaultOption: 6, FaultBadDump: 11, FaultRange: 12, FaultLayout: 22, FaultShapes: 23,
		FaultNoCounterpart: 30}[faultOf(err)]
}
