package pattern

import (
	"slices"
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

// activations are the rows of the catalogue that a network may have once too often or lack.
var activations = sync.OnceValue(func() []*catalogue.Row {
	return slices.DeleteFunc(catalogue.With("activation"), func(r *catalogue.Row) bool { return r.Traits&catalogue.Activation == 0 })
})

func activation(l *look) (found []Finding) {
	for _, a := range activations() {
		f := a.Formula.Function() // with numbers of its own: several tensors are looked at at a time
		missing := func(p int) float64 { return l.got[p] + l.Want[p] - f(l.got[p]) }
		added := func(p int) float64 { return f(l.Want[p]) }
		shape := map[Kind]func(int) (float64, float64){
			ActivationMissing: func(p int) (float64, float64) { return f(l.got[p]), l.Want[p] },
			ActivationAdded:   func(p int) (float64, float64) { return f(l.Want[p]), l.got[p] },
		}
		for kind, predict := range map[Kind]func(int) float64{ActivationMissing: missing, ActivationAdded: added} {
			if fit := l.judgeOn(l.trials(), predict); 5*fit.improved < 4*fit.tried {
				continue
			}
			fit := l.judge(predict)
			ok := 5*fit.improved >= 4*fit.tried && l.alike(shape[kind]) && fit.holds(0.7, 0, int64(2*len(activations())))
			found = append(found, l.told(ok, kind, Activation{a.Names[0]}, fit)...)
		}
	}
	return found
}

// alike reports whether pairs of numbers have a correlation of at least 0.7 over the elements
// picked: what squeezes large numbers takes most of a large error away and resembles nothing.
func (l *look) alike(pair func(p int) (x, y float64)) bool {
	var c correlation
	for p := range l.errors(l.pick) {
		c.add(pair(p))
	}
	return c.value() >= 0.7
}
