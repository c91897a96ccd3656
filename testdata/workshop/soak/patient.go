package soak

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precision/dump"
	"precision/internal/must"
	"precision/op"
)

// patient is a copy of a specimen that is damaged.
type patient struct {
	s    *specimen
	j    *judgement
	dir  string
	rng  *rand.Rand
	h    *Harm
	left bool // only the left side counts
}

// file is a file of a recording with a tensor, or the tensors of an operator.
type file struct {
	path    string // from the folder of the trial
	words   []string
	tensors int
	output  bool // of the network
	array   bool // .npy or .pt
	given   bool // a dump of an input of the network, or of a weight, which who takes it recorded, too
	// recorded is the path of a dump but for its time.
	recorded string
}

// loss is what a damage does to what it hits.
type loss int

const (
	changed loss = iota // other values, which nothing but values tells
	damaged
	missing
	misfit  // a graph, a baseline or a table that is not what it should be
	told    // the same in other words, as another name or type of floating point, which nothing but a line about it can show
	nothing // what is written in another way and says the same
)

// harm is what was done to a specimen.
type harm struct {
	what string
	how  loss
	// names are what is to be named, each by one of its words.
	names   [][]string
	tensors int
	// output: one of the network's outputs is hit. partner: a rank or step has no partner.
	output, partner bool
	// unseen: nothing in what is left can show it.
	unseen bool
	// closed: no gate may let it pass, however little it is.
	closed string
}

// beyond says why a damage is more than the plain gate may let pass; "" if it may.
func (d *harm) beyond(s *specimen) string {
	switch {
	case d.closed != "":
		return d.closed
	case d.how == damaged && d.output:
		return "an output of the network is damaged"
	case d.how == damaged && d.tensors*100 > max(1, s.tensors):
		return fmt.Sprintf("%d of %d tensors are damaged", d.tensors, s.tensors)
	case d.partner:
		return "a rank or step has no partner"
	case d.how == missing && d.tensors*2 > s.tensors:
		return fmt.Sprintf("%d of %d tensors are missing", d.tensors, s.tensors)
	}
	return ""
}

// side is one of the two that is damaged.
func (p *patient) side() int {
	if p.left {
		return 0
	}
	return p.rng.IntN(2)
}

var sideNames = [2]string{"left", "right"}

// files are the files of a side with tensors that are expected.
func (p *patient) files(side int) (list []*file) {
	top := filepath.Join(p.dir, filepath.FromSlash(p.s.sides[side]))
	same, newest := map[string]int{}, map[string]string{}
	var keys []string
	filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		base, ext := e.Name(), filepath.Ext(e.Name())
		f := &file{array: ext == ".npy" || ext == ".pt"}
		f.path, _ = filepath.Rel(p.dir, path)
		f.path = filepath.ToSlash(f.path)
		key := ""
		switch {
		case slices.Contains([]string{".json", ".csv", ".md", ".txt", ".py", ".log"}, ext) || strings.HasPrefix(base, "."):
			return nil
		case f.array && p.s.form == calls:
			key = strings.TrimSuffix(base, ext)
			call, place, _ := cutPlace(key)
			f.words = []string{base, key, call, call + ":" + strings.ReplaceAll(place, ".", ":")}
			rel, _ := filepath.Rel(top, filepath.Dir(filepath.Dir(path)))
			if long := flat(filepath.ToSlash(rel) + "/" + key); p.s.known[sideNames[side]+" "+long] > 0 {
				key = long
			}
		case f.array:
			key, _, _ = strings.Cut(base, ".")
			f.words = []string{base, key}
		default:
			name := dump.ParseName(base)
			key = name.OpName
			f.words = []string{base, key}
			f.given = op.Is(name.OpType, op.Feed|op.Constant)
			// Of several recordings of an operator the newest is judged.
			if again := strings.TrimSuffix(path, ext); len(ext) > 13 {
				newest[again] = max(newest[again], ext)
				f.recorded = again
			}
		}
		if p.s.form == jobs { // what one of the ranks has otherwise may be told of the rank
			parts := strings.Split(strings.TrimPrefix(f.path, p.s.sides[side]+"/"), "/")
			f.words = append(f.words, "rank "+strings.TrimPrefix(parts[min(1-side, len(parts)-1)], "rank"))
		}
		if p.j.left && p.j.whole != nil && len(p.j.whole.judged) > 0 && !judges(p.j.whole.judged, key) {
			return nil // check could say nothing of it
		}
		key = sideNames[side] + " " + flat(key)
		if f.tensors = p.s.known[key]; f.tensors == 0 {
			if !p.s.whole {
				return nil
			}
			f.tensors = 1
		}
		for _, o := range p.s.outputs {
			f.output = f.output || strings.HasSuffix(key, " "+flat(o))
		}
		same[key]++
		keys = append(keys, key)
		list = append(list, f)
		return nil
	})
	for i := len(list) - 1; i >= 0; i-- {
		if f := list[i]; f.recorded != "" && filepath.Ext(f.path) < newest[f.recorded] {
			same[keys[i]]--
			list, keys = slices.Delete(list, i, i+1), slices.Delete(keys, i, i+1)
		}
	}
	for i, f := range list { // an operator of several ranks has a file for each
		f.tensors = max(1, f.tensors/same[keys[i]])
	}
	return list
}

func judges(judged map[string]bool, key string) bool {
	for op := range judged {
		if flat(op) == flat(key) || strings.HasPrefix(key, op+".") {
			return true
		}
	}
	return false
}

// cutPlace cuts the name of a tensor of a recording: its call and its place in it.
func cutPlace(name string) (call, place string, ok bool) {
	for _, word := range []string{".input.", ".output.", ".kwargs.", ".input", ".output"} {
		if i := strings.LastIndex(name, word); i > 0 {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

func (p *patient) read(path string) []byte {
	return must.Get(os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(path))))
}

// sought reads a file that may not be there.
func (p *patient) sought(path string) ([]byte, bool) {
	t, err := must.Of(func() []byte { return p.read(path) })
	return t, err == nil
}

// write replaces a file; what others have of it stays.
func (p *patient) write(path string, content []byte) {
	at := filepath.Join(p.dir, filepath.FromSlash(path))
	must.Do(os.Remove(at))
	must.Do(os.WriteFile(at, content, 0o600))
}

func (p *patient) remove(path string) {
	must.Do(os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(path))))
}

// some picks n of the files of a side.
func (p *patient) some(side, n int) []*file { return p.pick(p.files(side), n) }

func (p *patient) pick(list []*file, n int) []*file {
	if n > len(list) {
		return nil
	}
	p.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}

// harmed is the harm of damage to files.
func harmed(how loss, list []*file, format string, args ...any) *harm {
	d := &harm{how: how, what: fmt.Sprintf(format, args...)}
	for _, f := range list {
		d.names = append(d.names, f.words)
		d.tensors += f.tensors
		d.output = d.output || f.output
	}
	if len(list) == 1 {
		d.what += " of " + list[0].path
	}
	return d
}

// process is the folder of a rank at a step of one side.
type process struct {
	path, step, rank string
}

// processes are those of a side of a recording that has several.
func (p *patient) processes(side int) (list []process) {
	top := filepath.Join(p.dir, filepath.FromSlash(p.s.sides[side]))
	pattern := filepath.Join(top, "step*", "*")
	if p.s.form == jobs {
		if pattern = filepath.Join(top, "rank*", "step*"); side == 0 {
			pattern = filepath.Join(top, "*", "*", "*", "*", "*")
		}
	}
	found, _ := filepath.Glob(pattern)
	for _, path := range found {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		rel, _ := filepath.Rel(p.dir, path)
		rel = filepath.ToSlash(rel)
		words := strings.Split(rel, "/")
		x := process{path: rel, step: words[len(words)-2], rank: words[len(words)-1]}
		if p.s.form == jobs {
			if x.step, x.rank = x.rank, x.step; side == 0 { // npu/TIME/RANK/MODEL/ID/STEP
				x.step, x.rank = "step"+words[len(words)-1], "rank"+words[len(words)-4]
			}
		}
		list = append(list, x)
	}
	return list
}
