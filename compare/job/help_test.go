package job

import (
	"precision/compare"
	"precision/compare/result"
	"precision/compare/verdict"
)

func newTestPool() *compare.Pool { return compare.NewPool(2) }

func judgedOf(p *Plan, t *result.Table) *verdict.Judged {
	return verdict.Judge(t, verdict.Options{Profile: p.profile(), Day: p.Day})
}
