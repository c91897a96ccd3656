package soak

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"
)

// Kill starts a comparison and kills it at a moment that the seed picks, within
// the time a whole run takes. What is there then is whole; the next run removes
// what was left behind.
func (n *Network) Kill(p Program, seed uint64, work string) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := filepath.Join(work, fmt.Sprint("k", seed))
	args := []string{"compare", "-lt", n.NPU, "-rt", n.Golden, "-g", n.Graph, "-out", out, "-json", filepath.Join(out, "verdict.json")}
	start := time.Now()
	if _, err := p.run(0, append(args[:8:8], out+"-time")...); err != nil {
		return err
	}
	whole := time.Since(start)
	for range 3 {
		at := time.Duration(rng.Int64N(int64(whole))) + time.Millisecond
		if _, err := p.run(at, args...); err != nil {
			return fmt.Errorf("seed %d, killed after %v: %w", seed, at, err)
		}
		if _, err := tables(out, true); err != nil {
			return fmt.Errorf("seed %d, killed after %v: %w", seed, at, err)
		}
	}
	if _, err := p.run(0, args...); err != nil {
		return fmt.Errorf("seed %d, after it was killed: %w", seed, err)
	}
	if _, err := tables(out, false); err != nil {
		return fmt.Errorf("seed %d, after it was killed: %w", seed, err)
	}
	return nil
}

// Full runs a comparison whose files may only have so many blocks of 512 bytes: it
// fails, says so and leaves nothing, or all is whole. It needs the shell sh.
func (n *Network) Full(p Program, blocks int, work string) error {
	out := filepath.Join(work, fmt.Sprint("f", blocks))
	shell := p
	shell.Path = "/bin/sh"
	e, err := shell.run(0, "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks), p.Path,
		"compare", "-lt", n.NPU, "-rt", n.Golden, "-g", n.Graph, "-out", out)
	if err != nil {
		return fmt.Errorf("%d blocks: %w", blocks, err)
	}
	found, err := tables(out, false)
	switch {
	case err != nil:
		return fmt.Errorf("%d blocks: %w", blocks, err)
	case len(found) == 0 && (e.code != 1 || !strings.Contains(e.stderr, out)):
		return fmt.Errorf("%d blocks: no table, exit status %d, %q", blocks, e.code, e.stderr)
	case len(found) == 1 && len(found[0]) != len(n.rows)+1:
		return fmt.Errorf("%d blocks: %d rows of %d, exit status %d", blocks, len(found[0])-1, len(n.rows), e.code)
	}
	return nil
}
