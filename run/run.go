// Package run does what a program asks for, from opening files to the verdict: a request ([Compare], [Check], [Report])
// holds the options, [Event]s tell how it goes on, and the result is data. A face parses a request, renders events
// and the result, and chooses an exit status; what is opened, bounded, recomputed, judged and written, and in
// which order, stands here alone.
package run

import (
	"embed"
	"encoding/json"
	"io"
	"sync"
	"time"

	"precision/compare/engine"
	"precision/compare/job"
	"precision/compare/job/face"
	"precision/compare/report"
	"precision/compare/result"
	"precision/graph"
	"precision/internal/msg"
	"precision/internal/progress"
)

//go:embed en.txt zh.txt
var texts embed.FS

var _ = msg.Register(texts)

// Action is what happens in a run.
type Action string

// The actions.
const (
	Opened   Action = "opened"   // the sides were found: Left, Right, Warnings, Notes
	Warning  Action = "warning"  // something to know: Warnings, Notes
	Progress Action = "progress" // of a Stage so much is done
	Table    Action = "table"    // the table is at Path, with Rows tensors of which so many were Compared
	File     Action = "file"     // something else was written to Path
	Verdict  Action = "verdict"  // what it comes to
)

// Stages of a run whose progress is told.
const (
	Comparing = "comparing"
	Checking  = "checking"
	Weighing  = "comparing weights"
	Reading   = "reading"
)

// Event is something that happened. As JSON it is a line for programs; texts are English there.
type Event struct {
	Action Action `json:"action"`
	Stage  string `json:"stage,omitempty"`
	Done   int    `json:"done,omitempty"`
	Total  int    `json:"total,omitempty"`
	Bytes  bool   `json:"bytes,omitempty"` // are what is counted
	Left   string `json:"left,omitempty"`
	Right  string `json:"right,omitempty"`
	Path   string `json:"path,omitempty"`
	// Rows and Compared count tensors.
	Rows     int    `json:"rows,omitempty"`
	Compared int    `json:"compared,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	// Roots are the operators at which errors begin.
	Roots    []string `json:"roots,omitempty"`
	Warnings []error  `json:"-"`
	// How is why a graph, at Path, was taken for the dumps.
	How   graph.MatchHow  `json:"-"`
	Notes []result.Reason `json:"-"`
	Note  *job.Note       `json:"-"` // of a job
	// Session is what was opened where the sides are dumps.
	Session *engine.Session `json:"-"`
}

// Listener is told what happens, one event at a time.
type Listener func(Event)

// Forward passes events on, of progress a few a second: what a stage has come to only grows, and its end is told.
func Forward(to Listener) Listener {
	const between = 100 * time.Millisecond
	var mu sync.Mutex // progress may be told by several workers
	var last Event
	var at time.Time
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Action == Progress {
			now, same := time.Now(), last.Action == Progress && last.Stage == e.Stage && last.Total == e.Total
			if same && (e.Done <= last.Done || e.Done < e.Total && now.Sub(at) < between) {
				return
			}
			last, at = e, now
		}
		to(e)
	}
}

// Lines writes events as lines of JSON.
func Lines(w io.Writer) Listener {
	type event Event
	return Forward(func(e Event) {
		line := struct {
			Time time.Time `json:"time"`
			event
			Texts []string `json:"texts,omitempty"`
		}{Time: time.Now(), event: event(e)}
		for _, w := range e.Warnings {
			line.Texts = append(line.Texts, w.Error())
		}
		for _, n := range e.Notes {
			line.Texts = append(line.Texts, report.Sentence(msg.English, n))
		}
		if e.Note != nil {
			line.Texts = append(line.Texts, face.Note(msg.English, *e.Note))
		}
		text, _ := json.Marshal(line)
		w.Write(append(text, '\n'))
	})
}

// Bars shows the progress of stages and hands other events on. stop wipes what is shown.
func Bars(bar func(stage string) *progress.Bar, other Listener) (tell Listener, stop func()) {
	var shown *progress.Bar
	var bytes *progress.Bytes
	stage := ""
	stop = func() { shown.Done() }
	return func(e Event) {
		if e.Action != Progress {
			stop()
			other(e)
			return
		}
		if e.Stage != stage {
			stop()
			stage, shown = e.Stage, bar(e.Stage)
			bytes = progress.NewBytes(shown)
		}
		if e.Bytes {
			bytes.Set(int64(e.Done), int64(e.Total))
			return
		}
		shown.Set(e.Done, e.Total)
	}, stop
}

// progress tells how far a stage has come.
func (l Listener) progress(stage string) func(done, total int) {
	return func(done, total int) { l(Event{Action: Progress, Stage: stage, Done: done, Total: total}) }
}
