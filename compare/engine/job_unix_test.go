//go:build unix

package engine

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A graph that never comes, from a pipe without a writer, is refused at once.
func TestOpenRefusesAPipe(t *testing.T) {
	job := writePair(t, t.TempDir(), 1, 4)
	job.Graph = filepath.Join(t.TempDir(), "graph.json")
	if err := syscall.Mkfifo(job.Graph, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := job.Open(context.Background())
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "is a named pipe, expected a graph file") {
			t.Errorf("error %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("still waiting for the graph")
	}
}
