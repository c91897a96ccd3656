package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"precision/testdata/workshop/soak"
)

// damages counts the trials of a kind of damage.
type damages struct{ runs, harmed, passed, acquittals int }

func (d *damages) add(t *soak.Trial) {
	d.runs++
	if t.Harmed {
		d.harmed++
	}
	if t.Passed {
		d.passed++
	}
	if t.Acquittal != "" {
		d.acquittals++
	}
}

// damage damages recordings from a seed on and sees that no verdict gets better by it.
func (t *tally) damage(ctx context.Context, o options, work string) error {
	under, err := programs(ctx, work, "precision")
	if err != nil {
		return err
	}
	at := work
	if o.keep != "" {
		at = o.keep
	}
	h, err := soak.NewHarm(under["precision"], ".", at, o.real)
	if err != nil {
		return err
	}
	start := soak.CPU()
	trials := make([]*soak.Trial, o.damage)
	errs := make([]error, o.damage)
	var workers sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				trials[i], errs[i] = h.Damage(o.seed+uint64(i), o.match.MatchString, o.keep != "")
			}
		}()
	}
	for i := 0; i < o.damage && ctx.Err() == nil; i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	t.cpu += soak.CPU() - start

	var all damages
	kinds, commands := map[string]*damages{}, map[string]*damages{}
	for i, x := range trials {
		again := fmt.Sprintf("go run ./testdata/soak -damage 1 -seed %d", o.seed+uint64(i))
		if errs[i] != nil {
			t.found(again, errs[i].Error())
		}
		if x == nil {
			continue
		}
		all.add(x)
		for _, c := range []struct {
			of   map[string]*damages
			name string
		}{{kinds, x.Kind}, {commands, x.Command}} {
			if c.of[c.name] == nil {
				c.of[c.name] = &damages{}
			}
			c.of[c.name].add(x)
		}
		text := fmt.Sprintf("  %s\n  %s\n  %s\n  before: %s\n  after:  %s", x.Name(), x.What, x.Line, x.Before, x.After)
		switch {
		case x.Acquittal != "":
			t.found(again, text+"\n  "+x.Acquittal)
		case o.damage == 1:
			fmt.Println(text)
		}
	}
	printDamages(os.Stdout, "damage", soak.DamageKinds(), kinds)
	printDamages(os.Stdout, "command", soak.DamageCommands(), commands)
	fmt.Printf("damage: %d runs, %d with another verdict or status, %d pass the plain gate within what may be missing, %d acquittals\n",
		all.runs, all.harmed, all.passed, all.acquittals)
	return nil
}

func printDamages(to *os.File, title string, order []string, of map[string]*damages) {
	if len(of) == 0 {
		return
	}
	fmt.Fprintf(to, "| %s | runs | another verdict or status | pass the plain gate, named | acquittals |\n|---|---|---|---|---|\n", title)
	for _, name := range order {
		if d := of[name]; d != nil {
			fmt.Fprintf(to, "| %s | %d | %d | %d | %d |\n", name, d.runs, d.harmed, d.passed, d.acquittals)
		}
	}
}
