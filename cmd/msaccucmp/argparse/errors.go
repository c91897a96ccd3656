package argparse

import "errors"

// UsageError tells why a command line was refused.
type UsageError struct {
	// Prog and Usage are those of the parser that refused it.
	Prog, Usage string
	// Option is the option it is about, all its names joined by slashes; empty
	// if there is none.
	Option string
	// Message is the reason, without the option.
	Message string
}

// Error is the line of the message.
func (e *UsageError) Error() string {
	about := ""
	if e.Option != "" {
		about = "argument " + e.Option + ": "
	}
	return e.Prog + ": error: " + about + e.Message
}

// ExitCode is the exit status for it, 2.
func (e *UsageError) ExitCode() int { return 2 }

// Help is the error for a command line that asks for help.
type Help struct {
	Prog, Text string
}

func (h *Help) Error() string { return h.Prog + ": help was asked for" }

// ExitCode is the exit status for it, 0.
func (h *Help) ExitCode() int { return 0 }

// Render gives what a program prints for an error of [Parser.Parse] and the
// status it exits with. Other errors give their text and status 1.
func Render(err error) (stdout, stderr string, code int) {
	var usage *UsageError
	var help *Help
	switch {
	case err == nil:
		return "", "", 0
	case errors.As(err, &usage):
		return "", usage.Usage + usage.Error() + "\n", usage.ExitCode()
	case errors.As(err, &help):
		return help.Text, "", help.ExitCode()
	}
	return "", err.Error() + "\n", 1
}
