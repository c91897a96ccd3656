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
func checkout(ctx context.Context, dir, commit string) (source, error) {
	s := source{dir: dir}
	root, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return s, fmt.Errorf("a release is built from a git repository: %w", err)
	}
	if s.commit, err = git(ctx, ".", "rev-parse", "--verify", commit+"^{commit}"); err != nil {
		return s, err
	}
	if _, err := git(ctx, ".", "clone", "--quiet", "--no-checkout", root, dir); err != nil {
		return s, err
	}
	if _, err := git(ctx, dir, "checkout", "--quiet", "--detach", s.commit); err != nil {
		return s, err
	}
	when, err := git(ctx, dir, "show", "--no-patch", "--format=%cI", s.commit)
	if err != nil {
		return s, err
	}
	s.time, err = time.Parse(time.RFC3339, when)
	s.time = s.time.UTC()
	return s, err
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
