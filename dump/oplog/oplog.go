// Package oplog reads logs of the operators that a PyTorch program ran: what torch.utils._debug_mode.DebugMode prints, with
// the hashes of log_tensor_hashes, and what torchtitan writes of a step (rank_0_activations.log).
//
//	aten::addmm(t: f32[16], t: f32[3, 8], t: f32[8, 16])  ->  t: f32[3, 16]  # {'hash': 24.63}
//
//	[layers.0.attention.wq/op_0_mm]
//	  Shape: torch.Size([4, 8]), Dtype: torch.float32
//	  L2 norm:  2.000000e+00
//
// A log is text and has no elements: types, shapes, and what was counted of a tensor.
package oplog

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"precision/dump"
	"precision/dump/dtype"
	"precision/internal/lazy"
	"precision/internal/must"
	"precision/internal/plainfile"
)

// Log is a file.
type Log struct {
	Path string
	// Rank is -1 where the file's name does not tell.
	Rank int
}

// Call is an operator that ran.
type Call struct {
	// Name is the operator: aten::mm, torch.nn.functional.linear. Module is the path of the module it ran in, Key what
	// the log calls it, if it gives calls names of their own.
	Name, Module, Key string
	Backward          bool
	// Values are inputs, then outputs.
	Values []Value
}

// Value is an argument or a result.
type Value struct {
	Output bool
	// Keyword is the name of an argument that was given by it, Path where the value stands among arguments or results: 0, 1.2.
	Keyword, Path string
	// Tensor tells a tensor; what else there is has a Text, as Python writes it.
	Tensor bool
	Text   string
	Type   dtype.Type
	Shape  []int64
	// What was counted of the elements, as far as Said tells that the log says it.
	Max, Min, Mean, Norm float64
	Known                Stats
	// Hash is a checksum of the bits.
	Hash string
}

// Stats are bits of what is known of a value.
type Stats uint8

// What may be known.
const (
	Max Stats = 1 << iota
	Min
	Mean
	Norm
)

const (
	// looked is how much of a file tells what it is.
	looked = 64 << 10
	// mostLine is more than any line: an operator takes a list of all parameters of a network at most.
	mostLine = 16 << 20
	mostLog  = 1 << 30
	what     = "a log of operators, of DebugMode or torchtitan"
)

var (
	tensor = lazy.Regexp(`^(?:t|dt|ft)(?:\$\d+)?: (\w+)\[([\d, ]*)\](\|.*)?$`)
	// call is a line of DebugMode: blanks, the operator, its arguments.
	call   = lazy.Regexp(`^\s*(?:\[[a-z]\w*\] )?((?:[\w.]+::)?[\w.]+|<method '\w+' of '[\w.]+' objects>|\[[tT]riton\] \w+)\(`)
	inside = lazy.Regexp(`\b(?:t|dt|ft)(?:\$\d+)?: [a-z]+\d\w*\[[\d, ]*\]`)
	module = lazy.Regexp(`^(\s*)\[nn\.Mod[^\]]*\] (\S+)`)
	titled = lazy.Regexp(`^\[(.+)/op_\d+_([^\]/]+)\]$`)
	shape  = lazy.Regexp(`^\s+Shape: (?:torch\.Size\(\[([\d, ]*)\]\)|[\[(]([\d, ]*)[\])]),?\s*(?:Dtype: )?torch\.(\w+)`)
	field  = lazy.Regexp(`^\s+(L1 norm|L2 norm|Min|Max|Mean|Phase|Output hash|Input hashes):\s*(.*)$`)
	method = lazy.Regexp(`^<method '(\w+)' of '([\w.]+)' objects>$`)
	memory = lazy.Regexp(` at 0x[0-9a-f]+`)
	ranked = lazy.Regexp(`(?:^|[_.-])rank[_-]?(\d+)`)
)

// Find lists the logs that a path is, or that a folder and those below it hold. It is an error if there are none.
func Find(path string) (list []Log, err error) {
	add := func(path string) {
		if Is(path) {
			l := Log{Path: path, Rank: -1}
			if m := ranked().FindStringSubmatch(filepath.Base(path)); m != nil {
				l.Rank, _ = strconv.Atoi(m[1])
			}
			list = append(list, l)
		}
	}
	if entries := dump.List(path); len(entries) == 0 {
		add(path)
	} else {
		err = dump.Below(path, nil, func(dir string, entries []fs.DirEntry) bool {
			for _, e := range entries {
				if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && (ext == ".log" || ext == ".txt") {
					add(filepath.Join(dir, e.Name()))
				}
			}
			return false
		})
	}
	if err == nil && list == nil {
		err = fmt.Errorf("%s: no log of operators of DebugMode or torchtitan", path)
	}
	return list, err
}

// Is tells a log by its first lines.
func Is(path string) bool {
	head := plainfile.Front(path, looked)
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	if bytes.HasPrefix(head, []byte("Total captured activations:")) {
		return true
	}
	for line := range strings.Lines(string(head)) {
		if at := call().FindStringIndex(line); at != nil && inside().MatchString(line[at[1]:]) {
			return true
		}
	}
	return false
}

// Read reads a log. What a line says that cannot be understood is an error with its number; the calls before it are there, too.
func Read(path string) (_ []*Call, err error) {
	defer must.Catch(&err)
	f, size, err := plainfile.Open(path, what)
	must.Do(err)
	defer f.Close()
	must.Not(size > mostLog, "%s: %d bytes, expected at most %d", path, size, mostLog)
	r := &reader{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostLine)
	n := 1
	for ; lines.Scan(); n++ {
		if err := r.take(strings.TrimRight(lines.Text(), "\r")); err != nil {
			return r.calls, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return r.calls, fmt.Errorf("%s: line %d: %w", path, n, err)
	}
	return r.calls, nil
}

type reader struct {
	calls []*Call
	// modules are those around, each with the blanks in front of it.
	modules []struct {
		indent int
		name   string
	}
	// open is the entry of torchtitan that lines belong to.
	open *Call
}

func (r *reader) take(line string) error {
	if m := titled().FindStringSubmatch(line); m != nil {
		r.open = &Call{Name: "aten::" + m[2], Module: m[1], Key: strings.Trim(line, "[]")}
		r.calls = append(r.calls, r.open)
		return nil
	}
	if r.open != nil && strings.HasPrefix(line, "  ") {
		return r.fact(line)
	}
	if m := module().FindStringSubmatch(line); m != nil {
		r.leave(len(m[1]))
		r.modules = append(r.modules, struct {
			indent int
			name   string
		}{len(m[1]), m[2]})
		return nil
	}
	at := call().FindStringSubmatchIndex(line)
	if at == nil || !inside().MatchString(line[at[1]:]) {
		return nil // a line of something else
	}
	r.leave(len(line) - len(strings.TrimLeft(line, " ")))
	c := &Call{Name: line[at[2]:at[3]]}
	if m := method().FindStringSubmatch(c.Name); m != nil {
		c.Name = strings.TrimSuffix(m[2], "Base") + "." + m[1]
	}
	if n := len(r.modules); n > 0 {
		c.Module = r.modules[n-1].name
	}
	if err := c.parse(line[at[1]:]); err != nil {
		return err
	}
	r.calls = append(r.calls, c)
	return nil
}

// leave drops the modules that a line with so many blanks in front is not in.
func (r *reader) leave(indent int) {
	for n := len(r.modules); n > 0 && r.modules[n-1].indent >= indent; n-- {
		r.modules = r.modules[:n-1]
	}
}

// fact takes a line of an entry of torchtitan.
func (r *reader) fact(line string) error {
	c := r.open
	out := func() *Value {
		if len(c.Values) == 0 || !c.Values[len(c.Values)-1].Output {
			c.Values = append(c.Values, Value{Output: true, Path: "0", Tensor: true})
		}
		return &c.Values[len(c.Values)-1]
	}
	if m := shape().FindStringSubmatch(line); m != nil {
		v := out()
		v.Type, _ = dtype.FromFramework(m[3])
		var err error
		v.Shape, err = dims(m[1] + m[2])
		return err
	}
	m := field().FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	switch m[1] {
	case "Phase":
		c.Backward = m[2] == "backward"
	case "Input hashes":
		var list []Value
		for i, word := range words(m[2]) {
			v := Value{Path: strconv.Itoa(i), Tensor: true}
			if v.hash(word) {
				list = append(list, v)
			}
		}
		c.Values = append(list, c.Values...)
	case "Output hash":
		for i, word := range words(m[2]) {
			if i == 0 && out().Known&Norm == 0 {
				out().hash(word)
			} else if i > 0 {
				v := Value{Output: true, Path: strconv.Itoa(i), Tensor: true}
				v.hash(word)
				c.Values = append(c.Values, v)
			}
		}
	default:
		x, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return fmt.Errorf("found %q, expected a number of %s", m[2], m[1])
		}
		v := out()
		switch m[1] {
		case "L2 norm":
			v.Norm, v.Known = x, v.Known|Norm
		case "Min":
			v.Min, v.Known = x, v.Known|Min
		case "Max":
			v.Max, v.Known = x, v.Known|Max
		case "Mean":
			v.Mean, v.Known = x, v.Known|Mean
		}
	}
	return nil
}

func words(list string) []string {
	if strings.TrimSpace(list) == "" {
		return nil
	}
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func dims(list string) ([]int64, error) {
	out := []int64{}
	for _, word := range words(list) {
		if word == "" {
			continue // (4,)
		}
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("found the dim %q, expected a whole number", word)
		}
		out = append(out, n)
	}
	return out, nil
}

// hash takes what log_tensor_hashes makes of a tensor: a norm, which is a fraction, or an integer of its bits.
func (v *Value) hash(text string) bool {
	if _, err := strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, 64); err == nil {
		v.Hash = text
		return true
	}
	x, err := strconv.ParseFloat(text, 64)
	if err == nil {
		v.Norm, v.Known = x, v.Known|Norm
	}
	return err == nil
}

// parse reads what follows the opening bracket of a call: arguments, results, hashes.
func (c *Call) parse(text string) (err error) {
	defer must.Catch(&err)
	p := &parser{text: text}
	args := must.Get(p.list(')'))
	var results []node
	rest := strings.TrimLeft(p.text[p.at:], " ")
	if after, ok := strings.CutPrefix(rest, "->"); ok {
		q := &parser{text: strings.TrimLeft(after, " ")}
		results = must.Get(q.results())
		rest = strings.TrimLeft(q.text[q.at:], " ")
	}
	var in, out *node
	if after, ok := strings.CutPrefix(rest, "# {"); ok {
		q := &parser{text: after}
		facts := must.Get(q.list('}'))
		for i := range facts {
			switch facts[i].key {
			case "input_hash":
				in = &facts[i]
			case "hash":
				out = &facts[i]
			}
		}
	}
	var positional, keyword *node
	if in != nil && len(in.items) == 2 {
		positional, keyword = &in.items[0], &in.items[1]
	}
	at := 0
	for i := range args {
		a := &args[i]
		if a.key != "" {
			c.values(a, keyword.named(a.key), "", a.key, false)
			continue
		}
		c.values(a, positional.item(at), strconv.Itoa(at), "", false)
		at++
	}
	for i := range results {
		h := out
		if len(results) > 1 {
			h = out.item(i)
		}
		c.values(&results[i], h, strconv.Itoa(i), "", true)
	}
	return nil
}

// values adds a value, or those of a list, with their hashes.
func (c *Call) values(n, hash *node, path, key string, output bool) {
	if n.items != nil && inside().MatchString(n.text) {
		for i := range n.items {
			p := strconv.Itoa(i)
			if path != "" {
				p = path + "." + p
			}
			c.values(&n.items[i], hash.item(i), p, key, output)
		}
		return
	}
	v := Value{Output: output, Keyword: key, Path: path}
	text := strings.Trim(n.text, "'")
	if m := tensor().FindStringSubmatch(text); m != nil {
		v.Tensor = true
		v.Type, _ = dtype.FromFramework(abbreviations[m[1]])
		v.Shape, _ = dims(m[2])
		if hash != nil && hash.items == nil {
			v.hash(hash.text)
		} else if hash != nil {
			for i := range hash.items { // by several functions
				v.hash(hash.items[i].text)
			}
		}
	} else {
		v.Text = memory().ReplaceAllString(text, "")
	}
	c.Values = append(c.Values, v)
}

// abbreviations are what DebugMode calls element types whose short names are not those of the framework without letters.
var abbreviations = map[string]string{
	"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0fnu": "float8_e8m0fnu",
	"c64": "complex64", "c128": "complex128", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "b8": "bool",
	"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}

// Precision is how many digits numbers of a log have at least, 0 for all of a float64.
func Precision(calls []*Call) int {
	for _, c := range calls {
		if c.Key != "" {
			return 7 // %.6e
		}
	}
	return 0
}
