package script

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"precision/internal/must"
)

//go:embed driver.py
var driver string

// maxAnswer bounds a line of the driver: its texts are cut at a few thousand
// characters, a cell is what a user wants in a table.
const maxAnswer = 1 << 20

// request and answer are the lines that go to and come from the driver.
type request struct {
	ID     int64             `json:"id"`
	Do     string            `json:"do"`
	Name   string            `json:"name"`
	Target string            `json:"target"`
	Mine   string            `json:"mine,omitempty"`
	Golden string            `json:"golden,omitempty"`
	Args   map[string]string `json:"args,omitempty"`
	Array  string            `json:"array,omitempty"`
	Result string            `json:"result,omitempty"`
	From   []int64           `json:"from"`
	To     []int64           `json:"to"`
	Group  int64             `json:"group"`
}

type answer struct {
	ID       int64    `json:"id"`
	Text     string   `json:"text"`
	Messages []string `json:"messages"`
	Error    *string  `json:"error"`
}

// process is a running driver.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr tail
	lines  chan line
}

type line struct {
	text []byte
	err  error
}

// start starts the driver.
func (h *Helper) start() (err error) {
	defer must.Catch(&err)
	p := &process{cmd: exec.Command(h.python, h.path("driver.py"), h.scripts.dir), lines: make(chan line, 1)}
	// Compiled scripts would fill the user's folder.
	p.cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	ownGroup(p.cmd)
	p.in = must.Get(p.cmd.StdinPipe())
	out := must.Get(p.cmd.StdoutPipe())
	p.out = bufio.NewReader(out)
	must.Do(p.cmd.Start())
	h.proc = p
	return nil
}

// stop ends the driver and all it has started.
func (h *Helper) stop() {
	if p := h.proc; p != nil {
		h.proc = nil
		p.end()
	}
}

func (p *process) end() error {
	p.in.Close()
	killGroup(p.cmd)
	return p.cmd.Wait()
}

// call sends a request and waits for its answer. Whatever is not a proper
// answer in time ends the process; the next call starts another.
func (h *Helper) call(r *request) (_ *answer, err error) {
	defer must.Catch(&err)
	if h.proc == nil {
		err := h.start()
		must.Not(err != nil, "%s: %w", h.python, err)
	}
	h.calls++
	r.ID = h.calls
	text := must.Get(json.Marshal(r))
	p := h.proc
	p.stderr.reset()
	go func() { p.lines <- p.exchange(append(text, '\n')) }()
	timeout := h.scripts.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var got line
	select {
	case got = <-p.lines:
	case <-timer.C:
		h.stop()
		return nil, fmt.Errorf("the script did not return within %v", timeout)
	case <-h.ctx.Done():
		h.stop()
		return nil, context.Cause(h.ctx)
	}
	if got.err != nil {
		return nil, h.died(p, got.err)
	}
	var a answer
	if err := json.Unmarshal(got.text, &a); err != nil || a.ID != r.ID {
		h.stop()
		return nil, errors.New("the script disturbed the answer of its Python process")
	}
	if a.Error != nil {
		return nil, errors.New(*a.Error)
	}
	return &a, nil
}

// died tells how a process ended that gave no answer.
func (h *Helper) died(p *process, cause error) error {
	// Its output closes just before it has ended by itself. The moment keeps
	// our signal from hiding how.
	time.Sleep(50 * time.Millisecond)
	h.proc = nil
	status := p.end()
	text := "the Python process of the script gave no answer: " + cause.Error()
	if errors.Is(cause, io.EOF) {
		text = "the script ended its Python process"
		if status != nil {
			text += " (" + status.Error() + ")"
		}
	}
	// What it wrote last says why it ended, unless that was our doing.
	if last := p.stderr.lastLine(); last != "" && p.cmd.ProcessState != nil && p.cmd.ProcessState.Exited() {
		text += ": " + last
	}
	return errors.New(text)
}

// exchange writes a request and reads the line that answers it.
func (p *process) exchange(request []byte) line {
	_, failed := p.in.Write(request)
	var text []byte
	for {
		part, err := p.out.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxAnswer:
			return line{err: fmt.Errorf("it is longer than %d bytes", maxAnswer)}
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && failed != nil:
			return line{err: io.EOF}
		case err != nil:
			return line{err: err}
		default:
			return line{text: bytes.TrimSpace(text)}
		}
	}
}
