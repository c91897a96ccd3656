// Msaccucmp takes the place of CANN's msaccucmp.py: the same sub-commands,
// options, exit codes, files and cells, without Python. It is a thin face; the
// work is done in the packages compare, dump and graph.
//
// Usage:
//
//	msaccucmp compare -m NPU_DIR -g GOLDEN_DIR [-f GRAPH] [-out DIR] …
//	msaccucmp convert -d DUMP [-out DIR] [-t TYPE] [-f FORMAT …]
//	msaccucmp overflow -d DIR -out DIR [-n N]
//	msaccucmp file_compare -m A.npy -g B.npy -out DIR
//
// msaccucmp SUB-COMMAND -h lists the options. Numbers have the digits of the
// old tool (reference numerics). Where that loses or falsifies results this
// one does better; docs/differences.md lists all such places.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"precision/cmd/msaccucmp/argparse"
	"precision/cmd/msaccucmp/compat"
	"precision/compare/engine"
	"precision/compare/report"
	"precision/internal/clean"
	"precision/internal/gc"
	"precision/internal/interrupt"
	"precision/internal/msg"
	"precision/internal/must"
)

// Exit codes beside those of [compat].
const (
	exitOK          = 0
	exitInterrupted = 130
)

// face is what the sub-commands may touch of the outside.
type face struct {
	stdout io.Writer
	log    *logger
	now    func() time.Time
}

func main() {
	gc.Relax()
	os.Exit(run(interrupt.Context(), os.Stdout, os.Stderr, os.Args[1:]))
}

// run parses the command line and dispatches.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) (code int) {
	f := &face{stdout: stdout, log: &logger{w: stderr, now: time.Now, pid: os.Getpid()}, now: time.Now}
	parser := argparse.Msaccucmp(args)
	values, err := parser.Parse(args)
	if exit := (*argparse.Exit)(nil); errors.As(err, &exit) {
		io.WriteString(stdout, exit.Stdout)
		io.WriteString(stderr, exit.Stderr)
		return exit.Code
	}
	start := f.now()
	command := map[string]func(context.Context, *argparse.Values) int{
		"compare": f.compare, "file_compare": f.fileCompare, "convert": f.convert, "overflow": f.overflow}[values.Command]
	if command == nil {
		io.WriteString(stdout, parser.Help())
		return compat.CodeParameter
	}
	code, err = coded(func() int { return command(ctx, values) })
	if ctx.Err() != nil {
		f.log.errorf("Interrupted: %v", err)
		return exitInterrupted
	}
	if err != nil {
		f.log.errorf("%s", describe(err))
	}
	f.log.infof("The command was completed and took %d seconds.", int(f.now().Sub(start).Seconds()))
	return code
}

// describe is the text of an error: that of a pair that cannot be compared is
// its reason in words.
func describe(err error) string {
	if pair, ok := errors.AsType[*engine.PairError](err); ok {
		return report.Sentence(msg.English, pair.Reason)
	}
	return err.Error()
}

// coded does the work of a command, and gives its exit code or that of the error that ended it.
func coded(work func() int) (int, error) {
	code, err := must.Of(work)
	if err != nil {
		code = compat.ExitCode(err)
	}
	return code, err
}

// logger writes lines in the form scripts know: time, process, level, text.
type logger struct {
	mu  sync.Mutex
	w   io.Writer
	now func() time.Time
	pid int
}

func (l *logger) infof(format string, args ...any)  { l.line("INFO", format, args...) }
func (l *logger) warnf(format string, args ...any)  { l.line("WARNING", format, args...) }
func (l *logger) errorf(format string, args ...any) { l.line("ERROR", format, args...) }

func (l *logger) line(level, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s (%d) - [%s] %s\n", l.now().Format("2006-01-02 15:04:05"), l.pid, level, oneLine(fmt.Sprintf(format, args...)))
}

var unsafeText = strings.NewReplacer("\n", "_", "\r", "_", "\t", "_", "\b", "_", "\f", "_", "\v", "_", "\x7f", "_",
	"%08", "_", "%0a", "_", "%0b", "_", "%0c", "_", "%0d", "_", "%7f", "_")

// oneLine keeps a name with control characters from forging log lines.
func oneLine(text string) string { return clean.Text(unsafeText.Replace(text)) }
