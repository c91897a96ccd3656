package main

import (
	"context"
	"flag"
	"io"
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
			return helpOr(e, "atc", nil, flag.ErrHelp)
		}
		misusedIf(name != "mode" && name != "om" && name != "json", "err.atc.option", args[i])
		if !glued {
			if i++; i >= len(args) {
				return exitUsage, explain.Say("err.atc.value", args[i-1])
			}
			value = args[i]
		}
		values[name] = value
	}
	var want []graph.Source
	switch values["mode"] {
	case "5":
		want = []graph.Source{graph.SourceText}
	case "1":
		want = []graph.Source{graph.SourceOM, graph.SourceOM2}
	default:
		return exitUsage, explain.Say("err.atc.mode", values["mode"])
	}
	misusedIf(values["om"] == "" || values["json"] == "", "err.atc.both")
	misused(whole.Apart([]string{values["json"]}, values["om"]))
	m := must.Get(read.Open(ctx, values["om"]))
	ok := false
	for _, s := range want {
		ok = ok || m.Source == s
	}
	if !ok {
		return exitError, explain.Say("err.atc.form", values["om"], m.Source, values["mode"], want[0])
	}
	for _, w := range m.Warnings {
		e.warn(describe.Warning(e.language(), w))
	}
	must.Do(whole.Fill(values["json"], 0o600, func(w io.Writer) error { return write.JSON(ctx, w, m) }))
	return exitOK, nil
}
