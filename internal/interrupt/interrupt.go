// Package interrupt makes of the signals that ask a program to end the end of a
// context, so that work stops in order: files half written are removed and
// programs that were started are ended, too.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context ends with Ctrl-C, SIGTERM, and the hang-up of the terminal unless that is
// ignored, as nohup has it. A second signal ends the program at once.
func Context() context.Context {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx
}
