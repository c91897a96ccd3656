package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// source is a clone of one commit.
type source struct {
	dir    string
	commit string
	time   time.Time // of the commit
}

// checkout clones the repository around the current folder and takes one commit of it.
// What lies about in the working folder is no part of a release.
func checkout(ctx context.Context, dir, commit string) source {
	root, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		check(fmt.Errorf("a release is built from a git repository: %w", err))
	}
	commit = must(git(ctx, ".", "rev-parse", "--verify", commit+"^{commit}"))
	must(git(ctx, ".", "clone", "--quiet", "--no-checkout", root, dir))
	must(git(ctx, dir, "checkout", "--quiet", "--detach", commit))
	when := must(time.Parse(time.RFC3339, must(git(ctx, dir, "show", "--no-patch", "--format=%cI", commit))))
	return source{dir, commit, when.UTC()}
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...))
}

// output runs a program and returns what it prints. What it says of an error is part of
// that.
func output(cmd *exec.Cmd) (string, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
