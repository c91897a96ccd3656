package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// MaxLine bounds a line of a script in bytes.
const MaxLine = 1 << 20

// PromptText is what stands in front of the line that is typed.
const PromptText = "PrecisionTool > "

const promptWidth = int64(len(PromptText)) // columns

// Script hands the lines of r to line and returns the worst of its exit statuses.
// Lines that begin with # are comments. A prompt stands in front of lines that a
// person types at a terminal that cannot edit them.
func (c *Console) Script(ctx context.Context, r io.Reader, line func(context.Context, string) int) int {
	worst := OK
	in, ask := r.(*os.File)
	ask = ask && term.IsTerminal(int(in.Fd()))
	prompted := func() bool {
		if ask {
			io.WriteString(c.Stderr, PromptText)
		}
		return true
	}
	prompted()
	input := bufio.NewReader(r)
	if !within(ctx, func() bool { input.Peek(1); return true }) { // waits for what comes first
		return Interrupted
	}
	if start, _ := input.Peek(input.Buffered()); bytes.IndexByte(start, 0) >= 0 {
		c.Fail("script.binary") // what is unknown would go to the system shell
		return Error
	}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, MaxLine)
	for first := true; !c.Quit && (first || prompted()) && within(ctx, lines.Scan); first = false {
		if ctx.Err() != nil {
			return Interrupted
		}
		text := lines.Text()
		if first {
			text = strings.TrimPrefix(text, "\ufeff") // editors of Windows begin files with it
		}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		worst = max(worst, line(ctx, text))
	}
	if ctx.Err() != nil { // maybe while it reads
		return Interrupted
	}
	if err := lines.Err(); err != nil && !c.Quit {
		if errors.Is(err, bufio.ErrTooLong) {
			c.Fail("script.long", MaxLine)
		} else {
			c.Fail("error", err)
		}
		worst = max(worst, Error)
	}
	return worst
}

// within returns what f does, which may wait for input, or false when ctx ends
// before; f goes on then.
func within(ctx context.Context, f func() bool) bool {
	done := make(chan bool, 1)
	go func() { done <- f() }()
	select {
	case ok := <-done:
		return ok
	case <-ctx.Done():
		return false
	}
}
