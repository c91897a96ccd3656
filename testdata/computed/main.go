// Command computed makes the recording of a small network that was really
// computed, clean or with one thing wrong; answer.json says what.
//
//	go run ./testdata/computed -arch lstm -seed 3 -migration weight -out DIR
//
// See package testdata/workshop/computed for what can be wrong.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"

	"precision/internal/must"
	"precision/testdata/workshop/computed"
)

func main() {
	var o computed.Options
	out := flag.String("out", "", "the `folder` to write to")
	flag.StringVar(&o.Arch, "arch", "", "one of "+strings.Join(computed.Archs(), ", "))
	flag.Uint64Var(&o.Seed, "seed", 1, "where random numbers begin")
	flag.IntVar(&o.Size, "size", 1, "times the width")
	flag.StringVar(&o.Fault, "fault", "", "KIND[:OP] of "+strings.Join(computed.Faults, ", "))
	flag.StringVar(&o.Migration, "migration", "", "KIND[:OP] of "+strings.Join(computed.Migrations, ", "))
	flag.StringVar(&o.Golden, "golden", "", "KIND[:OP] of "+strings.Join(computed.Goldens, ", "))
	flag.StringVar(&o.Premise, "premise", "", "KIND[:OP] of "+strings.Join(computed.Premises, ", "))
	flag.BoolVar(&o.Fused16, "fused16", false, "fused kernels round to float16 inside")
	flag.BoolVar(&o.DirtyPadding, "dirty-padding", false, "random numbers in what blocks leave over")
	flag.Float64Var(&o.Mask, "mask", -1e4, "what a mask adds; -inf, too")
	flag.BoolVar(&o.WeightGolden, "weight-golden", false, "golden arrays of weights, too")
	flag.BoolVar(&o.Powers, "powers", false, "the framework's scales are powers of two")
	flag.BoolVar(&o.Devices, "devices", false, "the golden side is of dumps, too")
	flag.BoolVar(&o.Other, "other", false, "draw sizes, types, masks and more by the seed")
	flag.Parse()
	if err := run(o, *out); err != nil {
		fmt.Fprintln(os.Stderr, "computed:", err)
		os.Exit(1)
	}
}

func run(o computed.Options, out string) (err error) {
	defer must.Catch(&err)
	must.Not(out == "" || math.IsNaN(o.Mask), "-out names a folder, -mask is a number")
	n := must.Get(computed.New(o))
	answer := must.Get(n.Write(out))
	return json.NewEncoder(os.Stdout).Encode(answer)
}
