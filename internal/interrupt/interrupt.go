// Package interrupt makes of the signals that ask a program to end the end of a
// context, so that work stops in order: files half written are removed and
// programs that were started are ended, too.
package interrupt

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Cause is why a context of this package ended. It is a [context.Canceled].
type Cause struct{ Signal os.Signal }

func (c *Cause) Error() string { return "ended by the signal " + c.Signal.String() }

// Unwrap is [context.Canceled].
func (c *Cause) Unwrap() error { return context.Canceled }

// Context ends with Ctrl-C, SIGTERM, and the hang-up of the terminal unless that is
// ignored, as nohup has it. A second signal ends the program at once.
func Context() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, end := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		s := <-came
		signal.Stop(came)
		end(&Cause{s})
	}()
	return ctx
}

// Asked tells whether a context ended because the program was asked to end, as the
// system does when it shuts down, and not by Ctrl-C.
func Asked(ctx context.Context) bool {
	var c *Cause
	return errors.As(context.Cause(ctx), &c) && c.Signal != os.Interrupt
}
