//go:build unix

package compare

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A graph that never comes, from a pipe without a writer, can be interrupted.
func TestOpenStopsWhileTheGraphIsRead(t *testing.T) {
	job := writePair(t, t.TempDir(), 1, 4)
	job.Graph = filepath.Join(t.TempDir(), "graph.json")
	if err := syscall.Mkfifo(job.Graph, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done := make(chan error, 1)
	go func() {
		_, err := job.Open(ctx)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("still waiting for the graph")
	}
	// Let the reader go.
	if w, err := os.OpenFile(job.Graph, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		w.Close()
	}
}
