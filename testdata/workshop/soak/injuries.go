package soak

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"precision/graph/read"
	"precision/internal/must"
)

// injury is a kind of damage.
type injury struct {
	name  string
	forms []form
	// do damages a copy; nil if there is nothing that it could damage.
	do func(p *patient) *harm
	// unfit tells of what it has nothing to do with.
	unfit func(s *specimen, j *judgement) bool
}

// onFiles are the forms whose tensors are files.
var onFiles = []form{dumps, calls, jobs, baseline}

// onlyLeft is for damage to the side that check does not read.
func onlyLeft(_ *specimen, j *judgement) bool { return j.left }

func graphless(s *specimen, j *judgement) bool { return s.graph == "" }

// injuries are all kinds of damage.
var injuries = []injury{
	{name: "a file cut", forms: onFiles, do: func(p *patient) *harm { return p.each(damaged, 1, 0, cutBytes(p)) }},
	{name: "a tenth of the files cut", forms: onFiles, do: func(p *patient) *harm { return p.each(damaged, 0, 0.1, cutBytes(p)) }},
	{name: "half of the files cut", forms: onFiles, do: func(p *patient) *harm { return p.each(damaged, 0, 0.5, cutBytes(p)) }},
	{name: "all files of a side cut", forms: onFiles, do: func(p *patient) *harm { return p.each(damaged, 0, 1, cutBytes(p)) }},
	{name: "a file empty", forms: onFiles, do: func(p *patient) *harm {
		return p.each(damaged, 1, 0, bytesTo{"emptied", func([]byte) []byte { return []byte{} }})
	}},
	{name: "all files of a side empty", forms: onFiles, do: func(p *patient) *harm {
		return p.each(damaged, 0, 1, bytesTo{"emptied", func([]byte) []byte { return []byte{} }})
	}},
	{name: "bytes of a file swapped", forms: onFiles, do: func(p *patient) *harm { return p.each(damaged, 1, 0, bytesTo{"bytes swapped", swab}) }},
	{name: "bytes of values swapped", forms: onFiles, do: func(p *patient) *harm {
		return p.each(changed, 1, 0, bytesTo{"values swapped", payload(func(v []byte) { copy(v, swab(v)) })})
	}},
	{name: "values of a file zero", forms: onFiles, do: func(p *patient) *harm {
		return p.each(changed, 1, 0, bytesTo{"values zero", payload(func(v []byte) { clear(v) })})
	}},
	{name: "a hole in the values of a file", forms: onFiles, do: func(p *patient) *harm {
		return p.each(changed, 1, 0, bytesTo{"middle third zero", payload(func(v []byte) { clear(v[len(v)/3/8*8 : len(v)*2/3/8*8]) })})
	}},
	{name: "all values of both sides zero", forms: []form{dumps, jobs}, unfit: onlyLeft, do: func(p *patient) *harm { return p.both("zero", 0) }},
	{name: "all values of both sides NaN", forms: []form{dumps, jobs}, unfit: onlyLeft, do: func(p *patient) *harm { return p.both("NaN", 0xff) }},
	{name: "two files exchanged", forms: onFiles, do: exchange},
	{name: "a dump deleted", forms: onFiles, do: func(p *patient) *harm { return p.delete(0, 1, 0) }},
	{name: "a tenth of the dumps deleted", forms: onFiles, do: func(p *patient) *harm { return p.delete(0, 0, 0.1) }},
	{name: "three quarters of the dumps deleted", forms: onFiles, do: func(p *patient) *harm { return p.delete(0, 0, 0.75) }},
	{name: "all dumps deleted", forms: onFiles, do: func(p *patient) *harm { return p.delete(0, 0, 1) }},
	{name: "a golden file deleted", forms: onFiles, unfit: onlyLeft, do: func(p *patient) *harm { return p.delete(1, 1, 0) }},
	{name: "three quarters of the golden files deleted", forms: onFiles, unfit: onlyLeft, do: func(p *patient) *harm { return p.delete(1, 0, 0.75) }},
	{name: "outputs of the network cut", forms: []form{dumps, jobs, baseline}, do: func(p *patient) *harm { return outputsOf(p, damaged) }},
	{name: "outputs of the network deleted", forms: []form{dumps, jobs, baseline}, do: func(p *patient) *harm { return outputsOf(p, missing) }},
	{name: "a process deleted", forms: []form{calls, jobs}, do: func(p *patient) *harm { return processes(p, func(process) string { return "process" }) }},
	{name: "a rank deleted", forms: []form{calls, jobs}, do: func(p *patient) *harm { return processes(p, func(x process) string { return x.rank }) }},
	{name: "a step deleted", forms: []form{calls, jobs}, do: func(p *patient) *harm { return processes(p, func(x process) string { return x.step }) }},
	{name: "two ranks exchanged", forms: []form{calls, jobs}, unfit: onlyLeft, do: exchangeRanks},
	{name: "a rank's recording twice", forms: []form{calls, jobs}, unfit: onlyLeft, do: repeatRank},
	{name: "a file of another process", forms: []form{calls, jobs}, unfit: onlyLeft, do: ofAnother},
	{name: "dump.json cut", forms: []form{calls}, do: func(p *patient) *harm { return cutCalls(p, cutBytes(p)) }},
	{name: "a block of dump.json lost", forms: []form{calls}, do: func(p *patient) *harm { return cutCalls(p, lostBlock(p)) }},
	{name: "construct.json or stack.json cut", forms: []form{calls}, do: besides},
	{name: "members of dump.json in another order", forms: []form{calls}, do: reordered},
	{name: "a call twice", forms: []form{calls}, unfit: onlyLeft, do: repeated},
	{name: "files in dump.json exchanged", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return crossed(p, changed, "data_name") }},
	{name: "shapes in dump.json exchanged", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return crossed(p, changed, "shape") }},
	{name: "all outputs of dump.json removed", forms: []form{calls}, do: func(p *patient) *harm { return removeOutputs(p, 1) }},
	{name: "some outputs of dump.json removed", forms: []form{calls}, do: func(p *patient) *harm { return removeOutputs(p, 0.3) }},
	{name: "calls of dump.json removed", forms: []form{calls}, do: removeCalls},
	{name: "statistics of a tensor", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return statistics(p, "one") }},
	{name: "statistics of a side", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return statistics(p, "side") }},
	{name: "statistics of both sides", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return statistics(p, "both") }},
	{name: "a statistic twice", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		return inTensor(p, damaged, "Max", func(number string) string { return "-77.5, \"Max\": " + number })
	}},
	{name: "digits of a statistic lost", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		return inTensor(p, changed, extremes[p.rng.IntN(2)], lostDigits)
	}},
	{name: "sign or exponent of a statistic lost", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		return inTensor(p, changed, extremes[p.rng.IntN(2)], lostSign)
	}},
	{name: "a digit of a statistic", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		return inTensor(p, changed, extremes[p.rng.IntN(2)], otherDigit)
	}},
	{name: "the type of a tensor", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		by := []string{`"torch.float99"`, `"torch.int8"`, `"torch.bool"`}[p.rng.IntN(3)]
		return inTensor(p, damaged, "dtype", func(string) string { return by })
	}},
	{name: "another type of floating point", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm {
		by := []string{"torch.bfloat16", "torch.float16", "torch.float64"}[p.rng.IntN(3)]
		d := inTensor(p, changed, "dtype", func(string) string { return strconv.Quote(by) })
		if d != nil {
			d.names[0] = append(d.names[0], by) // that types differ is told of the first
			if by == "torch.float64" {
				d.how = told // every number is one of that type
			}
		}
		return d
	}},
	{name: "a letter of a call", forms: []form{calls}, unfit: func(s *specimen, j *judgement) bool {
		return j.left || j.name == "compare -all" // whose tables name calls that were paired by their order
	}, do: otherLetter},
	{name: "checksums of a side", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return checksums(p, 1) }},
	{name: "checksums of both sides", forms: []form{calls}, unfit: onlyLeft, do: func(p *patient) *harm { return checksums(p, 2) }},
	{name: "the graph cut", forms: []form{dumps, jobs}, unfit: graphless, do: func(p *patient) *harm { return p.one(p.s.graph, cutBytes(p)) }},
	{name: "the graph empty", forms: []form{dumps, jobs}, unfit: graphless, do: func(p *patient) *harm {
		return p.one(p.s.graph, bytesTo{"emptied", func([]byte) []byte { return []byte{} }})
	}},
	{name: "a block of the graph lost", forms: []form{dumps, jobs}, unfit: graphless, do: func(p *patient) *harm {
		d := p.one(p.s.graph, lostBlock(p))
		if d == nil {
			return d
		}
		t := p.read(p.s.graph)
		if _, err := read.Read(context.Background(), bytes.NewReader(t), p.s.graph); err == nil {
			return nil // it can be read: a digit of an attribute is gone, say, which nothing shows
		}
		return d
	}},
	{name: "an operator of the graph lost", forms: []form{dumps, jobs}, unfit: graphless, do: operatorLost},
	{name: "the graph of another network", forms: []form{dumps, jobs}, unfit: graphless, do: otherGraph},
	{name: "the table cut", forms: []form{saved}, do: cutTable},
	{name: "the table empty", forms: []form{saved}, do: func(p *patient) *harm {
		return p.one(p.table(), bytesTo{"emptied", func([]byte) []byte { return []byte{} }})
	}},
	{name: "a block of the table lost", forms: []form{saved}, do: func(p *patient) *harm { return tableLost(p, p.table()) }},
	{name: "the baseline cut", forms: []form{baseline}, do: func(p *patient) *harm { return p.one(p.s.saved, cutBytes(p)) }},
	{name: "a block of the baseline lost", forms: []form{baseline}, do: func(p *patient) *harm { return tableLost(p, p.s.saved) }},
	{name: "the baseline of another network", forms: []form{baseline}, do: otherBaseline},
	{name: "a baseline that compared nothing", forms: []form{baseline}, do: func(p *patient) *harm { return damagedBaseline(p, "all") }},
	{name: "a baseline without what is bad", forms: []form{baseline}, do: func(p *patient) *harm { return damagedBaseline(p, "bad") }},
	{name: "a log cut", forms: []form{logs}, do: func(p *patient) *harm { return p.logged(cutBytes(p)) }},
	{name: "a log empty", forms: []form{logs}, do: func(p *patient) *harm {
		return p.logged(bytesTo{"emptied", func([]byte) []byte { return []byte{} }})
	}},
	{name: "the second half of a log lost", forms: []form{logs}, do: func(p *patient) *harm {
		return p.logged(bytesTo{"second half of the lines lost", func(t []byte) []byte {
			lines := bytes.SplitAfter(t, []byte("\n"))
			return bytes.Join(lines[:len(lines)/2], nil)
		}})
	}},
	{name: "a value of a log", forms: []form{logs}, do: func(p *patient) *harm { return p.logged(pointLost(p)) }},
	{name: "files in another order", forms: []form{dumps, calls, jobs, saved, baseline}, do: rewritten},
	{name: "the second half of a log multiplied", forms: []form{logs}, do: func(p *patient) *harm {
		return p.logged(bytesTo{"second half multiplied", func(t []byte) []byte {
			half := len(t) / 2
			return append(slices.Clone(t[:half]), bytes.ReplaceAll(t[half:], []byte("loss "), []byte("loss 7"))...)
		}})
	}},
}

// bytesTo is a damage to the bytes of a file; the same bytes, or nil, mean that it has none.
type bytesTo struct {
	what string
	do   func([]byte) []byte
}

// cutBytes cuts files at one share of their length, or by a byte.
func cutBytes(p *patient) bytesTo {
	share := []float64{0.01, 0.25, 0.5, 0.55, 0.75, 0.9, 0.99, 1}[p.rng.IntN(8)]
	if share == 1 {
		return bytesTo{"cut by a byte", func(t []byte) []byte { return t[:max(0, len(t)-1)] }}
	}
	return bytesTo{fmt.Sprintf("cut to %g %%", math.Round(share*100)), func(t []byte) []byte { return t[:int(float64(len(t))*share)] }}
}

// tableLost takes a piece out of a saved table. What a table says beside its rows is for people: nothing is judged by it.
func tableLost(p *patient, path string) *harm {
	rows := func(t []byte) string {
		top, err := parse(t)
		if err != nil || top.get("table") == nil {
			return ""
		}
		n := top.get("table")
		return string(t[n.from:n.to])
	}
	was := p.read(path)
	b := lostBlock(p)
	if now := rows(b.do(was)); now != "" && now == rows(was) {
		return nil
	}
	d := p.one(path, b)
	if d != nil && p.j.csv { // that whole lines and digits of numbers are missing no csv shows
		now := p.read(path)
		rows := map[string]int{}
		for line := range bytes.Lines(was) {
			rows[rowIndex(line)]++
		}
		lines := map[string]bool{}
		for line := range bytes.Lines(was) {
			lines[bare(line, rows)] = true
		}
		d.unseen = true
		for line := range bytes.Lines(now) {
			d.unseen = d.unseen && lines[bare(line, rows)]
		}
		if d.unseen {
			d.closed = ""
		}
	}
	return d
}

func rowIndex(line []byte) string {
	index, _, _ := bytes.Cut(line, []byte(","))
	return string(index)
}

// bare is a line of a csv without what no other cell shows to be damaged: digits, how many dims a shape has, and of an
// operator with a row alone its type and the golden operator.
func bare(line []byte, rows map[string]int) string {
	line = dims.ReplaceAll(line, []byte("[]"))
	if cells := bytes.Split(line, []byte(",")); len(cells) > 6 && rows[rowIndex(line)] == 1 {
		cells[1], cells[5] = nil, nil
		line = bytes.Join(cells, []byte(","))
	}
	return string(digits.ReplaceAll(line, nil))
}

var digits, dims = regexp.MustCompile(`[0-9.;]`), regexp.MustCompile(`\[[0-9,]*\]`)

// lostBlock takes a piece out of the middle of a file.
func lostBlock(p *patient) bytesTo {
	from, share := p.rng.Float64(), []float64{0.001, 0.01, 0.1, 0.4}[p.rng.IntN(4)]
	return bytesTo{fmt.Sprintf("without %g %% of it", share*100), func(t []byte) []byte {
		n := max(1, int(share*float64(len(t))))
		if n >= len(t) {
			return t
		}
		at := int(from * float64(len(t)-n))
		return slices.Concat(t[:at], t[at+n:])
	}}
}

// pointLost takes the point out of a number.
func pointLost(p *patient) bytesTo {
	at := p.rng.Float64()
	return bytesTo{"without the point of a number", func(t []byte) []byte {
		from := int(at * float64(len(t)))
		i := bytes.IndexByte(t[from:], '.')
		if i < 0 || from+i+1 >= len(t) || t[from+i+1] < '0' || t[from+i+1] > '9' {
			return t
		}
		return slices.Concat(t[:from+i], t[from+i+1:])
	}}
}

// rewritten writes all files again, in another order and at other times.
func rewritten(p *patient) *harm {
	var list []string
	must.Do(filepath.WalkDir(filepath.Join(p.dir, "in"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			path, err = filepath.Rel(p.dir, path)
			list = append(list, path)
		}
		return err
	}))
	p.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, path := range list {
		p.write(path, p.read(path))
		at := time.Unix(1e9+p.rng.Int64N(1e9), 0)
		must.Do(os.Chtimes(filepath.Join(p.dir, path), at, at))
	}
	return &harm{how: nothing, what: fmt.Sprintf("%d files written in another order", len(list))}
}

// operatorLost takes an operator out of a graph in text.
func operatorLost(p *patient) *harm {
	t := p.read(p.s.graph)
	if filepath.Ext(p.s.graph) != ".txt" {
		return nil
	}
	blocks := operatorBlock.FindAllSubmatchIndex(t, -1)
	if len(blocks) < 2 {
		return nil
	}
	b := blocks[p.rng.IntN(len(blocks))]
	name := string(t[b[2]:b[3]])
	if bytes.Contains(t[b[0]:b[1]], []byte("type: \"NetOutput\"")) {
		return nil // what it takes leaves the network all the same
	}
	d := &harm{how: misfit, what: "the graph without " + name, names: [][]string{{name, filepath.Base(p.s.graph)}}}
	p.write(p.s.graph, slices.Concat(t[:b[0]], t[b[1]:]))
	return d
}

var operatorBlock = regexp.MustCompile(`(?m)^  op \{\n    name: "([^"]*)"\n(?:    .*\n)*  \}\n`)

// swab exchanges each two bytes, as a machine of the other byte order has them.
func swab(t []byte) []byte {
	out := slices.Clone(t)
	for i := 0; i+1 < len(out); i += 2 {
		out[i], out[i+1] = out[i+1], out[i]
	}
	return out
}

// payload changes the values of an array or a dump and leaves their header.
func payload(do func([]byte)) func([]byte) []byte {
	return func(t []byte) []byte {
		out := slices.Clone(t)
		at := -1
		switch {
		case len(t) > 12 && string(t[:6]) == "\x93NUMPY" && t[6] == 1:
			at = 10 + int(binary.LittleEndian.Uint16(t[8:]))
		case len(t) > 12 && string(t[:2]) != "PK" && string(t[:6]) != "\x93NUMPY":
			if n := binary.LittleEndian.Uint64(t); n < uint64(len(t)) {
				at = 8 + int(n)
			}
		}
		if at < 0 || at >= len(out) {
			return t
		}
		do(out[at:])
		return out
	}
}

// each damages n files of a side, or a share of them.
func (p *patient) each(how loss, n int, share float64, b bytesTo) *harm {
	side := p.side()
	if n == 0 {
		n = max(2, int(share*float64(len(p.files(side)))))
	}
	var hit []*file
	for _, f := range p.some(side, n) {
		t := p.read(f.path)
		if out := b.do(t); !bytes.Equal(out, t) {
			p.write(f.path, out)
			hit = append(hit, f)
		}
	}
	if len(hit) == 0 {
		return nil
	}
	return harmed(how, hit, "%d files of the %s side: %s", len(hit), sideNames[side], b.what)
}

// both fills the values of all files of both sides, also of those that no table names, as slices.
func (p *patient) both(what string, by byte) *harm {
	d := &harm{how: damaged, what: "all values of both sides are " + what, closed: "nothing is left that could differ"}
	fill := payload(func(v []byte) {
		for i := range v {
			v[i] = by
		}
	})
	for side := range 2 {
		must.Do(filepath.WalkDir(filepath.Join(p.dir, filepath.FromSlash(p.s.sides[side])), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			rel := must.Get(filepath.Rel(p.dir, path))
			t := p.read(rel)
			if out := fill(t); !bytes.Equal(out, t) {
				d.tensors++
				p.write(rel, out)
			}
			return nil
		}))
	}
	if d.tensors == 0 {
		return nil
	}
	return d
}

// exchange gives two files each other's content.
func exchange(p *patient) *harm {
	side := p.side()
	two := p.some(side, 2)
	if two == nil || filepath.Ext(two[0].path) != filepath.Ext(two[1].path) && two[0].array {
		return nil
	}
	a := p.read(two[0].path)
	b := p.read(two[1].path)
	if bytes.Equal(a, b) || two[0].array && (bytes.Equal(a[min(128, len(a)):], b[min(128, len(b)):]) || sums(a) != "" && sums(a) == sums(b)) {
		return nil
	}
	p.write(two[0].path, b)
	p.write(two[1].path, a)
	d := harmed(changed, two, "%s and %s exchanged", two[0].path, two[1].path)
	d.names = [][]string{slices.Concat(two[0].words, two[1].words)} // one of them tells
	return d
}

// sums are the checksums of what is in a zip file, whose entries stand below its own name; "" of others.
func sums(content []byte) (text string) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return ""
	}
	for _, f := range z.File {
		text += fmt.Sprintln(path.Base(f.Name), f.CRC32)
	}
	return text
}

func (p *patient) delete(side, n int, share float64) *harm {
	all := slices.DeleteFunc(p.files(side), func(f *file) bool { return f.given })
	if n == 0 {
		n = max(2, int(share*float64(len(all))))
	}
	list := p.pick(all, n)
	for _, f := range list {
		p.remove(f.path)
	}
	if len(list) == 0 {
		return nil
	}
	return harmed(missing, list, "%d files of the %s side deleted", n, sideNames[side])
}

// outputsOf damages or deletes the outputs of the network on one side.
func outputsOf(p *patient, how loss) *harm {
	side := p.side()
	list := slices.DeleteFunc(p.files(side), func(f *file) bool { return !f.output })
	if len(list) == 0 {
		return nil
	}
	b := cutBytes(p)
	for _, f := range list {
		if t := p.read(f.path); how == damaged {
			p.write(f.path, b.do(t))
		} else {
			p.remove(f.path)
		}
	}
	if how == missing {
		b.what = "deleted"
	}
	return harmed(how, list, "%d outputs of the network, %s side: %s", len(list), sideNames[side], b.what)
}

// processes deletes those of one side that a key has in common. Two of a side are left, for
// one of the golden side would be the partner of all.
func processes(p *patient, key func(process) string) *harm {
	side := p.side()
	all := p.processes(side)
	if len(all) < 2 {
		return nil
	}
	one := all[p.rng.IntN(len(all))]
	var gone []process
	for _, x := range all {
		if key(x) == key(one) && (key(x) != "process" || x == one) {
			gone = append(gone, x)
		}
	}
	ranks := map[string]bool{}
	for _, x := range all {
		if !slices.Contains(gone, x) {
			ranks[x.rank] = true
		}
	}
	steps := map[string]bool{}
	for _, x := range all {
		if !slices.Contains(gone, x) {
			steps[x.step] = true
		}
	}
	if len(gone) == len(all) || side == 1 && len(ranks) < 2 {
		return nil
	}
	if p.j.left && (!ranks[one.rank] || !steps[one.step]) {
		return nil // nothing tells the command that there was more
	}
	d := &harm{how: missing, partner: !p.j.left, what: fmt.Sprintf("%d processes of the %s side deleted: %s", len(gone), sideNames[side], one.path)}
	for _, x := range gone {
		p.remove(x.path)
		d.names = append(d.names, append(x.words(), x.step, "step "+strings.TrimPrefix(x.step, "step")))
	}
	return d
}

// words are what a process is called.
func (x process) words() []string {
	return []string{x.path, x.step + "/" + x.rank, x.rank, "rank " + strings.TrimPrefix(x.rank, "rank")}
}

// exchangeRanks gives two ranks of a step each other's recording.
func exchangeRanks(p *patient) *harm {
	side := p.side()
	all := p.processes(side)
	if len(all) < 2 {
		return nil
	}
	a := all[p.rng.IntN(len(all))]
	for _, b := range all {
		if b.step != a.step || b.rank == a.rank {
			continue
		}
		if equalTrees(filepath.Join(p.dir, a.path), filepath.Join(p.dir, b.path)) {
			return nil
		}
		other := filepath.Join(p.dir, "other")
		for _, move := range [][2]string{{filepath.Join(p.dir, a.path), other}, {filepath.Join(p.dir, b.path), filepath.Join(p.dir, a.path)}, {other, filepath.Join(p.dir, b.path)}} {
			must.Do(os.Rename(move[0], move[1]))
		}
		// Data that differ by a few hundredths are suspect: the gate may let that pass where one of
		// the two is named.
		return &harm{how: changed, what: fmt.Sprintf("%s and %s exchanged", a.path, b.path), names: [][]string{slices.Concat(a.words(), b.words())}}
	}
	return nil
}

// repeatRank gives a rank of a step the recording of another.
func repeatRank(p *patient) *harm {
	all := p.processes(p.side())
	if len(all) < 2 {
		return nil
	}
	a := all[p.rng.IntN(len(all))]
	at := slices.IndexFunc(all, func(b process) bool { return b.step == a.step && b.rank != a.rank })
	if at < 0 || equalTrees(filepath.Join(p.dir, a.path), filepath.Join(p.dir, all[at].path)) {
		return nil
	}
	b := all[at]
	p.remove(b.path)
	d := &harm{how: changed, what: fmt.Sprintf("%s is that of %s", b.path, a.path), names: [][]string{slices.Concat(a.words(), b.words())}}
	must.Do(linkTree(filepath.Join(p.dir, a.path), filepath.Join(p.dir, b.path)))
	return d
}

// ofAnother gives a tensor the file that another rank or step has of it.
func ofAnother(p *patient) *harm {
	side := p.side()
	all := p.processes(side)
	for _, f := range p.some(side, 1) {
		for _, from := range all {
			rest, inside := strings.CutPrefix(f.path, from.path+"/")
			to := all[p.rng.IntN(len(all))]
			if !inside || to.path == from.path {
				continue
			}
			mine := p.read(f.path)
			other, ok := p.sought(to.path + "/" + rest)
			if !ok || bytes.Equal(mine, other) || sums(mine) != "" && sums(mine) == sums(other) {
				return nil // it has none, or the same
			}
			p.write(f.path, other)
			return harmed(changed, []*file{f}, "it is that of %s", to.path)
		}
	}
	return nil
}

// equalTrees tells whether two folders hold the same.
func equalTrees(a, b string) bool {
	x, err := snapshot(a)
	if err != nil {
		return false
	}
	y, err := snapshot(b)
	return err == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// one damages a file that is not of a recording.
func (p *patient) one(path string, b bytesTo) *harm {
	t := p.read(path)
	out := b.do(t)
	if len(bytes.TrimSpace(out)) == len(bytes.TrimSpace(t)) {
		return nil
	}
	d := &harm{how: misfit, what: path + " " + b.what, names: [][]string{{filepath.Base(path)}}}
	if p.s.form != dumps && p.s.form != jobs {
		d.closed = "what it is judged by is damaged"
	}
	p.write(path, out)
	return d
}

func otherGraph(p *patient) *harm {
	for range 10 {
		o := p.h.shipped[p.rng.IntN(len(p.h.shipped))]
		if o.graph == "" || o.name == p.s.name || filepath.Ext(o.graph) != filepath.Ext(p.s.graph) {
			continue
		}
		must.Do(p.h.prepare(o))
		t := must.Get(os.ReadFile(filepath.Join(o.base, filepath.FromSlash(o.graph))))
		old := p.read(p.s.graph)
		if bytes.Equal(old, t) {
			return nil
		}
		// A graph with all operators of this one is that of the same network whose other dumps
		// are missing, for all that anybody can tell: those are named.
		names := append([]string{filepath.Base(p.s.graph), "graph"}, further(old, t, p.s.graph)...)
		p.write(p.s.graph, t)
		return &harm{how: misfit, what: "the graph of " + o.name, names: [][]string{names}}
	}
	return nil
}

// further are the operators that a graph has beside all those of another; none where it lacks one.
func further(all, more []byte, file string) (names []string) {
	var ops [2]map[string]string
	for i, text := range [][]byte{all, more} {
		m, err := read.Read(context.Background(), bytes.NewReader(text), file)
		if err != nil {
			return nil
		}
		ops[i] = map[string]string{}
		for op := range m.Ops() {
			ops[i][op.Name] = op.Type
		}
	}
	for name, kind := range ops[0] {
		if ops[1][name] != kind {
			return nil
		}
		delete(ops[1], name)
	}
	return slices.Sorted(maps.Keys(ops[1]))
}

// table is the saved table that the command reads.
func (p *patient) table() string {
	if p.j.csv {
		return "in/tables/result.csv"
	}
	return p.s.saved
}

func cutTable(p *patient) *harm {
	b := cutBytes(p)
	if p.j.csv && p.rng.IntN(2) == 0 {
		share := p.rng.Float64()
		b = bytesTo{"cut between rows", func(t []byte) []byte {
			at := bytes.LastIndexByte(t[:int(share*float64(len(t)))], '\n')
			return t[:at+1]
		}}
	}
	d := p.one(p.table(), b)
	if d != nil && p.j.csv {
		// A csv has no end mark: where it is cut between rows, nothing shows it.
		t := p.read(p.table())
		if d.unseen = bytes.HasSuffix(t, []byte("\n")) || bytes.Count(t, []byte("\n")) == 0 && len(t) > 0; d.unseen {
			d.closed = ""
		}
	}
	return d
}

func otherBaseline(p *patient) *harm {
	for _, o := range p.h.shipped {
		if o.form != baseline || o.name == p.s.name || path.Base(o.saved) != path.Base(p.s.saved) {
			continue
		}
		must.Do(p.h.prepare(o))
		t := must.Get(os.ReadFile(filepath.Join(o.base, filepath.FromSlash(o.saved))))
		p.write(p.s.saved, t)
		return &harm{how: misfit, what: "the baseline of " + o.name, closed: "the baseline is that of another network"}
	}
	return nil
}

// damagedBaseline makes the baseline again from recordings of which all dumps, or those of
// operators that are not good, are cut.
func damagedBaseline(p *patient, which string) *harm {
	if which == "bad" && !p.s.faulty {
		return nil
	}
	kept := map[string][]byte{}
	for _, f := range p.files(0) {
		bad := false
		for _, n := range p.j.whole.named {
			bad = bad || slices.Contains(f.words, flat(n))
		}
		if which == "bad" && !bad {
			continue
		}
		t := p.read(f.path)
		kept[f.path] = t
		p.write(f.path, t[:len(t)/3])
	}
	if len(kept) == 0 {
		return nil
	}
	program := p.h.Program
	program.Dir = p.dir
	must.Do(os.Remove(filepath.Join(p.dir, filepath.FromSlash(p.s.saved))))
	for _, args := range p.s.first {
		if e := must.Get(program.run(0, args...)); e.code != 0 && e.code != 2 {
			return nil // no table is made of that
		}
	}
	for path, t := range kept {
		p.write(path, t)
	}
	if !exists(filepath.Join(p.dir, filepath.FromSlash(p.s.saved))) {
		return nil
	}
	return &harm{how: misfit, what: fmt.Sprintf("a baseline of recordings with %d of the dumps cut", len(kept)), closed: "the baseline does not know what it is asked for"}
}

// logged damages one of two logs.
func (p *patient) logged(b bytesTo) *harm {
	side := p.side()
	path := p.j.args[2+side]
	t := p.read(path)
	out := b.do(t)
	if bytes.Equal(bytes.TrimSpace(out), bytes.TrimSpace(t)) {
		return nil
	}
	p.write(path, out)
	return &harm{how: damaged, what: path + " " + b.what, names: [][]string{{filepath.Base(path)}}}
}
