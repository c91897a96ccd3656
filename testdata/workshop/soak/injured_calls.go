package soak

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"precision/internal/must"
)

// callsFile is one dump.json of a side, with its values.
type callsFile struct {
	path string
	text []byte
	top  *node
	// side has it, at a place such as step0/rank1.
	side  int
	place string
}

// recordings are the dump.json of a side.
func (p *patient) recordings(side int) (list []*callsFile) {
	for _, pattern := range []string{"dump.json", "*/dump.json", "*/*/dump.json"} {
		found := must.Get(filepath.Glob(filepath.Join(p.dir, filepath.FromSlash(p.s.sides[side]), pattern)))
		for _, file := range found {
			rel, _ := filepath.Rel(p.dir, file)
			r := &callsFile{path: filepath.ToSlash(rel), side: side}
			r.place = strings.TrimPrefix(filepath.ToSlash(filepath.Dir(rel)), p.s.sides[side]+"/")
			r.text = p.read(r.path)
			var err error
			if r.top, err = parse(r.text); err != nil {
				continue // recorded so
			}
			list = append(list, r)
		}
	}
	return list
}

// recording is one of those of a side, nil where there is none.
func (p *patient) recording() *callsFile {
	list := p.recordings(p.side())
	if len(list) == 0 {
		return nil
	}
	return list[p.rng.IntN(len(list))]
}

func (r *callsFile) calls() []*node {
	if data := r.top.get("data"); data != nil {
		return data.inner
	}
	return nil
}

// of is the text of a value.
func (r *callsFile) of(n *node) string { return string(r.text[n.from:n.to]) }

// expects tells whether a call was compared in the undamaged recordings.
func (p *patient) expects(r *callsFile, call *node) bool {
	side := sideNames[r.side] + " "
	return p.s.whole || p.s.known[side+flat(call.key)] > 0 || p.s.known[side+flat(r.place+"/"+call.key)] > 0
}

// expected are the calls with tensors that were compared.
func (p *patient) expected(r *callsFile) []*node {
	return slices.DeleteFunc(slices.Clone(r.calls()), func(c *node) bool { return !p.expects(r, c) || tensorsIn(c, r.text) == 0 })
}

// entry is what a call says of one of its tensors.
type entry struct{ call, tensor *node }

// entries are those of tensors of which a key is told.
func (r *callsFile) entries(key string) (list []entry) {
	for _, call := range r.calls() {
		var visit func(n *node)
		visit = func(n *node) {
			if n.get("dtype") != nil && n.get(key) != nil {
				list = append(list, entry{call, n})
			}
			for _, v := range n.inner {
				visit(v)
			}
		}
		visit(call)
	}
	return list
}

// compared are those entries of calls that were compared.
func (p *patient) compared(r *callsFile, key string) []entry {
	return slices.DeleteFunc(r.entries(key), func(e entry) bool { return !p.expects(r, e.call) })
}

func cutCalls(p *patient, b bytesTo) *harm {
	r := p.recording()
	if r == nil {
		return nil
	}
	out := b.do(r.text)
	if len(strings.TrimSpace(string(out))) == len(strings.TrimSpace(string(r.text))) {
		return nil
	}
	d := &harm{how: damaged, what: r.path + " " + b.what, names: [][]string{{"dump.json"}}, closed: "the recording is cut"}
	if _, err := parse(out); err == nil { // by chance it is one of fewer calls
		return nil
	}
	p.write(r.path, out)
	return d
}

// outputKeys are those of a call's results.
var outputKeys = []string{"output", "output_grad"}

func removeOutputs(p *patient, share float64) *harm {
	side := p.side()
	list := p.recordings(side)
	d := &harm{how: missing, what: fmt.Sprintf("outputs removed from dump.json of the %s side", sideNames[side])}
	all := 0
	for _, r := range list {
		var edits []edit
		for _, call := range r.calls() {
			for i, v := range call.inner {
				n := tensorsIn(v, r.text) // what is expected are tensors, not calls
				if !slices.Contains(outputKeys, v.key) || n == 0 {
					continue
				}
				all += n
				if p.expects(r, call) && p.rng.Float64() < share {
					edits = append(edits, call.without(i))
					d.tensors += n
					d.names = append(d.names, []string{call.key})
				}
			}
		}
		if len(edits) > 0 {
			p.write(r.path, edited(r.text, edits))
		}
	}
	if d.tensors == 0 {
		return nil
	}
	if d.tensors*2 > all {
		d.closed = "more than half of the outputs are missing"
	}
	d.what += fmt.Sprintf(": %d of %d", d.tensors, all)
	return d
}

func removeCalls(p *patient) *harm {
	if p.j.left {
		return nil // a recording of fewer calls is one
	}
	list := p.recordings(p.side())
	if len(list) == 0 {
		return nil
	}
	r := list[p.rng.IntN(len(list))]
	data := r.top.get("data")
	if data == nil || len(data.inner) < 2 {
		return nil
	}
	d := &harm{how: missing}
	n := 1 + p.rng.IntN(len(data.inner)-1)
	at := p.rng.IntN(len(data.inner) - n + 1)
	all := 0
	for i, call := range data.inner {
		if tensorsIn(call, r.text) == 0 {
			continue
		}
		outputs := 0
		for _, key := range outputKeys {
			if v := call.get(key); v != nil {
				outputs += tensorsIn(v, r.text)
			}
		}
		all += outputs
		if i >= at && i < at+n && p.expects(r, call) {
			d.names = append(d.names, []string{call.key})
			d.tensors += outputs
		}
	}
	if len(d.names) == 0 {
		return nil
	}
	if d.tensors*2 > all && len(list) == 1 {
		d.closed = "more than half of the outputs are missing"
	}
	gone := edit{data.inner[at].keyFrom, data.inner[at+n-1].to, ""}
	if at+n < len(data.inner) {
		gone.to = data.inner[at+n].keyFrom
	} else if at > 0 {
		gone.from = data.inner[at-1].to
	}
	d.what = fmt.Sprintf("%d of %d calls removed from %s", n, len(data.inner), r.path)
	p.write(r.path, edited(r.text, []edit{gone}))
	return d
}

// tensorsIn counts the tensors whose entries a value holds.
func tensorsIn(n *node, text []byte) int {
	return strings.Count(string(text[n.from:n.to]), "Tensor\"")
}

// extremes are the statistics that are elements. That another sum is damaged nothing shows: of the same tensor recorders sum up in
// another order, or in fewer digits.
var extremes = []string{"Max", "Min"}

var statisticKeys = []string{"Max", "Min", "Mean", "Norm"}

// noNumbers are what statistics become, and whether it is a number that says something else.
var noNumbers = []string{`"text"`, `"NaN"`, `""`, `true`, `"N/A"`, `NaN`, `null`, `0`}

// statistics replaces those of one tensor, of all of a side, or of both.
func statistics(p *patient, where string) *harm {
	by := noNumbers[p.rng.IntN(len(noNumbers))]
	side := p.side()
	sides := []int{side}
	if where == "both" {
		sides = []int{0, 1}
	}
	d := &harm{how: damaged, what: "statistics of " + where + " to " + by}
	if by == "0" {
		d.how = changed
	}
	type place struct {
		r     *callsFile
		call  string
		edits []edit
	}
	for _, side := range sides {
		var places []place
		for _, r := range p.recordings(side) {
			for _, e := range p.compared(r, "Max") {
				if !floating(r.of(e.tensor.get("dtype"))) || by == "null" && (e.tensor.get("data_name") != nil || e.tensor.get("md5") != nil) {
					continue // where null is not recorded, as of some types, the elements, or checksums, decide
				}
				var edits []edit
				for _, key := range statisticKeys {
					if v := e.tensor.get(key); v != nil && r.of(v) != by && !zero(r.of(v)) {
						edits = append(edits, edit{v.from, v.to, by})
					}
				}
				if len(edits) > 0 {
					places = append(places, place{r, e.call.key, edits})
				}
			}
		}
		if len(places) == 0 {
			return nil
		}
		if where == "one" {
			places = places[p.rng.IntN(len(places)):][:1]
			d.what += ", of " + places[0].call + " in " + places[0].r.path
		}
		edits := map[*callsFile][]edit{}
		for _, x := range places {
			edits[x.r] = append(edits[x.r], x.edits...)
			d.names = append(d.names, []string{x.call})
			d.tensors++
		}
		for r, e := range edits {
			p.write(r.path, edited(r.text, e))
		}
	}
	if where == "both" && by == "0" {
		d.how, d.names, d.closed = damaged, nil, "nothing is left that could differ"
	}
	if by == "null" { // not recorded, or not finite
		d.how = missing
	}
	return d
}

// inTensor changes what a key says of one tensor of numbers.
func inTensor(p *patient, how loss, key string, do func(value string) string) *harm {
	r := p.recording()
	if r == nil {
		return nil
	}
	list := slices.DeleteFunc(p.compared(r, key), func(e entry) bool {
		return !floating(r.of(e.tensor.get("dtype"))) || key == "dtype" && !fraction(e.tensor, r.text)
	})
	if len(list) == 0 {
		return nil
	}
	e := list[p.rng.IntN(len(list))]
	v, of := e.tensor.get(key), e.call.key
	was := r.of(v)
	by := do(was)
	if by == was {
		return nil
	}
	d := &harm{how: how, tensors: 1, names: [][]string{{of}}, what: fmt.Sprintf("%s of a tensor of %s in %s: %s, not %s", key, of, r.path, by, was)}
	p.write(r.path, edited(r.text, []edit{{v.from, v.to, by}}))
	return d
}

// fraction tells that the largest element of a tensor is no number of bfloat16, as whole ones and 0.5 are.
func fraction(tensor *node, text []byte) bool {
	most := tensor.get("Max")
	if most == nil {
		return false
	}
	v, err := strconv.ParseFloat(string(text[most.from:most.to]), 64)
	return err == nil && math.Float32bits(float32(v))&(1<<16-1) != 0
}

// lostDigits leaves a number with three digits, which other digits follow.
func lostDigits(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	at := strings.IndexByte(number, '.')
	if err != nil || at < 0 || strings.ContainsAny(number, "eE") || len(number) < at+4 {
		return number
	}
	short := number[:at+3]
	if w, err := strconv.ParseFloat(short, 64); err != nil || math.Abs(w-v) <= 1e-4*math.Abs(v) {
		return number // not to be seen in any type
	}
	return short
}

// lostSign drops the sign of a number, or its exponent.
func lostSign(number string) string {
	if mantissa, _, ok := strings.Cut(number, "e"); ok {
		return mantissa
	}
	return strings.TrimPrefix(number, "-")
}

// otherDigit is a number with its fourth digit raised, where that shows: float32 has few of the numbers of so many digits.
func otherDigit(number string) string {
	out, n := []byte(number), 0
	for i, c := range out {
		if c >= '0' && c <= '9' && (n > 0 || c > '0') {
			if n++; n == 4 && c < '9' {
				out[i]++
				break
			}
		}
	}
	if v, err := strconv.ParseFloat(string(out), 64); err != nil || float64(float32(v)) == v {
		return number
	}
	return string(out)
}

// reordered writes the members of every call and tensor of the recordings of a side in another order, and those
// of construct.json: JSON has none.
func reordered(p *patient) *harm {
	side := p.side()
	list := p.recordings(side)
	if len(list) == 0 {
		return nil
	}
	var turned func(text []byte, n *node) string
	turned = func(text []byte, n *node) string {
		if len(n.inner) == 0 {
			return string(text[n.from:n.to])
		}
		var parts []string
		for _, v := range n.inner {
			parts = append(parts, string(text[v.keyFrom:v.from])+turned(text, v))
		}
		if text[n.from] == '[' {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		p.rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for _, r := range list {
		var edits []edit
		for _, c := range r.calls() {
			edits = append(edits, edit{c.from, c.to, turned(r.text, c)})
		}
		p.write(r.path, edited(r.text, edits))
		at := path.Join(path.Dir(r.path), "construct.json")
		text, ok := p.sought(at)
		if !ok {
			continue // there may be none
		}
		if top, err := parse(text); err == nil {
			p.write(at, []byte(turned(text, top)))
		}
	}
	return &harm{how: nothing, what: "members of the recordings of the " + sideNames[side] + " side in another order"}
}

// crossed exchanges what a key says of two tensors of one recording, such as their files.
func crossed(p *patient, how loss, key string) *harm {
	r := p.recording()
	if r == nil {
		return nil
	}
	list := p.compared(r, key)
	for range 20 {
		if len(list) < 2 {
			return nil
		}
		x, y := list[p.rng.IntN(len(list))], list[p.rng.IntN(len(list))]
		v, w := x.tensor.get(key), y.tensor.get(key)
		a, b := r.of(v), r.of(w)
		if a == b || x.call.key == y.call.key {
			continue
		}
		if key == "data_name" {
			var content [2][]byte
			for k, name := range []string{a, b} {
				file, err := strconv.Unquote(name)
				ok := err == nil
				if ok {
					content[k], ok = p.sought(path.Join(path.Dir(r.path), "dump_tensor_data", file))
				}
				if !ok {
					return nil // recorded without it
				}
			}
			if bytes.Equal(content[0], content[1]) || sums(content[0]) != "" && sums(content[0]) == sums(content[1]) {
				continue
			}
		}
		d := &harm{how: how, names: [][]string{{x.call.key, y.call.key}}, what: fmt.Sprintf("%s of %s and %s in %s exchanged", key, x.call.key, y.call.key, r.path)}
		p.write(r.path, edited(r.text, []edit{{v.from, v.to, b}, {w.from, w.to, a}}))
		return d
	}
	return nil
}

// repeated writes a call again behind another one, under its own name or the next number.
func repeated(p *patient) *harm {
	if p.j.left {
		return nil // a recording of more calls is one
	}
	r := p.recording()
	if r == nil {
		return nil
	}
	of, calls := r.calls(), p.expected(r)
	if len(calls) == 0 {
		return nil
	}
	c, behind := calls[p.rng.IntN(len(calls))], of[p.rng.IntN(len(of))]
	name := c.key
	if words := strings.Split(name, "."); p.rng.IntN(2) == 0 {
		for i, w := range words {
			if _, err := strconv.Atoi(w); err == nil {
				words[i] = "7" + w
			}
		}
		name = strings.Join(words, ".")
	}
	d := &harm{how: damaged, tensors: 1, names: [][]string{{c.key, name}}, what: fmt.Sprintf("%s again in %s, as %s behind %s", c.key, r.path, name, behind.key)}
	if name != c.key {
		d.how = changed
	}
	p.write(r.path, edited(r.text, []edit{{behind.to, behind.to, ", " + strconv.Quote(name) + ": " + r.of(c)}}))
	return d
}

// besides cuts construct.json or stack.json.
func besides(p *patient) *harm {
	r := p.recording()
	if r == nil {
		return nil
	}
	files := []string{"construct.json", "stack.json"}
	if p.j.left {
		files = files[:1] // check does not read the other
	}
	at := path.Join(path.Dir(r.path), files[p.rng.IntN(len(files))])
	text, ok := p.sought(at)
	if !ok {
		return nil // there may be none
	}
	b := []bytesTo{cutBytes(p), lostBlock(p)}[p.rng.IntN(2)]
	out := b.do(text)
	if _, err := parse(out); err == nil {
		return nil // of fewer calls
	}
	p.write(at, out)
	return &harm{how: damaged, what: at + " " + b.what, names: [][]string{{path.Base(at)}}}
}

// otherLetter writes a letter of the name of a call as another alphabet has it.
func otherLetter(p *patient) *harm {
	r := p.recording()
	if r == nil {
		return nil
	}
	calls := slices.DeleteFunc(p.expected(r), func(c *node) bool { return !strings.ContainsAny(c.key, "aeo") })
	if len(calls) == 0 {
		return nil
	}
	c := calls[p.rng.IntN(len(calls))]
	at := strings.IndexAny(c.key, "aeo")
	name := c.key[:at] + map[byte]string{'a': "а", 'e': "е", 'o': "о"}[c.key[at]] + c.key[at+1:]
	d := &harm{how: told, tensors: 1, names: [][]string{{c.key, name}}, what: fmt.Sprintf("%s in %s is %q", c.key, r.path, name)}
	p.write(r.path, edited(r.text, []edit{{c.keyFrom, c.keyFrom + len(c.key) + 2, strconv.Quote(name)}}))
	return d
}

func floating(dtype string) bool { return strings.Contains(strings.ToLower(dtype), "float") }

func zero(text string) bool { return strings.Trim(text, "0.-") == "" || text == "null" }

// checksums makes those of tensors nothing.
func checksums(p *patient, sides int) *harm {
	by := []string{`""`, `"N/A"`, `null`}[p.rng.IntN(3)]
	first := p.side()
	d := &harm{how: damaged, what: fmt.Sprintf("checksums of %d sides to %s", sides, by)}
	for k := range sides {
		for _, r := range p.recordings((first + k) % 2) {
			var edits []edit
			for _, e := range r.entries("md5") {
				v := e.tensor.get("md5")
				edits = append(edits, edit{v.from, v.to, by})
				d.names = append(d.names, []string{e.call.key})
			}
			if d.tensors += len(edits); len(edits) > 0 {
				p.write(r.path, edited(r.text, edits))
			}
		}
	}
	if d.tensors == 0 {
		return nil
	}
	return d
}
