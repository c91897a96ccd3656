package recording_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"precision/compare/result"
	"precision/compare/verdict"
)

// TestPairsInModules: calls that do the same with the same are pairs in the same module, and of one module
// by the gradients that come back; whichever order they are made in, nobody is accused.
func TestPairsInModules(t *testing.T) {
	// q, k and v reshape the same tensor; the gradients tell them apart.
	parts := map[string][]string{
		"q": {"Functional.linear.N.forward | 1 11 | 2", "Tensor.reshape.N.forward | 2 | 3"},
		"k": {"Functional.linear.N.forward | 1 12 | 2", "Tensor.reshape.N.forward | 2 | 3"},
		"v": {"Functional.linear.N.forward | 1 13 | 2", "Tensor.reshape.N.forward | 2 | 3"},
	}
	back := map[string][]string{
		"q": {"Tensor.reshape.N.backward | 31 | 32", "Functional.linear.N.backward | 32 | 33"},
		"k": {"Tensor.reshape.N.backward | 41 | 42", "Functional.linear.N.backward | 42 | 43"},
		"v": {"Tensor.reshape.N.backward | 51 | 52", "Functional.linear.N.backward | 52 | 53"},
	}
	record := func(order string, modules bool) string {
		var lines, gradients, construct []string
		for i, part := range strings.Split(order, "") {
			n := string(rune('0' + i))
			for _, l := range parts[part] {
				l = strings.ReplaceAll(l, ".N.", "."+n+".")
				lines = append(lines, l)
				name, _, _ := strings.Cut(l, " |")
				construct = append(construct, `"`+name+`": "Module.attn.`+part+`_proj.Linear.forward.0"`)
			}
			var list []string
			for _, l := range back[part] {
				list = append(list, strings.ReplaceAll(l, ".N.", "."+n+"."))
			}
			gradients = append(list, gradients...)
		}
		text := ""
		if modules {
			text = "{" + strings.Join(construct, ", ") + "}"
		}
		return entries(t, text, append(append(lines, "Functional.silu.0.forward | 61 | 62", "Functional.silu.1.forward | 63 | 64"), gradients...)...)
	}
	for _, modules := range []bool{true, false} {
		for _, order := range []string{"qkv", "kqv", "vqk", "vkq"} {
			j := judged(t, record(order, modules), record("qkv", modules))
			if j.Verdict != verdict.Good || len(j.Roots) > 0 {
				t.Errorf("%s, modules %v: %s with the roots %v", order, modules, j.Verdict, rootNames(j))
			}
			for i := range j.Table.Rows {
				r := &j.Table.Rows[i]
				if !strings.Contains(r.Op, "reshape") || r.Role != result.Output || !strings.HasSuffix(r.Op, "forward") {
					continue
				}
				left, right := order[r.Left.Names[15]-'0'], "qkv"[r.Right.Names[15]-'0']
				if left != right {
					t.Errorf("%s, modules %v: %s of %c is paired with %s of %c", order, modules, r.Left.Names, left, r.Right.Names, right)
				}
			}
		}
	}
}

// Of two calls that do the same with the same, one of which is gone on one side, the one that is left is that of its name.
func TestLikeOfItsName(t *testing.T) {
	lines := []string{"Functional.sigmoid.1.forward | 1 | 2", "Torch.add.2.forward | 1 2 | 3", "Functional.sigmoid.3.forward | 1 | 2", "Torch.sub.4.forward | 2 1 | 4"}
	less := entries(t, "", lines[0], lines[3])
	for i, list := range [][]string{lines, {lines[0], lines[2], lines[3]}} {
		j := judged(t, less, entries(t, "", list...))
		if names := strings.Join(j.Coverage.Lost.Names, " "); !strings.Contains(names, "sigmoid.3") || strings.Contains(names, "sigmoid.1") {
			t.Errorf("%d: %s is said to be missing", i, names)
		}
	}
}

// TestOutsideOfTheModule: what differs in a module that got the same was not made by a call of one side alone outside of it, though that may have
// got numbers like these.
func TestOutsideOfTheModule(t *testing.T) {
	x := sized(3, 0)
	module := func(name string, in, out string) string {
		return fmt.Sprintf(`"Module.%s.forward.0": {"input_args": [%s], "input_kwargs": {}, "output": [%s]}`, name, in, out)
	}
	network := func(off float64, gate string) string {
		calls := []string{module("emb.Embedding", sized(9, 0), x)}
		if gate != "" {
			calls = append(calls, module(gate, x, sized(1, 0)))
		}
		calls = append(calls, module("a.lin.Linear", sized(2, off), sized(4, off)), module("a.Attention", x, sized(4, off)))
		return files(t, map[string]string{"dump.json": dumpOf("L0", calls), "construct.json": `{"Module.emb.Embedding.forward.0": null, "Module.b.gate.Router.forward.0": null, "Module.a.gate.Router.forward.0": "Module.a.Attention.forward.0", "Module.a.lin.Linear.forward.0": "Module.a.Attention.forward.0", "Module.a.Attention.forward.0": null}`})
	}
	for gate, root := range map[string]string{"b.gate.Router": "Module.a.lin.Linear.forward.0", "a.gate.Router": "Module.a.gate.Router.forward.0"} {
		if got := rootNames(judged(t, network(0.1, gate), network(0, ""))); !slices.Equal(got, []string{root}) {
			t.Errorf("%s: roots %v, expected %s", gate, got, root)
		}
	}
}
