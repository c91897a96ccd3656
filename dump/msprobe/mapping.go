package msprobe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"precision/internal/must"
	"precision/internal/plainfile"
)

// Mapping is a mapping file of msprobe: what belongs together under other names. Of its
// lists one is filled; which of them is found by the content of the file.
type Mapping struct {
	// File is where it was read from.
	File string
	// Data are pairs of tensors: the full names of both.
	Data []NamePair
	// Cells are pairs of modules, {path}.{Class}, or of parts of their names.
	Cells []NamePair
	// APIs are pairs of functions, from a list or, as in msprobe's ms_to_pt_api.yaml, of names alone.
	APIs []APIPair
	// Layers are the children of a module under both names.
	Layers []LayerPairs
}

// NamePair is a name of the judged side and that of the golden one.
type NamePair struct {
	Left, Right string
	Line        int
}

// APIPair are functions that do the same. The lists have the same length on both sides;
// what is not in them has no partner. A list that is nil says nothing.
type APIPair struct {
	NamePair
	Args, Outputs, Parameters, Gradients [2][]string
}

// Bare tells a pair that is of names alone.
func (p *APIPair) Bare() bool {
	return p.Args[0] == nil && p.Outputs[0] == nil && p.Parameters[0] == nil && p.Gradients[0] == nil
}

// LayerPairs are the children of modules of a class: paths of attributes, and functions.
type LayerPairs struct {
	Class    string
	Children []NamePair
}

// TopLayer is the class that stands for the whole network in a layer mapping.
const TopLayer = "TopLayer"

// mostMapping bounds the size of a mapping file: a line for each of 300 000 tensors.
const mostMapping = 64 << 20

// ReadMapping reads a mapping file: of tensors (data mapping), modules (cell mapping),
// functions (api mapping) or the children of modules (layer mapping).
func ReadMapping(path string) (*Mapping, error) {
	return readMapping(path, "a mapping file of msprobe", parseMapping)
}

func readMapping(path, what string, parse func(top *yaml.Node) *Mapping) (*Mapping, error) {
	text, err := plainfile.ReadFile(path, what, mostMapping)
	if err != nil {
		return nil, err
	}
	m, err := must.Of(func() *Mapping { return parse(document(text)) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.File = path
	return m, nil
}

const wantedMapping = "expected a mapping of tensors, modules or layers, or a list of functions"

// ReadNames reads a mapping file of other names than those of calls, as of weights: each line is a pair of Cells.
func ReadNames(path string) (*Mapping, error) {
	return readMapping(path, "a mapping of names", func(top *yaml.Node) *Mapping { return &Mapping{Cells: pairsIn(top)} })
}

// document is what a file holds.
func document(text []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := d.Decode(&doc)
	must.Not(errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0, "found nothing, %s", wantedMapping)
	must.Do(err)
	err = d.Decode(&more)
	must.Not(!errors.Is(err, io.EOF), "line %d: found a second document, expected one", max(more.Line, doc.Line))
	top := doc.Content[0]
	must.Not(len(top.Content) == 0, "line %d: found %s, %s", top.Line, described{top}, wantedMapping)
	return top
}

func parseMapping(top *yaml.Node) *Mapping {
	m := &Mapping{}
	if top.Kind == yaml.SequenceNode {
		m.functions(top)
		return m
	}
	must.Not(top.Kind != yaml.MappingNode, "line %d: found %s, %s", top.Line, described{top}, wantedMapping)
	if top.Content[1].Kind == yaml.MappingNode {
		m.layers(top)
		return m
	}
	list := pairsIn(top)
	switch {
	case tensorName(list[0].Left):
		m.Data = list
	case !slices.ContainsFunc(list, func(p NamePair) bool { return !functionName(p.Left) || !functionName(p.Right) }):
		for _, p := range list {
			m.APIs = append(m.APIs, APIPair{NamePair: p})
		}
		return m
	default:
		m.Cells = list
	}
	for _, p := range list {
		if tensorName(p.Left) != (m.Data != nil) || tensorName(p.Right) != (m.Data != nil) {
			what := [2]string{"modules", "a tensor"}
			if m.Data != nil {
				what = [2]string{"tensors", "the name of none"}
			}
			must.Not(true, "line %d: found %s: %s, in a mapping of %s one is %s", p.Line, p.Left, p.Right, what[0], what[1])
		}
	}
	return m
}

// tensorName tells whether a name is that of a value of a call.
func tensorName(s string) bool {
	for i := len(s); i > 0; i = strings.LastIndexByte(s[:i], '.') {
		if ParseName(s[:i]).Form != Other {
			return true
		}
	}
	return false
}

// functionName tells whether a name is that of a function, without a number: Mint.cos.
func functionName(s string) bool {
	switch prefix, rest, _ := strings.Cut(s, "."); prefix {
	case "Functional", "Tensor", "Torch", "Mint", "MintFunctional", "Primitive", "Aten", "NPU", "MindSpeed", "VF", "Distributed":
		return rest != ""
	}
	return false
}

// pairsIn reads a mapping of texts, every key once.
func pairsIn(n *yaml.Node) (list []NamePair) {
	must.Not(n.Kind != yaml.MappingNode, "line %d: found %s, expected a mapping of names", n.Line, described{n})
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p := NamePair{Line: n.Content[i].Line}
		for k, into := range []*string{&p.Left, &p.Right} {
			c := n.Content[i+k]
			must.Not(c.Kind != yaml.ScalarNode || c.Value == "" || c.Tag == "!!null", "line %d: found %s, expected a name", c.Line, described{c})
			*into = c.Value
		}
		must.Not(seen[p.Left] > 0, "line %d: found %s again, it is already on line %d", p.Line, p.Left, seen[p.Left])
		seen[p.Left] = p.Line
		list = append(list, p)
	}
	return list
}

func (m *Mapping) layers(top *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key := top.Content[i]
		list := pairsIn(top.Content[i+1])
		must.Not(key.Kind != yaml.ScalarNode || key.Value == "" || seen[key.Value], "line %d: found %s, expected the name of a class, each once", key.Line, described{key})
		seen[key.Value] = true
		m.Layers = append(m.Layers, LayerPairs{Class: key.Value, Children: list})
	}
}

func (m *Mapping) functions(top *yaml.Node) {
	for _, n := range top.Content {
		must.Not(n.Kind != yaml.MappingNode, "line %d: found %s, expected a mapping with ms_api and pt_api", n.Line, described{n})
		p := APIPair{NamePair: NamePair{Line: n.Line}}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, v := n.Content[i], n.Content[i+1]
			list := map[string]*[]string{
				"ms_args": &p.Args[0], "pt_args": &p.Args[1], "ms_outputs": &p.Outputs[0], "pt_outputs": &p.Outputs[1],
				"ms_output": &p.Outputs[0], "pt_output": &p.Outputs[1],
				"ms_parameters": &p.Parameters[0], "pt_parameters": &p.Parameters[1],
				"ms_parameters_grad": &p.Gradients[0], "pt_parameters_grad": &p.Gradients[1],
			}[key.Value]
			switch {
			case key.Value == "ms_api" && v.Kind == yaml.ScalarNode:
				p.Left = v.Value
			case key.Value == "pt_api" && v.Kind == yaml.ScalarNode:
				p.Right = v.Value
			default:
				must.Not(list == nil, "line %d: found %s: %s, expected ms_api, pt_api or a list of arguments, outputs or parameters", key.Line, described{key}, described{v})
				must.Not(v.Kind != yaml.SequenceNode, "line %d: found %s, expected a list", v.Line, described{v})
				*list = []string{}
				for _, c := range v.Content {
					must.Not(c.Kind != yaml.ScalarNode, "line %d: found %s, expected a number or name", c.Line, described{c})
					*list = append(*list, c.Value)
				}
			}
		}
		must.Not(p.Left == "" || p.Right == "", "line %d: found no ms_api or no pt_api", n.Line)
		for _, x := range [][2][]string{p.Args, p.Outputs, p.Parameters, p.Gradients} {
			must.Not(len(x[0]) != len(x[1]), "line %d: found lists of %d and %d for %s and %s, expected the same length", n.Line, len(x[0]), len(x[1]), p.Left, p.Right)
		}
		m.APIs = append(m.APIs, p)
	}
}

// described says what a node is, for messages.
type described struct{ *yaml.Node }

func (n described) String() string {
	switch n.Kind {
	case yaml.ScalarNode:
		return fmt.Sprintf("%.60q", n.Value)
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	return "a mapping"
}
