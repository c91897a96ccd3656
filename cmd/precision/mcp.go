package main

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"precision/internal/build"
	"precision/internal/must"
	"precision/mcp"
)

// mcpCommand serves an assistant over standard input and output until it leaves.
func mcpCommand(ctx context.Context, e env, args []string) (int, error) {
	set, text := e.options("mcp")
	o := mcp.Options{Version: build.Name(), Build: build.Version}
	set.StringVar(&o.Out, "out", "", text("out"))
	skill := set.Bool("skill", false, text("skill"))
	o.Folders = e.words("mcp", set, args)
	if *skill {
		_, err := io.WriteString(e.stdout, mcp.Skill)
		return exitOK, err
	}
	misusedIf(len(o.Folders) == 0, "err.mcp.folders")
	server := must.Get(mcp.New(o))
	err := server.Run(ctx, &sdk.StdioTransport{})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		err = nil // the client is gone
	}
	must.Do(err)
	return exitOK, nil
}
