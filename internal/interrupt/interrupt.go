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

// Await returns what work returns, or the cause of the end of ctx as soon as that comes: work then goes on until the
// program ends, and its result is lost. It is for work that takes seconds on the largest inputs, is not cut into steps, and
// has no effect but its result.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	var result T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = work()
	}()
	select {
	case <-done:
		return result, err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Asked tells whether a context ended because the program was asked to end, as the
// system does when it shuts down, and not by Ctrl-C.
func Asked(ctx context.Context) bool {
	var c *Cause
	return errors.As(context.Cause(ctx), &c) && c.Signal != os.Interrupt
}
