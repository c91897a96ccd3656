package run

import (
	"context"
	"slices"
	"strings"
	"sync"

	"precision/compare/result"
	"precision/compare/verdict"
	"precision/internal/spell"
	"precision/run/explain"
)

// mostWhy is how many operators of one name are told about: more cannot be read.
const mostWhy = 20

// Why checks the operators of a name, of all that [Check.Validate] found: the one that is called so, or those that were
// made from the framework's operator of that name, or fit the pattern, or have the text in their names.
func (c *Check) Why(ctx context.Context, name string, tell Listener) (*Checked, error) {
	if op, _, _, err := result.ParseTensor(name); err == nil {
		name = op
	}
	var mu sync.Mutex
	var names []string
	c.Only = func(op string) bool {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, op)
		return op == name
	}
	done, err := c.Run(ctx, tell)
	if err != nil || len(done.Findings) > 0 {
		return done, err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	chosen := c.named(names, name)
	switch {
	case len(chosen) == 0:
		if near := spell.Nearest(name, names); near != "" {
			return done, explain.Say("err.why.near", name, near)
		}
		return done, explain.Say("err.why.none", name)
	case len(chosen) > mostWhy:
		return done, explain.Say("err.why.many", len(chosen), name, strings.Join(chosen[:mostWhy], "\n  "))
	}
	c.Only = func(op string) bool { return slices.Contains(chosen, op) }
	if done, err = c.Run(ctx, tell); err == nil && len(done.Findings) == 0 {
		err = explain.Say("err.why.outputs", strings.Join(chosen, ", "))
	}
	return done, err
}

// Unmatched tells that [Check.Why] found no operator of the name, or too many.
func Unmatched(err error) bool {
	message, ok := err.(*explain.Message)
	return ok && strings.HasPrefix(message.Key, "err.why.")
}

// named are the names that a person may mean by one.
func (c *Check) named(names []string, name string) (chosen []string) {
	if c.Model != nil {
		for op := range c.Model.Ops() {
			if origins, ok := op.OriginNames(); ok && slices.Contains(origins, name) && slices.Contains(names, op.Name) && !slices.Contains(chosen, op.Name) {
				chosen = append(chosen, op.Name)
			}
		}
	}
	pattern := strings.ContainsAny(name, "*?")
	if len(chosen) > 0 || name == "" {
		return chosen
	}
	low := strings.ToLower(name)
	for _, n := range names {
		if pattern && verdict.Glob(name, n) || !pattern && strings.Contains(strings.ToLower(n), low) {
			chosen = append(chosen, n)
		}
	}
	return chosen
}
