package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"precision/internal/clean"
)

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
