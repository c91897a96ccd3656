package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Reading two logs tells how far it is, up to the end of both.
func TestPreflightProgress(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "step %d loss %.6f\n", i, 1+1/float64(i+1))
	}
	p := Preflight{A: filepath.Join(dir, "a.log"), B: filepath.Join(dir, "b.log")}
	for _, path := range []string{p.A, p.B} {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var last Event
	told := 0
	done, err := p.Run(t.Context(), func(e Event) { last, told = e, told+1 })
	if err != nil || done.Differs {
		t.Fatal(err, done)
	}
	if last.Stage != Reading || !last.Bytes || last.Done != 2*text.Len() || last.Total != last.Done || told < 2 {
		t.Errorf("told %d times, at last %+v, expected %d bytes", told, last, 2*text.Len())
	}
	p.B = filepath.Join(dir, "none.log")
	p.Kind = done.Kind
	if _, err := p.Run(t.Context(), func(Event) {}); err == nil || !strings.Contains(err.Error(), p.B) {
		t.Errorf("a log that is not there: %v", err)
	}
}
