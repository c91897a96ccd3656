package argparse

// Exit ends a program: it was asked for help, or its command line was refused.
type Exit struct {
	Stdout, Stderr string
	Code           int
}

func (e *Exit) Error() string { return e.Stdout + e.Stderr }
