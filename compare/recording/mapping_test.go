package recording_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"precision/compare/engine"
	"precision/compare/recording"
	"precision/compare/result"
	"precision/compare/verdict"
	"precision/dump/msprobe"
)

// mapped compares two recordings with a mapping file of the given text.
func mapped(t *testing.T, left, right, text string) *verdict.Judged {
	t.Helper()
	path := filepath.Join(t.TempDir(), "map.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := msprobe.ReadMapping(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := recording.Open(left, right, recording.Options{Mapping: m})
	if err != nil {
		t.Fatal(err)
	}
	out, err := engine.Run(context.Background(), s, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(out.Table, verdict.Options{})
}

// pairsBy lists the rows that were paired in one way: names and places of both sides.
func pairsBy(j *verdict.Judged, how result.How) (list []string) {
	for i := range j.Table.Rows {
		if r := &j.Table.Rows[i]; r.Recorded != nil && r.Recorded.How == how && r.Role != result.Whole {
			list = append(list, fmt.Sprint(r.Left.Names, " = ", r.Right.Names, " ", r.Recorded.Place))
		}
	}
	return list
}

func unusedEntries(j *verdict.Judged) (list []string) {
	for _, w := range j.Table.Meta.Pairing.Why {
		if w.Kind == result.MappingUnused {
			list = append(list, fmt.Sprint(w.Args[0], " of ", w.Args[1], ": ", w.Args[3]))
		}
	}
	return list
}

// seeded is a tensor whose statistics depend on the seed; equal seeds are equal tensors, negative ones NaN.
func seeded(seed int, shape string) string {
	if seed < 0 {
		return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": %s, "Max": NaN, "Min": NaN, "Mean": NaN, "Norm": NaN, "requires_grad": false}`, shape)
	}
	s := float64(seed)
	return fmt.Sprintf(`{"type": "torch.Tensor", "dtype": "torch.float32", "shape": %s, "Max": %v, "Min": %v, "Mean": %v, "Norm": %v, "requires_grad": false}`,
		shape, 2+s, -1.5-s, 0.1*s, 11+3*s)
}

// token is a tensor as lines of [entries] have it: a seed, and a checksum behind a #; x in place of a seed is one of
// which a checksum is all that was recorded.
func token(text string) string {
	seed, sum, hashed := strings.Cut(text, "#")
	if seed == "x" {
		return `{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 6], "md5": "` + sum + `", "requires_grad": false}`
	}
	n := 0
	fmt.Sscan(seed, &n)
	tensor := seeded(n, "[4, 6]")
	if hashed {
		tensor = strings.Replace(tensor, `"requires_grad"`, `"md5": "`+sum+`", "requires_grad"`, 1)
	}
	return tensor
}

// entries writes a recording of calls, each a line "name | inputs | outputs" of tokens. An input
// may have a name, out=7#0000000a, and is a number if it begins with +: beta=+0.
func entries(t *testing.T, construct string, lines ...string) string {
	t.Helper()
	var list []string
	for _, l := range lines {
		f := strings.Split(l+" ", "| ")
		var in, named, out []string
		for _, text := range strings.Fields(f[1]) {
			key, value, has := strings.Cut(text, "=")
			switch number, is := strings.CutPrefix(value, "+"); {
			case has && is:
				named = append(named, fmt.Sprintf(`"%s": {"type": "int", "value": %s}`, key, number))
			case has:
				named = append(named, fmt.Sprintf(`"%s": %s`, key, token(value)))
			default:
				in = append(in, token(text))
			}
		}
		for _, text := range strings.Fields(f[2]) {
			out = append(out, token(text))
		}
		inputs, kwargs := "input_args", fmt.Sprintf(`"input_kwargs": {%s}, `, strings.Join(named, ", "))
		if strings.Contains(f[0], ".backward") {
			inputs, kwargs = "input", ""
		}
		list = append(list, fmt.Sprintf(`"%s": {"%s": [%s], %s"output": [%s]}`, strings.TrimSpace(f[0]), inputs, strings.Join(in, ", "), kwargs, strings.Join(out, ", ")))
	}
	dir := filepath.Join(t.TempDir(), "step0", "rank0")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := dumpOf("mix", list)
	if err := os.WriteFile(filepath.Join(dir, "dump.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if construct != "" {
		if err := os.WriteFile(filepath.Join(dir, "construct.json"), []byte(construct), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDataMapping: tensors are paired as the file says, one call with one or with
// several; what it does not name goes on as without it.
func TestDataMapping(t *testing.T) {
	left := entries(t, "", "Functional.linear.0.forward | 1 2 | 3", "NPU.mine.0.forward | 3 4 | 7", "NPU.other.0.forward | 7 8 | 9")
	right := entries(t, "", "Functional.linear.0.forward | 1 2 | 3", "Torch.first.0.forward | 4 3 | 5", "Torch.second.0.forward | 5 6 | 7", "Torch.swapped.0.forward | 8 7 | 10")
	j := mapped(t, left, right, `NPU.mine.0.forward.input.0: Torch.first.0.forward.input.1
NPU.mine.0.forward.input.1: Torch.first.0.forward.input.0
NPU.mine.0.forward.output.0: Torch.second.0.forward.output.0
NPU.other.0.forward.input.0: Torch.swapped.0.forward.input.1
NPU.other.0.forward.output.0: Torch.swapped.0.forward.output.0
NPU.gone.0.forward.output.0: Torch.swapped.0.forward.output.0
`)
	both := "NPU.mine.0.forward = Torch.first.0.forward, Torch.second.0.forward "
	one := "NPU.other.0.forward = Torch.swapped.0.forward "
	want := []string{both + "input.0", both + "input.1", both + "output.0", one + "input.0", one + "input.1", one + "output.0", one + "input.0 (right)"}
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, want) {
		t.Errorf("mapped are %q", got)
	}
	if got := unusedEntries(j); !slices.Equal(got, []string{"1 of 6: NPU.gone.0.forward.output.0: Torch.swapped.0.forward.output.0"}) {
		t.Errorf("not used are %q", got)
	}
	if got := rootNames(j); !slices.Equal(got, []string{"NPU.other.0.forward"}) {
		t.Errorf("roots %v", got)
	}
	// The other way round the parts are on the left.
	j = mapped(t, right, left, `Torch.first.0.forward.input.1: NPU.mine.0.forward.input.0
Torch.second.0.forward.output.0: NPU.mine.0.forward.output.0
`)
	both = "Torch.first.0.forward, Torch.second.0.forward = NPU.mine.0.forward "
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, []string{both + "input.0", both + "output.0", both + "input.1"}) {
		t.Errorf("mapped from the other side are %q", got)
	}
}

// TestCellMapping: modules under other names are pairs, by a whole name or a part of it.
func TestCellMapping(t *testing.T) {
	left := entries(t, "", "Cell.net.fc1.Dense.forward.0 | 1 | 2", "Cell.net.act.Swish.forward.0 | 2 | 3", "Cell.net.fc1.Dense.forward.1 | 3 | 4")
	right := entries(t, "", "Module.model.lin.Linear.forward.0 | 1 | 2", "Module.model.act.SiLU.forward.0 | 2 | 3", "Module.model.lin.Linear.forward.1 | 3 | 5")
	j := mapped(t, left, right, "Cell.net.fc1.Dense: Module.model.lin.Linear\nnet.act.Swish: model.act.SiLU\n")
	want := []string{"Cell.net.fc1.Dense.forward.0 = Module.model.lin.Linear.forward.0 input.0", "Cell.net.fc1.Dense.forward.0 = Module.model.lin.Linear.forward.0 output.0",
		"Cell.net.act.Swish.forward.0 = Module.model.act.SiLU.forward.0 input.0", "Cell.net.act.Swish.forward.0 = Module.model.act.SiLU.forward.0 output.0",
		"Cell.net.fc1.Dense.forward.1 = Module.model.lin.Linear.forward.1 input.0", "Cell.net.fc1.Dense.forward.1 = Module.model.lin.Linear.forward.1 output.0"}
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, want) || len(unusedEntries(j)) > 0 {
		t.Errorf("mapped are %q, not used %q", got, unusedEntries(j))
	}
	if got := rootNames(j); !slices.Equal(got, []string{"Cell.net.fc1.Dense.forward.1"}) {
		t.Errorf("roots %v", got)
	}
	j = mapped(t, left, right, "net: model\nfc1.Dense: lin.Linear\nSwish: SiLU\n")
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, want) || len(unusedEntries(j)) > 0 {
		t.Errorf("by parts mapped are %q, not used %q", got, unusedEntries(j))
	}
}

// TestAPIMapping: functions under other names are pairs, with their arguments in the order
// that the file gives; an extra call shifts none.
func TestAPIMapping(t *testing.T) {
	left := entries(t, "", "Mint.where.0.forward | 1 2 3 | 4", "Mint.where.1.forward | 4 5 6 | 7", "Mint.where.2.forward | 7 8 9 | 10")
	right := entries(t, "", "Torch.select.0.forward | 2 1 9 | 4", "Torch.select.1.forward | 8 7 9 | 10")
	j := mapped(t, left, right, "- ms_api: Mint.where\n  pt_api: Torch.select\n  ms_args: [0, 1]\n  pt_args: [1, 0]\n  ms_outputs: [0]\n  pt_outputs: [0]\n- {ms_api: Mint.gone, pt_api: Torch.gone}\n")
	var want []string
	for _, p := range []string{"Mint.where.0.forward = Torch.select.0.forward ", "Mint.where.2.forward = Torch.select.1.forward "} {
		want = append(want, p+"input.0", p+"input.1", p+"input.2", p+"output.0", p+"input.2 (right)")
	}
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, want) {
		t.Errorf("mapped are %q", got)
	}
	for i := range j.Table.Rows {
		if r := &j.Table.Rows[i]; r.Recorded != nil && r.Recorded.Both > 0 && r.Recorded.Same < r.Recorded.Both {
			t.Errorf("%s %s differs", r.Left.Names, r.Recorded.Place)
		}
	}
	if got := unusedEntries(j); !slices.Equal(got, []string{"1 of 2: Mint.gone: Torch.gone"}) {
		t.Errorf("not used are %q", got)
	}
}

// TestLayerMapping: the tree of modules is walked down with the names of either side.
func TestLayerMapping(t *testing.T) {
	left := entries(t, `{"Prim.norm.Rms.0.forward": "Cell.net.blocks.0.norm.FusedNorm.forward.0", "Prim.norm.Rms.1.forward": "Cell.net.blocks.1.norm.FusedNorm.forward.0",
		"Cell.net.blocks.0.norm.FusedNorm.forward.0": "Cell.net.blocks.0.Block.forward.0", "Cell.net.blocks.1.norm.FusedNorm.forward.0": "Cell.net.blocks.1.Block.forward.0",
		"Cell.net.blocks.0.Block.forward.0": null, "Cell.net.blocks.1.Block.forward.0": null}`,
		"Prim.norm.Rms.0.forward | 1 | 2", "Cell.net.blocks.0.norm.FusedNorm.forward.0 | 1 | 2", "Prim.norm.Rms.1.forward | 3 | 4", "Cell.net.blocks.1.norm.FusedNorm.forward.0 | 3 | 4")
	right := entries(t, `{"NPU.rms.0.forward": "Module.module.layers.1.input_norm.kernel.Kernel.forward.0", "Module.module.layers.1.input_norm.kernel.Kernel.forward.0": "Module.module.layers.1.input_norm.Norm.forward.0"}`,
		"NPU.rms.0.forward | 3 | 4", "Module.module.layers.1.input_norm.Norm.forward.0 | 3 | 4")
	j := mapped(t, left, right, "TopLayer:\n  net.blocks: module.layers\nBlock:\n  norm: input_norm\nFusedNorm:\n  Rms: kernel.rms\nGone:\n  a: b\n")
	var want []string
	for _, p := range []string{"Prim.norm.Rms.1.forward = NPU.rms.0.forward ", "Cell.net.blocks.1.norm.FusedNorm.forward.0 = Module.module.layers.1.input_norm.Norm.forward.0 "} {
		want = append(want, p+"input.0", p+"output.0")
	}
	if got := pairsBy(j, result.Mapped); !slices.Equal(got, want) {
		t.Errorf("mapped are %q", got)
	}
	if got := unusedEntries(j); !slices.Equal(got, []string{"1 of 4: a: b"}) {
		t.Errorf("not used are %q", got)
	}
}

// TestCrossFramework: a layer mapping of others, with parts of the recordings it is for.
func TestCrossFramework(t *testing.T) {
	const dir = real + "upstream/cross_framework/"
	text, err := os.ReadFile(dir + "layer_mapping.yaml")
	if err != nil {
		t.Skip("no recordings here")
	}
	j := mapped(t, dir+"mindspore_data", dir+"pytorch_data", string(text))
	got := map[string]string{}
	for i := range j.Table.Rows {
		if r := &j.Table.Rows[i]; r.Recorded != nil && r.Recorded.How == result.Mapped {
			got[r.Left.Names] = r.Right.Names
		}
	}
	const l, r = "Cell.network_with_loss.module.language_model.", "Module.module.module.language_model."
	for a, b := range map[string]string{
		"Mint.logical_or.0.forward":                                      "Tensor.__or__.0.forward",
		"Distributed.all_reduce.0.forward":                               "Distributed.all_reduce.0.forward",
		"Primitive.norm.RmsNorm.0.forward":                               "NPU.npu_rms_norm.0.forward",
		"Mint.cos.0.forward":                                             "Torch.cos.0.forward",
		"Functional.flash_attention_score.0.forward":                     "NPU.npu_fusion_attention.0.forward",
		"Functional.flash_attention_score.0.backward":                    "NPU.npu_fusion_attention.0.backward",
		l + "embedding.word_embeddings.VocabParallelEmbedding.forward.0": r + "embedding.word_embeddings.VocabParallelEmbedding.forward.0",
		l + "encoder.layers.0.ParallelTransformerLayer.forward.0":        r + "encoder.layers.0.ParallelTransformerLayer.forward.0",
		l + "encoder.layers.0.attention.ParallelAttention.forward.0":     r + "encoder.layers.0.self_attention.ParallelAttention.forward.0",
	} {
		if got[a] != b {
			t.Errorf("%s is paired with %q, expected %s", a, got[a], b)
		}
	}
	if u := unusedEntries(j); len(u) > 0 {
		t.Errorf("not used are %q", u)
	}
}
