// Command network makes a recorded network of some size to measure a comparison by: a chain of operators whose outputs
// take many layouts and element types, random numbers with the noise of rounding.
//
//	go run ./testdata/network -out DIR [-operators 256] [-size 1]
//
// Without flags it writes 257 MB of arrays and 320 MB of dumps. DIR gets npu, golden and graph.txt.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"precision/testdata/workshop/soak"
)

func main() {
	out := flag.String("out", "", "the `folder` to write to")
	operators := flag.Int("operators", 256, "operators")
	size := flag.Int64("size", 1, "elements of an output, times 2^18")
	seed := flag.Uint64("seed", 1, "where random numbers begin")
	flag.Parse()
	if err := run(*out, *operators, *size, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "network:", err)
		os.Exit(1)
	}
}

func run(out string, operators int, size int64, seed uint64) error {
	if out == "" || operators < 1 || size < 1 || size > 1<<10 {
		return fmt.Errorf("-out names a folder; -operators is 1 or more, -size 1 to 1024")
	}
	npu, golden := filepath.Join(out, "npu", "20261122010203", "0", "chain", "1", "0"), filepath.Join(out, "golden")
	for _, dir := range []string{npu, golden} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return soak.NewChain(operators, size, seed).Write(soak.Form{}, npu, golden, filepath.Join(out, "graph.txt"))
}
