package run

import (
	"slices"
	"sync"
	"testing"
)

// Of much progress little is passed on, in order and with its end; nothing else is held back.
func TestForward(t *testing.T) {
	const steps = 100_000
	var events []Event
	to := Forward(func(e Event) { events = append(events, e) })
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := worker; i <= steps; i += 4 {
				to(Event{Action: Progress, Stage: Comparing, Done: i, Total: steps})
			}
		})
	}
	wait.Wait()
	for range 3 {
		to(Event{Action: File, Path: "x"})
	}
	to(Event{Action: Progress, Stage: Checking, Done: 0, Total: 2})
	to(Event{Action: Progress, Stage: Checking, Done: 2, Total: 2})
	files, before, ends := 0, Event{}, []string{}
	for _, e := range events {
		if e.Action == File {
			files++
			continue
		}
		if e.Stage == before.Stage && e.Done <= before.Done {
			t.Errorf("%s: %d after %d", e.Stage, e.Done, before.Done)
		}
		if before = e; e.Done == e.Total {
			ends = append(ends, e.Stage)
		}
	}
	if files != 3 || !slices.Equal(ends, []string{Comparing, Checking}) || len(events) > steps/100 {
		t.Errorf("%d events, %d files, ends of %v", len(events), files, ends)
	}
}
