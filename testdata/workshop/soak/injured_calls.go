package soak

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// callsFile is one dump.json of a side, with its values.
type callsFile struct {
	path string
	text []byte
	top  *node
	// step and rank are where it lies, such as step0/rank1.
	place string
}

// recordings are the dump.json of a side.
func (p *patient) recordings(side int) (list []*callsFile, err error) {
	for _, pattern := range []string{"dump.json", "*/dump.json", "*/*/dump.json"} {
		found, err := filepath.Glob(filepath.Join(p.dir, filepath.FromSlash(p.s.sides[side]), pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			rel, _ := filepath.Rel(p.dir, path)
			r := &callsFile{path: filepath.ToSlash(rel)}
			r.place = strings.TrimPrefix(filepath.ToSlash(filepath.Dir(rel)), p.s.sides[side]+"/")
			if r.text, err = p.read(r.path); err != nil {
				return nil, err
			}
			if r.top, err = parse(r.text); err != nil {
				continue // recorded so
			}
			list = append(list, r)
		}
	}
	return list, nil
}

func (r *callsFile) calls() []*node {
	if data := r.top.get("data"); data != nil {
		return data.inner
	}
	return nil
}

// expects tells whether a tensor of a call was compared in the undamaged recordings.
func (p *patient) expects(side int, r *callsFile, call, place string) bool {
	if p.s.whole {
		return true
	}
	name := call
	if place != "" {
		name += "." + place
	}
	return p.s.known[sideNames[side]+" "+flat(name)] > 0 || p.s.known[sideNames[side]+" "+flat(r.place+"/"+name)] > 0
}

func cutCalls(p *patient) (*harm, error) {
	side := p.side()
	list, err := p.recordings(side)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	r := list[p.rng.IntN(len(list))]
	b := cutBytes(p)
	out := b.do(r.text)
	if len(strings.TrimSpace(string(out))) == len(strings.TrimSpace(string(r.text))) {
		return nil, nil
	}
	d := &harm{how: damaged, what: r.path + " " + b.what, names: [][]string{{"dump.json"}}, closed: "the recording is cut"}
	return d, p.write(r.path, out)
}

// outputKeys are those of a call's results.
var outputKeys = []string{"output", "output_grad"}

func removeOutputs(p *patient, share float64) (*harm, error) {
	side := p.side()
	list, err := p.recordings(side)
	if err != nil {
		return nil, err
	}
	d := &harm{how: missing, what: fmt.Sprintf("outputs removed from dump.json of the %s side", sideNames[side])}
	all := 0
	for _, r := range list {
		var edits []edit
		for _, call := range r.calls() {
			for i, v := range call.inner {
				if !slices.Contains(outputKeys, v.key) || tensorsIn(v, r.text) == 0 || !p.expects(side, r, call.key, "") {
					continue
				}
				n := tensorsIn(v, r.text) // what is expected are tensors, not calls
				all += n
				if p.rng.Float64() < share {
					edits = append(edits, call.without(i))
					d.tensors += n
					d.names = append(d.names, []string{call.key})
				}
			}
		}
		if len(edits) > 0 {
			if err := p.write(r.path, edited(r.text, edits)); err != nil {
				return nil, err
			}
		}
	}
	if d.tensors == 0 {
		return nil, nil
	}
	if d.tensors*2 > all {
		d.closed = "more than half of the outputs are missing"
	}
	d.what += fmt.Sprintf(": %d of %d", d.tensors, all)
	return d, nil
}

func removeCalls(p *patient) (*harm, error) {
	side := p.side()
	if p.j.left {
		return nil, nil // a recording of fewer calls is one
	}
	list, err := p.recordings(side)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	r := list[p.rng.IntN(len(list))]
	data := r.top.get("data")
	if data == nil || len(data.inner) < 2 {
		return nil, nil
	}
	d := &harm{how: missing}
	n := 1 + p.rng.IntN(len(data.inner)-1)
	at := p.rng.IntN(len(data.inner) - n + 1)
	all := 0
	for i, call := range data.inner {
		if tensorsIn(call, r.text) == 0 || !p.expects(side, r, call.key, "") {
			continue
		}
		outputs := 0
		for _, key := range outputKeys {
			if v := call.get(key); v != nil {
				outputs += tensorsIn(v, r.text)
			}
		}
		all += outputs
		if i >= at && i < at+n {
			d.names = append(d.names, []string{call.key})
			d.tensors += outputs
		}
	}
	if len(d.names) == 0 {
		return nil, nil
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
	return d, p.write(r.path, edited(r.text, []edit{gone}))
}

// tensorsIn counts the tensors whose entries a value holds.
func tensorsIn(n *node, text []byte) int {
	return strings.Count(string(text[n.from:n.to]), "Tensor\"")
}

var statisticKeys = []string{"Max", "Min", "Mean", "Norm"}

// noNumbers are what statistics become, and whether it is a number that says something else.
var noNumbers = []string{`"text"`, `"NaN"`, `""`, `true`, `"N/A"`, `NaN`, `null`, `0`}

// statistics replaces those of one tensor, of all of a side, or of both.
func statistics(p *patient, where string) (*harm, error) {
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
		edits []edit
		words []string
	}
	for _, side := range sides {
		list, err := p.recordings(side)
		if err != nil {
			return nil, err
		}
		var places []place
		for _, r := range list {
			for _, call := range r.calls() {
				var visit func(n *node)
				visit = func(n *node) {
					if dtype := n.get("dtype"); dtype != nil && floating(string(r.text[dtype.from:dtype.to])) && n.get("Max") != nil {
						var edits []edit
						for _, key := range statisticKeys {
							if v := n.get(key); v != nil && string(r.text[v.from:v.to]) != by && !zero(string(r.text[v.from:v.to])) {
								edits = append(edits, edit{v.from, v.to, by})
							}
						}
						if by == "null" && (n.get("data_name") != nil || n.get("md5") != nil) {
							edits = nil // not recorded, as of some types: the elements, or checksums, decide
						}
						if len(edits) > 0 {
							places = append(places, place{r, edits, []string{call.key}})
						}
						return
					}
					for _, v := range n.inner {
						visit(v)
					}
				}
				if p.expects(side, r, call.key, "") {
					visit(call)
				}
			}
		}
		if len(places) == 0 {
			return nil, nil
		}
		if where == "one" {
			places = places[p.rng.IntN(len(places)):][:1]
			d.what += ", of " + places[0].words[0] + " in " + places[0].r.path
		}
		edits := map[*callsFile][]edit{}
		for _, x := range places {
			edits[x.r] = append(edits[x.r], x.edits...)
			d.names = append(d.names, x.words)
			d.tensors++
		}
		for r, e := range edits {
			if err := p.write(r.path, edited(r.text, e)); err != nil {
				return nil, err
			}
		}
	}
	if where == "both" && by == "0" {
		d.how, d.names, d.closed = damaged, nil, "nothing is left that could differ"
	}
	if by == "null" { // not recorded, or not finite
		d.how = missing
	}
	return d, nil
}

func floating(dtype string) bool { return strings.Contains(strings.ToLower(dtype), "float") }

func zero(text string) bool { return strings.Trim(text, "0.-") == "" || text == "null" }

// checksums makes those of tensors nothing.
func checksums(p *patient, sides int) (*harm, error) {
	by := []string{`""`, `"N/A"`, `null`}[p.rng.IntN(3)]
	first := p.side()
	d := &harm{how: damaged, what: fmt.Sprintf("checksums of %d sides to %s", sides, by)}
	for k := range sides {
		list, err := p.recordings((first + k) % 2)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			var edits []edit
			for _, call := range r.calls() {
				before := len(edits)
				var visit func(n *node)
				visit = func(n *node) {
					if v := n.get("md5"); v != nil {
						edits = append(edits, edit{v.from, v.to, by})
					}
					for _, v := range n.inner {
						visit(v)
					}
				}
				visit(call)
				if len(edits) > before {
					d.names = append(d.names, []string{call.key})
					d.tensors += len(edits) - before
				}
			}
			if len(edits) == 0 {
				continue
			}
			if err := p.write(r.path, edited(r.text, edits)); err != nil {
				return nil, err
			}
		}
	}
	if d.tensors == 0 {
		return nil, nil
	}
	return d, nil
}
