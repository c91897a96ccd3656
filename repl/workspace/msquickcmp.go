package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"precision/internal/must"
	"precision/internal/plainfile"
	"precision/internal/whole"
)

// Imported is what an output folder of msquickcmp holds.
type Imported struct {
	Dumps   []string // dump_data folders
	Models  []string // graph files
	Results []string // result tables
}

// Survey looks through an output folder. Folders of dumps are not entered.
func Survey(from string) (*Imported, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	i := &Imported{}
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "dump_data":
			i.Dumps = append(i.Dumps, p)
			return fs.SkipDir
		case d.IsDir():
		case filepath.Base(filepath.Dir(p)) == "model" && strings.HasSuffix(p, ".json"):
			i.Models = append(i.Models, p)
		case resultNumber(d.Name()) != "":
			i.Results = append(i.Results, p)
		}
		return nil
	})
	return i, err
}

// Into makes the data folder. leftOut are folders of golden arrays for which there
// is no place, golden is the one that was taken.
func (i *Imported) Into(w *Workspace) (golden string, leftOut []string, err error) {
	defer must.Catch(&err)
	for k, d := range i.Dumps {
		id := fmt.Sprint("debug_", k)
		for _, e := range Entries(filepath.Join(d, "npu")) {
			if strings.Trim(e.Name(), "0123456789") == "" {
				link(filepath.Join(d, "npu", e.Name()), w.Path("npu", id, "dump", e.Name()))
			}
		}
		for _, m := range i.Models {
			copyFile(m, w.Path("npu", id, "graph", filepath.Base(m)))
		}
		for _, kind := range []string{"tf", "onnx"} {
			switch dir := filepath.Join(d, kind); {
			case !plainfile.IsFolder(dir):
			case golden == "":
				golden = dir
				link(dir, w.GoldenDir())
			default:
				leftOut = append(leftOut, dir)
			}
		}
	}
	for k, r := range i.Results {
		name := filepath.Base(r)
		if k > 0 { // shapes can have tables of the same name
			name = strings.TrimSuffix(name, ".csv") + fmt.Sprintf("_%d.csv", k)
		}
		copyFile(r, filepath.Join(w.ResultsDir(), "0", name))
	}
	return golden, leftOut, nil
}

func link(from, to string) {
	must.Do(os.MkdirAll(filepath.Dir(to), 0o700))
	must.Do(os.Symlink(from, to))
}

func copyFile(from, to string) {
	in, _, err := plainfile.Open(from, "a file to copy")
	must.Do(err)
	defer in.Close()
	out := must.Get(whole.Create(to, 0o600))
	defer out.Discard()
	must.Get(io.Copy(out, in))
	must.Do(out.Commit())
}
