package main

import (
	"context"

	"precision/compare/report/rollouts"
	"precision/internal/must"
	"precision/run"
)

// rolloutCommand says why trainer and inference engine give other log-probs.
func rolloutCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("rollout")
	q := run.Rollout{Stdout: e.stdout}
	set.StringVar(&q.Train, "train", "", text("train"))
	set.StringVar(&q.Calls, "rollout", "", text("rollout"))
	set.StringVar(&q.Calls, "lt", "", text("lt"))
	set.StringVar(&q.Train, "rt", "", text("rt"))
	set.IntVar(&q.Tokens, "tokens", 256, text("tokens"))
	set.StringVar(&q.LogP, "logp", "", text("logp"))
	set.StringVar(&q.Mask, "mask", "", text("mask"))
	set.IntVar(&q.Step, "step", -1, text("step"))
	set.StringVar(&q.Weights, "weights", "", text("weights"))
	set.StringVar(&q.RouterTrain, "router-train", "", text("router-train"))
	set.StringVar(&q.RouterRollout, "router-rollout", "", text("router-rollout"))
	set.StringVar(&q.JSON, "json", "", text("json"))
	set.StringVar(&q.HTML, "html", "", text("html"))
	set.IntVar(&q.Workers, "workers", 0, text("workers"))
	set.BoolVar(&e.events, "events", false, text("events"))
	most := set.Int("n", 10, text("n"))
	set.Var((*run.Gate)(&q.Gate), "gate", text("gate"))
	none(e.words("rollout", set, args))
	misusedIf(q.Workers < 0 || q.Tokens < 0 || *most < 0, "err.rollout.number")
	alone(e.events, q.JSON)
	show := e.show(e.language())
	q.Lang = show.lang
	listen, stop := e.listener(show)
	r, passes, err := q.Run(ctx, listen)
	stop()
	must.Do(err)
	if q.JSON != "-" {
		show.write(rollouts.Lines(show.lang, r, *most))
	}
	if !passes {
		return exitBelow, nil
	}
	return exitOK, nil
}
