package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
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

func TestBytes(t *testing.T) {
	var out bytes.Buffer
	b := NewBytes(&Bar{w: &out, label: "job", width: func() int { return 80 }})
	b.Set(0, 4e9)
	b.begun, b.start = true, time.Now().Add(-10*time.Second)
	if got := b.count(1e9, 4e9, 10*time.Second); got != " 1 GB/4 GB  25% 100 MB/s 30s" {
		t.Errorf("%q", got)
	}
	var none *Bytes
	none.Set(1, 2)
	for d, want := range map[time.Duration]string{400 * time.Millisecond: "0.4s", 185 * time.Second: "3m05s", 7800 * time.Second: "2h10m", 76 * time.Hour: "3d04h"} {
		if got := Span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := Size(999) + " " + Size(1500) + " " + Size(999_999); got != "999 B 1.5 kB 1 MB" {
		t.Error(got)
	}
}
