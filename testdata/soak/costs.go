package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"precision/testdata/workshop/soak"
)

// costs sees that no command costs more than its input grows.
func (t *tally) costs(ctx context.Context, o options, work string) error {
	under, err := programs(ctx, work, "precision", "msaccucmp")
	if err != nil {
		return err
	}
	start := soak.CPU()
	fmt.Println("| input | command | n | CPU s at n, 2n, 4n | MB at n, 2n, 4n |\n|---|---|---|---|---|")
	for i, g := range soak.Growths() {
		if ctx.Err() != nil || !o.match.MatchString(g.Name) {
			continue
		}
		dir := filepath.Join(work, fmt.Sprint("growth-", i))
		err := g.Grow(under, o.seed, dir, func(c soak.Grown) {
			fmt.Printf("| %s | `%s` | %d | %.2f, %.2f, %.2f | %d, %d, %d |\n", c.Growth, c.Command, c.N, c.CPU[0].Seconds(), c.CPU[1].Seconds(), c.CPU[2].Seconds(), c.Memory[0]>>20, c.Memory[1]>>20, c.Memory[2]>>20)
			if steep := c.Steep(); steep != "" {
				t.found(fmt.Sprintf("go run ./testdata/soak -costs -seed %d -match '%s'", o.seed, g.Name), c.Command+" "+steep)
			}
		})
		if err != nil {
			t.found(fmt.Sprintf("go run ./testdata/soak -costs -seed %d -match '%s'", o.seed, g.Name), err.Error())
		}
		os.RemoveAll(dir)
	}
	t.cpu += soak.CPU() - start
	return nil
}
