package main

import (
	"context"
	"flag"
	"io"
	"slices"
	"strings"

	"precision/graph"
	"precision/graph/describe"
	"precision/graph/read"
	"precision/graph/write"
	"precision/internal/must"
	"precision/internal/whole"
	"precision/run/explain"
)

// atcCommand takes the words of the vendor's graph converter, so that scripts
// that turn a graph into JSON need one word more and no toolkit:
//
//	precision atc --mode=5 --om=ge_proto_00000062_Build.txt --json=graph.json
func atcCommand(ctx context.Context, e env, args []string) (int, error) {
	values := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, glued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if name == "h" || name == "help" {
			e.helpFor("atc", nil, flag.ErrHelp)
		}
		misusedIf(name != "mode" && name != "om" && name != "json", "err.atc.option", args[i])
		if !glued {
			misusedIf(i+1 == len(args), "err.atc.value", args[i])
			i++
			value = args[i]
		}
		values[name] = value
	}
	want := map[string][]graph.Source{"5": {graph.SourceText}, "1": {graph.SourceOM, graph.SourceOM2}}[values["mode"]]
	misusedIf(want == nil, "err.atc.mode", values["mode"])
	misusedIf(values["om"] == "" || values["json"] == "", "err.atc.both")
	misused(whole.Apart([]string{values["json"]}, values["om"]))
	m := must.Get(read.Open(ctx, values["om"]))
	if !slices.Contains(want, m.Source) {
		return exitError, explain.Say("err.atc.form", values["om"], m.Source, values["mode"], want[0])
	}
	for _, w := range m.Warnings {
		e.warn(describe.Warning(e.language(), w))
	}
	must.Do(whole.Fill(values["json"], 0o600, func(w io.Writer) error { return write.JSON(ctx, w, m) }))
	return exitOK, nil
}
