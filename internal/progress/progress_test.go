package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestPipeShowsNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	b := New(w, "compare")
	if b != nil {
		t.Fatal("a pipe gets a bar")
	}
	b.Set(1, 2)
	b.Done()
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		width, done, total int
		want               string
	}{
		{80, 0, 4, "compare [........................................] 0/4   0%"},
		{80, 4, 4, "compare [########################################] 4/4 100%"},
		{40, 1, 2, "compare [##########..........] 1/2  50%"},
		{12, 1, 2, "1/2  50%"},
	} {
		b := &Bar{label: "compare", width: func() int { return c.width }}
		got := b.line(c.done, c.total)
		if got != c.want {
			t.Errorf("width %d: %q, want %q", c.width, got, c.want)
		}
		if len(got) >= c.width {
			t.Errorf("width %d: %d columns would wrap", c.width, len(got))
		}
	}
}

func TestDoneWipes(t *testing.T) {
	var out bytes.Buffer
	b := &Bar{w: &out, label: "x", width: func() int { return 30 }}
	b.Set(1, 1)
	shown := b.shown
	b.Done()
	if !strings.HasSuffix(out.String(), "\r"+strings.Repeat(" ", shown)+"\r") {
		t.Errorf("the bar stays: %q", out.String())
	}
}
