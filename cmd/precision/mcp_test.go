package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program is a server as clients start one: over its standard input and output.
func TestMCP(t *testing.T) {
	server := exec.Command(os.Args[0], "mcp", sample)
	server.Env = append(os.Environ(), asProgram+"=1")
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "compare", Arguments: map[string]any{"left": "npu", "right": "golden"}})
	if err != nil || res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, `"operator":"block2/conv"`) {
		t.Errorf("%v %+v", err, res)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the server did not end as it should: %v", err)
	}
}

func TestMCPWords(t *testing.T) {
	for _, c := range []struct {
		words []string
		code  int
		want  string
	}{
		{[]string{"-skill"}, exitOK, "name: precision"},
		{nil, exitUsage, "precision mcp DIR..."},
		{[]string{filepath.Join(t.TempDir(), "none")}, exitError, "none"},
		{[]string{"-nothing"}, exitUsage, "nothing"},
		{[]string{"-h"}, exitOK, "-out"},
	} {
		if code, stdout, stderr := precision(t, append([]string{"mcp"}, c.words...)...); code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%q: exit %d: %s%s", c.words, code, stdout, stderr)
		}
	}
}
