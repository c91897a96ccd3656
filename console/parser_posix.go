//go:build !windows

package console

import (
	"errors"
	"sync/atomic"
	"unicode/utf8"

	gprompt "github.com/c-bata/go-prompt"
	"github.com/pkg/term/termios"
	"golang.org/x/sys/unix"
)

// lineParser hands the line editor its keys, one at a time. The editor's own
// parser takes what one read returns for one key, so that text pasted, or typed
// while a command ran, loses its line breaks.
type lineParser struct {
	p    *prompt
	fd   int
	keys []byte
	// last is the first byte of the last key.
	last atomic.Int32
	// paused: the editor has what ends its line, and must not take more: what
	// it has read beyond is lost.
	paused atomic.Bool
	closed atomic.Bool
}

func newLineParser(p *prompt) *lineParser { return &lineParser{p: p, fd: int(p.in.Fd())} }

var errNoKey = errors.New("no key")

// Setup puts the terminal into raw mode; line breaks are still translated on
// output.
func (l *lineParser) Setup() error {
	l.paused.Store(false)
	l.last.Store(0)
	t, err := termios.Tcgetattr(uintptr(l.fd))
	if err != nil {
		return err
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN | unix.ISIG | unix.ECHONL
	t.Cflag &^= unix.CSIZE | unix.PARENB
	t.Cflag |= unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return termios.Tcsetattr(uintptr(l.fd), termios.TCSANOW, t)
}

// TearDown puts the terminal back.
func (l *lineParser) TearDown() error {
	l.p.restore()
	return nil
}

// entered reports whether the last key completed a line.
func (l *lineParser) entered() bool { last := l.last.Load(); return last == '\r' || last == '\n' }

// close ends reading for good, also in a goroutine that the editor left behind.
func (l *lineParser) close() { l.closed.Store(true) }

// GetWinSize returns the size of the terminal, 80 by 24 if it does not tell, which the editor
// draws for from now on.
func (l *lineParser) GetWinSize() *gprompt.WinSize {
	size := l.p.size()
	l.p.drawn.Store(&size)
	return &size
}

const (
	keyCtrlC = 3
	keyCtrlD = 4
	keyCtrlR = 18

	keyIdle = "\x1b[1;2P" // F13, which does nothing
)

// Read returns the next key, or text up to the next key that is not text. It
// waits for a tenth of a second, so that an idle prompt hardly wakes up, but not
// behind a key that may end the editor: that waits for Read to return.
func (l *lineParser) Read() ([]byte, error) {
	if l.closed.Load() {
		select {} // the editor that asks was given up
	}
	switch {
	case l.paused.Load():
		return nil, errNoKey
	case l.p.leave.Load():
		l.paused.Store(true)
		return []byte{keyCtrlC}, nil // after every key it asks whether to leave
	case l.p.changed():
		l.paused.Store(true)
		return []byte(keyIdle), nil
	}
	if len(l.keys) == 0 || l.keys[0] != keyEsc && !utf8.FullRune(l.keys) {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		wait := 100
		if last := l.last.Load(); last == keyCtrlC || last == keyCtrlD {
			wait = 0
		}
		n, err := unix.Poll(fds, wait)
		if err != nil || n == 0 {
			return nil, errNoKey
		}
		var buf [1024]byte
		n, err = unix.Read(l.fd, buf[:])
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			return nil, errNoKey
		}
		if err != nil || n <= 0 { // the terminal is gone
			l.p.leave.Store(true)
			return []byte{keyCtrlC}, nil
		}
		l.keys = append(l.keys, buf[:n]...)
	}
	n := keyLen(l.keys)
	if n == 0 || l.p.changed() { // a key must not be drawn for a width that the terminal no longer has
		return nil, errNoKey
	}
	key := l.keys[:n:n]
	l.keys = l.keys[n:]
	if key[0] == keyCtrlR {
		l.paused.Store(true)
		l.last.Store(0)
		l.p.searching.Store(true)
		return []byte(keyIdle), nil
	}
	l.last.Store(int32(key[0]))
	if l.entered() {
		l.paused.Store(true)
	}
	return key, nil
}

// take hands out the keys that were read and not used, give puts some in front of those
// that come. Both are for the time when the editor has returned.
func (l *lineParser) take() string {
	typed := string(l.keys)
	l.keys = nil
	return typed
}

func (l *lineParser) give(typed string) { l.keys = append([]byte(typed), l.keys...) }

// keyLen is the number of bytes of the first key: a control character, an
// escape sequence, or text up to the next of these. 0 is half a character.
func keyLen(b []byte) int {
	switch {
	case b[0] == keyEsc:
		return escapeLen(b)
	case b[0] < ' ' || b[0] == 127:
		return 1
	}
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != 127 {
		if !utf8.FullRune(b[n:]) {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return n
}
