package job

import (
	"precision/compare/engine"
	"precision/compare/result"
	"precision/compare/verdict"
)

func newTestPool() *engine.Pool { return engine.NewPool(2) }

func judgedOf(p *Plan, t *result.Table) *verdict.Judged {
	return verdict.Judge(t, verdict.Options{Profile: p.profile(), Day: p.Day})
}
