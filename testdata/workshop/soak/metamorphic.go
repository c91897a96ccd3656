package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"precision/internal/must"
	"slices"
	"strings"
)

// Run is the program within the test: its exit status and what it prints.
type Run func(args ...string) (code int, stdout, stderr string)

// Metamorphic writes the random network of a seed in several forms that say the
// same and sees that the same is found in each; where the sides are exchanged,
// that the metrics that know no side stay.
func Metamorphic(run Run, seed uint64, work string) (err error) {
	defer must.Catch(&err)
	r := NewRandom(seed)
	m := &meta{run: run, r: r, work: filepath.Join(work, fmt.Sprint("n", seed))}
	defer os.RemoveAll(m.work)
	first, err := m.form("first", Form{}, "npu", "golden", "ge_proto_1_Build.txt", "-workers", "1")
	must.Not(err != nil, "seed %d: %w", seed, err)
	must.Not(len(first.rows) < len(r.ops), "seed %d: %d rows of %d operators", seed, len(first.rows), len(r.ops))
	json := filepath.Join(m.work, "graph.json")
	if code, _, stderr := run("graph", filepath.Join(m.work, "first", "ge_proto_1_Build.txt"), "-json", json); code != 0 {
		return fmt.Errorf("seed %d: the graph as JSON: exit status %d, %s", seed, code, stderr)
	}
	for _, c := range []struct {
		name               string
		form               Form
		npu, golden, graph string
		args               []string
	}{
		{"more workers", Form{}, "npu", "golden", "ge_proto_1_Build.txt", []string{"-workers", "7"}},
		{"other folders", Form{}, "a b/设备", "x/標準", "graph of the net.txt", nil},
		{"other order of files", Form{Order: seedOf(seed)}, "npu", "golden", "ge_proto_1_Build.txt", nil},
		{"unrelated files", Form{Unrelated: true}, "npu", "golden", "ge_proto_1_Build.txt", nil},
		{"graph as JSON", Form{}, "npu", "golden", "", []string{"-g", json}},
		{"offline model", Form{}, "npu", "golden", "model.om", nil},
		{"sliced operators", Form{Slices: true}, "npu", "golden", "ge_proto_1_Build.txt", nil},
		{"big-endian arrays", Form{BigEndian: true}, "npu", "golden", "ge_proto_1_Build.txt", nil},
		{"layout NC1HWC0", Form{Layout: "NC1HWC0"}, "npu", "golden", "ge_proto_1_Build.txt", nil},
		{"layout FRACTAL_Z", Form{Layout: "FRACTAL_Z"}, "npu", "golden", "ge_proto_1_Build.txt", nil},
	} {
		other, err := m.form(strings.ReplaceAll(c.name, " ", "_"), c.form, c.npu, c.golden, c.graph, c.args...)
		if err == nil {
			err = first.same(other)
		}
		must.Not(err != nil, "seed %d, %s: %w", seed, c.name, err)
	}
	if err := m.mirrored(); err != nil {
		return fmt.Errorf("seed %d, sides exchanged: %w", seed, err)
	}
	return nil
}

type meta struct {
	run  Run
	r    *Random
	work string
}

// found is what a comparison found.
type found struct {
	code    int
	verdict string // the first line of the summary
	titles  []string
	rows    [][]string
}

func (m *meta) form(name string, f Form, npu, golden, graph string, args ...string) (*found, error) {
	dir := filepath.Join(m.work, name)
	npu, golden = filepath.Join(dir, npu), filepath.Join(dir, golden)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if graph != "" {
		graph = filepath.Join(dir, graph)
		args = append(args, "-g", graph)
	}
	if err := m.r.Write(f, npu, golden, graph); err != nil {
		return nil, err
	}
	return m.compare(filepath.Join(dir, "out"), npu, golden, args...)
}

func (m *meta) compare(out, left, right string, args ...string) (*found, error) {
	code, stdout, stderr := m.run(append([]string{"compare", "-lt", left, "-rt", right, "-out", out}, args...)...)
	tables, err := tables(out, false)
	if err != nil {
		return nil, err
	}
	if len(tables) != 1 {
		return nil, fmt.Errorf("%d tables, exit status %d, %s", len(tables), code, stderr)
	}
	line, _, _ := strings.Cut(stdout, "\n")
	return &found{code, line, tables[0][0], tables[0][1:]}, nil
}

func (f *found) same(o *found) error {
	if f.code != o.code || f.verdict != o.verdict {
		return fmt.Errorf("exit status %d, %q; expected %d, %q", o.code, o.verdict, f.code, f.verdict)
	}
	if len(f.rows) != len(o.rows) {
		return fmt.Errorf("%d rows, expected %d", len(o.rows), len(f.rows))
	}
	for i := range f.rows {
		if !slices.Equal(f.rows[i], o.rows[i]) {
			return fmt.Errorf("found row\n%q, expected\n%q", o.rows[i], f.rows[i])
		}
	}
	return nil
}

// even are the columns that do not know which side is which.
var even = []string{"CosineSimilarity", "MaxAbsoluteError", "MeanAbsoluteError", "RootMeanSquareError"}

// mirrored compares two recordings of devices in both directions.
func (m *meta) mirrored() (err error) {
	defer must.Catch(&err)
	a, b := filepath.Join(m.work, "a"), filepath.Join(m.work, "b")
	must.Do(m.r.Write(Form{}, a, "", ""))
	must.Do(m.r.Write(Form{Swapped: true}, b, "", ""))
	there := must.Get(m.compare(filepath.Join(m.work, "ab"), a, b))
	back := must.Get(m.compare(filepath.Join(m.work, "ba"), b, a))
	must.Not(len(there.rows) != len(back.rows) || len(there.rows) == 0, "%d rows there and %d back", len(there.rows), len(back.rows))
	at := columns(there.titles, even...)
	must.Not(len(at) < 3, "the columns are %q", there.titles)
	for i := range there.rows {
		for _, c := range at {
			if there.rows[i][c] != back.rows[i][c] {
				return fmt.Errorf("%s is %s there and %s back in %q", there.titles[c], there.rows[i][c], back.rows[i][c], there.rows[i])
			}
		}
	}
	return nil
}
