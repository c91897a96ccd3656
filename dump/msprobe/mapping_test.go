package msprobe

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"precision/internal/must"
)

// TestMapping: the kind of a mapping file is found by what is in it.
func TestMapping(t *testing.T) {
	for _, c := range []struct {
		text string
		want Mapping
	}{
		{"Mint.cos.0.forward.input.0: Torch.cos.0.forward.input.0\nhidden.0.debug: h.0.debug\n", Mapping{Data: []NamePair{
			{"Mint.cos.0.forward.input.0", "Torch.cos.0.forward.input.0", 1}, {"hidden.0.debug", "h.0.debug", 2}}}},
		{"fc1.Dense: fc1.Linear\nnetwork: model\n", Mapping{Cells: []NamePair{{"fc1.Dense", "fc1.Linear", 1}, {"network", "model", 2}}}},
		{"Functional.abs: Torch.abs\nMint.cos: Torch.cos\n", Mapping{APIs: []APIPair{{NamePair: NamePair{"Functional.abs", "Torch.abs", 1}}, {NamePair: NamePair{"Mint.cos", "Torch.cos", 2}}}}},
		{"TopLayer:\n  net: module\n\nBlock:\n  attention: self_attention\n", Mapping{Layers: []LayerPairs{
			{"TopLayer", []NamePair{{"net", "module", 2}}}, {"Block", []NamePair{{"attention", "self_attention", 5}}}}}},
		{"- ms_api: Functional.where\n  pt_api: Torch.where\n  ms_args: [1, 0]\n  pt_args: [0, 1]\n", Mapping{APIs: []APIPair{
			{NamePair: NamePair{"Functional.where", "Torch.where", 1}, Args: [2][]string{{"1", "0"}, {"0", "1"}}}}}},
	} {
		path := filepath.Join(t.TempDir(), "map.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadMapping(path)
		c.want.File = path
		if err != nil || !reflect.DeepEqual(*m, c.want) {
			t.Errorf("%s: found %+v, %v", c.text, m, err)
		}
	}
}

// TestMappingErrors: what is no mapping is told with its line.
func TestMappingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "found nothing",
		"[]":                         "line 1: found a list",
		"{}":                         "found a mapping, expected a mapping of tensors",
		"just words":                 "line 1: found \"just words\"",
		"a: b\nc: [d]\n":             "line 2: found a list, expected a name",
		"a: b\na: c\n":               "line 2: found a again, it is already on line 1",
		"a: &x b\nc: *x\n":           "line 2: found an alias",
		"a.B: c.D\nx.0.debug: y":     "line 2: found x.0.debug: y, in a mapping of modules one is a tensor",
		"x.0.debug: y.0.debug\na: b": "line 2: found a: b, in a mapping of tensors one is the name of none",
		"A: {b: c}\nd: e":            "line 2: found \"e\", expected a mapping of names",
		"- ms_api: a":                "line 1: found no ms_api or no pt_api",
		"- ms_api: a\n  pt_api: b\n  ms_args: [0]": "line 1: found lists of 1 and 0 for a and b",
		"- ms_api: a\n  pt_api: b\n  words: [0]":   "line 3: found \"words\": a list, expected ms_api",
		"a: b\n---\nc: d\n":                        "a second document",
		"a: [":                                     "yaml: line 1",
	} {
		if _, err := must.Of(func() *Mapping { return parseMapping(document([]byte(text))) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
