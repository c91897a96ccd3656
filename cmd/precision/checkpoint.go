package main

import (
	"os"

	"precision/dump/checkpoint"
	"precision/repl/explain"
)

// noRun tells of the first of some paths that is a checkpoint, which holds weights and no run.
func noRun(paths ...string) error {
	for _, path := range paths {
		if kind, file := checkpoint.Of(path); kind != "" {
			return explain.Say("err.checkpoint", file, kind)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
