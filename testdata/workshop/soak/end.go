package soak

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"precision/internal/must"
	"strings"
	"syscall"
	"time"
)

// mostToEnd is how much processor time a program may take to end when it is asked to.
// Processor time, since the machine may have other things to do; where that is not
// known, and for a program that waits, longestToEnd bounds the clock.
const (
	mostToEnd    = time.Second
	longestToEnd = 30 * time.Second
)

// EndsAtOnce runs the program and asks it to end at n moments of its run, which a
// seed picks. It must do so in order: soon, with status 130 or, if it was done just
// then, 0, and without half a file in the folder out.
func (p Program) EndsAtOnce(seed uint64, n int, out string, args ...string) (err error) {
	defer must.Catch(&err)
	start := time.Now()
	must.Get(p.run(0, args...))
	whole := time.Since(start)
	rng := seedOf(seed)
	for range n {
		must.Do(os.RemoveAll(out))
		must.Do(os.MkdirAll(out, 0o700))
		cmd := exec.Command(p.Path, args...)
		cmd.Env = append(os.Environ(), p.Env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		must.Do(cmd.Start())
		after := whole/20 + time.Duration(rng.Int64N(int64(whole)))
		time.Sleep(after)
		asked := time.Now()
		spent, known := cpuOf(cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		took, used := time.Since(asked), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()-spent
		fail := func(format string, a ...any) error {
			return fmt.Errorf("%s, asked to end after %v: %s", strings.Join(args, " "), after, fmt.Sprintf(format, a...))
		}
		switch code := cmd.ProcessState.ExitCode(); {
		case known && used > mostToEnd:
			return fail("took %v of processor time to end, expected at most %v", used, mostToEnd)
		case took > longestToEnd:
			return fail("ended after %v, expected at most %v", took, longestToEnd)
		case code != 0 && code != 130 && !(code == -1 && after < 100*time.Millisecond): // it did not listen yet
			return fail("exit status %d, %.500s", code, stderr.String())
		}
		if _, err := tables(out, false); err != nil {
			return fail("%v", err)
		}
	}
	return nil
}
