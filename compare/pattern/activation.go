package pattern

import (
	"sync"

	catalogue "precision/op"
)

// An activation that is missing or too many.
const (
	ActivationMissing Kind = "activation-missing" // f(got) is what is expected
	ActivationAdded   Kind = "activation-added"   // got is f of what is expected
)

// Activation belongs to both.
type Activation struct {
	Name string `json:"name"`
}

// function is one that a network may have once too often or lack.
type function struct {
	name string
	f    func(float64) float64
}

// activations are those that the catalogue has.
var activations = sync.OnceValue(func() (list []function) {
	for _, row := range catalogue.With("activation") {
		if row.Traits&catalogue.Activation != 0 {
			list = append(list, function{row.Names[0], row.Formula.Function()})
		}
	}
	return list
})

func activation(l *look) []Finding {
	stage := l.trials()
	if len(stage) < 16 {
		return nil
	}
	var found []Finding
	for _, a := range activations() {
		missing := func(p int) float64 { return l.got[p] + l.Want[p] - a.f(l.got[p]) }
		added := func(p int) float64 { return a.f(l.Want[p]) }
		shape := map[Kind]func(int) (float64, float64){
			ActivationMissing: func(p int) (float64, float64) { return a.f(l.got[p]), l.Want[p] },
			ActivationAdded:   func(p int) (float64, float64) { return a.f(l.Want[p]), l.got[p] },
		}
		for kind, predict := range map[Kind]func(int) float64{ActivationMissing: missing, ActivationAdded: added} {
			if f := l.judgeOn(stage, predict); 5*f.improved < 4*f.tried {
				continue
			}
			if f := l.judge(predict); 5*f.improved >= 4*f.tried && l.alike(shape[kind]) && f.holds(0.7, 0, int64(2*len(activations()))) {
				found = append(found, l.finding(kind, Activation{a.name}, f))
			}
		}
	}
	return bestOf(found)
}

// alike reports whether pairs of numbers have a correlation of at least 0.7 over the elements
// picked: what squeezes large numbers takes most of a large error away and resembles nothing.
func (l *look) alike(pair func(p int) (x, y float64)) bool {
	var c correlation
	for _, p := range l.pick {
		if _, ok := l.error(p); ok {
			c.add(pair(p))
		}
	}
	return c.value() >= 0.7
}
