package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// target is a fuzz target of a package, and the test program it is in.
type target struct{ folder, name, program string }

var isTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// find lists the fuzz targets below the current folder whose folder/name match.
func find(match *regexp.Regexp) ([]*target, error) {
	var list []*target
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range isTarget.FindAllSubmatch(text, -1) {
			t := &target{folder: filepath.ToSlash(filepath.Dir(path)), name: string(m[1])}
			if match.MatchString(t.folder + "/" + t.name) {
				list = append(list, t)
			}
		}
		return err
	})
	if err == nil && len(list) == 0 {
		err = errors.New("there are no such fuzz targets below the current folder")
	}
	return list, err
}

// build makes the test programs of the targets, with what fuzzing needs to see
// which way an input took.
func build(ctx context.Context, targets []*target, work string) error {
	made := map[string]string{}
	for _, t := range targets {
		if made[t.folder] == "" {
			program := filepath.Join(work, strings.ReplaceAll(t.folder, "/", "-")+".test")
			cmd := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", program, "./"+t.folder)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
			}
			made[t.folder] = program
		}
		t.program = made[t.folder]
	}
	return nil
}
