package repl

import (
	"os"

	"precision/internal/plainfile"
	"precision/repl/workspace"
)

// Import makes the data folder of cfg from the output folder of msquickcmp, the
// one-click comparison of inference models:
//
//	dump_data/npu/<time>/…        linked as runs of npu/debug_0/dump
//	dump_data/tf, dump_data/onnx  linked as tf/dump
//	model/*.json                  copied to npu/debug_0/graph
//	result_<time>.csv             copied to temp/vector_compare/0
//
// With dynamic shapes there is one dump_data for each shape: they become
// debug_0, debug_1 and so on. It returns an exit status, and refuses a data
// folder that is there already.
func Import(cfg Config, from string) int {
	s := open(cfg)
	if !plainfile.IsFolder(from) {
		return s.Fail("import.nodir", from)
	}
	if _, err := os.Lstat(s.data.Root); err == nil {
		return s.Fail("import.exists", s.data.Root)
	}
	i, err := workspace.Survey(from)
	if err != nil {
		return s.Fail("error", err)
	}
	if len(i.Dumps) == 0 && len(i.Results) == 0 {
		return s.Lack("import.nothing", from)
	}
	golden, leftOut, err := i.Into(s.data)
	for _, dir := range leftOut {
		s.Warn("import.golden", dir, golden)
	}
	if err != nil {
		return s.Fail("error", err)
	}
	s.Say("import.done", from, s.data.Root, len(i.Dumps), len(i.Models), len(i.Results))
	return exitOK
}
