package repl

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/whole"
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
	if !isDir(from) {
		s.Fail("import.nodir", from)
		return exitError
	}
	if _, err := os.Lstat(s.data.root); err == nil {
		s.Fail("import.exists", s.data.root)
		return exitError
	}
	i, err := survey(from)
	if err != nil {
		s.Fail("error", err)
		return exitError
	}
	if len(i.dumps) == 0 && len(i.results) == 0 {
		s.Fail("import.nothing", from)
		return exitNothing
	}
	if err := i.run(s); err != nil {
		s.Fail("error", err)
		return exitError
	}
	s.Say("import.done", from, s.data.root, len(i.dumps), len(i.models), len(i.results))
	return exitOK
}

// imported is what an output folder of msquickcmp holds.
type imported struct {
	dumps   []string // dump_data folders
	models  []string // graph files
	results []string // result tables
}

// survey looks through an output folder. Folders of dumps are not entered.
func survey(from string) (*imported, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	i := &imported{}
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "dump_data":
			i.dumps = append(i.dumps, p)
			return fs.SkipDir
		case d.IsDir():
		case filepath.Base(filepath.Dir(p)) == "model" && strings.HasSuffix(p, ".json"):
			i.models = append(i.models, p)
		case resultNumber(d.Name()) != "":
			i.results = append(i.results, p)
		}
		return nil
	})
	return i, err
}

func (i *imported) run(s *session) error {
	golden := ""
	for k, d := range i.dumps {
		id := fmt.Sprint("debug_", k)
		for _, e := range entries(filepath.Join(d, "npu")) {
			if strings.Trim(e.Name(), "0123456789") == "" {
				if err := link(filepath.Join(d, "npu", e.Name()), s.data.path("npu", id, "dump", e.Name())); err != nil {
					return err
				}
			}
		}
		for _, m := range i.models {
			if err := copyFile(m, s.data.path("npu", id, "graph", filepath.Base(m))); err != nil {
				return err
			}
		}
		for _, kind := range []string{"tf", "onnx"} {
			switch dir := filepath.Join(d, kind); {
			case !isDir(dir):
			case golden == "":
				golden = dir
				if err := link(dir, s.data.golden()); err != nil {
					return err
				}
			default:
				s.Warn("import.golden", dir, golden)
			}
		}
	}
	for k, r := range i.results {
		name := filepath.Base(r)
		if k > 0 { // shapes can have tables of the same name
			name = strings.TrimSuffix(name, ".csv") + fmt.Sprintf("_%d.csv", k)
		}
		if err := copyFile(r, filepath.Join(s.data.results(), "0", name)); err != nil {
			return err
		}
	}
	return nil
}

func link(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Symlink(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := whole.Create(to, 0o600)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Commit()
}
