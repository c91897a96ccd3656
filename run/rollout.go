package run

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"precision/compare/report/rollouts"
	"precision/compare/rollout"
	"precision/compare/verdict"
	"precision/dump/checkpoint"
	"precision/internal/msg"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run/explain"
)

// Rollout is a request to say why a trainer and an inference engine give other log-probs. Paths that are empty are not there.
type Rollout struct {
	// LogP is a folder of arrays, or two files with a comma between, the trainer's first; Mask says which of their tokens count.
	LogP, Mask string
	// Step is that of a folder of several, below 0 the first.
	Step int
	// Weights are two checkpoints with a comma between, the trainer's first.
	Weights string
	// RouterTrain and RouterRollout are the experts that were chosen.
	RouterTrain, RouterRollout string
	// Train and Calls are folders with recordings of the trainer and of the inference engine.
	Train, Calls string
	// Tokens bounds how many tokens of the recordings are looked at.
	Tokens int
	// JSON is the file that the result is written to, - for Stdout.
	JSON string
	// HTML is the file that the page is written to, which opens in Lang.
	HTML    string
	Lang    msg.Lang
	Stdout  io.Writer
	Gate    verdict.Gate
	Workers int
}

// Run reads what there is, compares it and writes the result. passes is what the gate says.
func (q *Rollout) Run(ctx context.Context, tell Listener) (r *rollout.Result, passes bool, err error) {
	defer must.Catch(&err)
	explain.Refuse(q.HTML == "-", "err.rollout.html")
	explain.Refuse(q.LogP == "" && q.Weights == "" && q.RouterTrain == "" && q.Train == "" && q.Calls == "", "err.rollout.need")
	explain.Refuse((q.Train == "") != (q.Calls == ""), "err.rollout.calls")
	explain.Refuse((q.RouterTrain == "") != (q.RouterRollout == ""), "err.rollout.routers")
	inputs := []string{q.Train, q.Calls, q.Mask, q.RouterTrain, q.RouterRollout}
	for _, list := range []string{q.LogP, q.Weights} {
		inputs = append(inputs, strings.Split(list, ",")...)
	}
	must.Do(whole.Apart([]string{q.JSON, q.HTML}, inputs...))
	r = q.compare(ctx, tell)
	must.Do(q.write(r))
	for _, path := range []string{q.JSON, q.HTML} {
		if path != "" && path != "-" {
			tell(Event{Action: File, Path: path})
		}
	}
	tell(Event{Action: Verdict, Verdict: r.Verdict.String()})
	stops := q.Gate.Stops(verdict.Standing{Verdict: r.Verdict})
	return r, len(stops) == 0 && !(q.Gate.Strict && len(r.Unknown) > 0), nil
}

func (q *Rollout) compare(ctx context.Context, tell Listener) *rollout.Result {
	in := &rollout.Request{TrainCalls: q.Train, RolloutCalls: q.Calls, Tokens: q.Tokens, Workers: q.Workers, Progress: tell.progress(Weighing)}
	// What cannot be read is told beside what was found in the rest; a path that is not there is an error of its own.
	unread := func(err error, others ...string) bool {
		var missing *fs.PathError
		if errors.As(err, &missing) || !slices.ContainsFunc(others, func(s string) bool { return s != "" }) {
			must.Do(err)
		}
		if err != nil {
			in.Unread = append(in.Unread, err)
		}
		return err != nil
	}
	var err error
	if a, b, two := strings.Cut(q.LogP, ","); two {
		in.LogProbs, err = rollout.ReadArrays(a, b, q.Mask)
	} else if q.LogP != "" {
		in.LogProbs, err = rollout.ReadLogProbs(q.LogP, q.Step, q.Mask)
	}
	if unread(err, q.Weights, q.RouterTrain, q.Train) {
		in.LogProbs = nil
	}
	if q.Weights != "" {
		a, b, two := strings.Cut(q.Weights, ",")
		explain.Refuse(!two, "err.rollout.weights", q.Weights)
		for i, to := range []**checkpoint.Set{&in.Train, &in.Rollout} {
			set, err := checkpoint.Open([]string{a, b}[i])
			if !unread(err, q.LogP, q.RouterTrain, q.Train) {
				defer set.Close()
				*to = set
			}
		}
	}
	if q.RouterTrain != "" {
		if in.Routers, err = rollout.ReadRouters(q.RouterTrain, q.RouterRollout); unread(err, q.LogP, q.Weights, q.Train) {
			in.Routers = nil
		}
	}
	return must.Get(rollout.Run(ctx, in))
}

func (q *Rollout) write(r *rollout.Result) error {
	if q.HTML != "" {
		err := whole.Fill(q.HTML, 0o600, func(w io.Writer) error {
			return rollouts.Write(w, r, q.Lang, cmp.Or(q.Train, q.LogP, q.Weights, q.RouterTrain), cmp.Or(q.Calls, q.RouterRollout, q.LogP, q.Weights))
		})
		if err != nil {
			return err
		}
	}
	switch q.JSON {
	case "":
		return nil
	case "-":
		return rollouts.WriteJSON(q.Stdout, r)
	}
	return whole.Fill(q.JSON, 0o600, func(w io.Writer) error { return rollouts.WriteJSON(w, r) })
}
