package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"

	"precision/internal/build"
	"precision/run/explain"
)

func versionCommand(_ context.Context, e env, args []string) (int, error) {
	switch {
	case len(args) == 1 && isHelp(args[0]):
		return helpOr(e, "version", nil, flag.ErrHelp)
	case len(args) > 0:
		return exitUsage, explain.Say("cli.unexpected", args[0])
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Fprintf(e.stdout, "precision %s\n", build.Describe(info))
	return exitOK, nil
}

// version is what the banner of the shell calls this program.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return build.Name(info)
}
