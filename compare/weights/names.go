package weights

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"precision/internal/lazy"
)

// Wrappers are what frameworks put in front of, or between, the names of a network: DistributedDataParallel,
// torch.compile, FSDP, activation checkpointing, peft, Megatron's Float16Module.
var wrappers = strings.NewReplacer("_orig_mod.", "", "_fsdp_wrapped_module.", "", "_checkpoint_wrapped_module.", "", "base_model.model.", "", ".base_layer.", ".")

var wrapped = lazy.Regexp(`^(?:module\.|model_state_dict\.|state_dict\.)+`)

// Engines are other names of the tensors that Hugging Face's files call as on the right: those of Megatron-core, of vLLM's fused
// experts, of transformers 5 in memory, and of Mixtral's files. The first that fits is taken of each group, in this order.
var engines = []struct {
	from func() *regexp.Regexp
	to   string
}{
	{lazy.Regexp(`^decoder\.layers\.`), "model.layers."},
	{lazy.Regexp(`^layers\.(\d+)\.`), "model.layers.$1."},
	{lazy.Regexp(`^(?:decoder\.final_layernorm|norm)\.`), "model.norm."},
	{lazy.Regexp(`^(?:embedding\.word_embeddings|embed_tokens)\.`), "model.embed_tokens."},
	{lazy.Regexp(`^output_layer\.`), "lm_head."},
	{lazy.Regexp(`\.self_attention\.linear_qkv\.layer_norm_`), ".input_layernorm."},
	{lazy.Regexp(`\.mlp\.linear_fc1\.layer_norm_`), ".post_attention_layernorm."},
	{lazy.Regexp(`\.pre_mlp_layernorm\.`), ".post_attention_layernorm."},
	{lazy.Regexp(`\.self_attention\.linear_qkv\.`), ".self_attn.qkv_proj."},
	{lazy.Regexp(`\.self_attention\.linear_proj\.`), ".self_attn.o_proj."},
	{lazy.Regexp(`\.self_attention\.([qk])_layernorm\.`), ".self_attn.${1}_norm."},
	{lazy.Regexp(`\.(?:mlp|block_sparse_moe)\.router\.`), ".mlp.gate."},
	{lazy.Regexp(`\.mlp\.shared_experts\.linear_fc1\.`), ".mlp.shared_experts.gate_up_proj."},
	{lazy.Regexp(`\.mlp\.shared_experts\.linear_fc2\.`), ".mlp.shared_experts.down_proj."},
	{lazy.Regexp(`\.mlp\.experts\.(?:local_experts\.)?(\d+)\.linear_fc1\.`), ".mlp.experts.$1.gate_up_proj."},
	{lazy.Regexp(`\.mlp\.experts\.(?:local_experts\.)?(\d+)\.linear_fc2\.`), ".mlp.experts.$1.down_proj."},
	{lazy.Regexp(`\.mlp\.experts\.linear_fc1\.(weight|bias)(\d+)$`), ".mlp.experts.$2.gate_up_proj.$1"},
	{lazy.Regexp(`\.mlp\.experts\.linear_fc2\.(weight|bias)(\d+)$`), ".mlp.experts.$2.down_proj.$1"},
	{lazy.Regexp(`\.mlp\.linear_fc1\.`), ".mlp.gate_up_proj."},
	{lazy.Regexp(`\.mlp\.linear_fc2\.`), ".mlp.down_proj."},
	{lazy.Regexp(`\.block_sparse_moe\.`), ".mlp."},
	{lazy.Regexp(`\.experts\.w13_(weight|bias)$`), ".experts.gate_up_proj.$1"},
	{lazy.Regexp(`\.experts\.w2_(weight|bias)$`), ".experts.down_proj.$1"},
	{lazy.Regexp(`\.experts\.(gate_up_proj|down_proj)$`), ".experts.$1.weight"},
	{lazy.Regexp(`\.experts\.(\d+)\.w1\.`), ".experts.$1.gate_proj."},
	{lazy.Regexp(`\.experts\.(\d+)\.w3\.`), ".experts.$1.up_proj."},
	{lazy.Regexp(`\.experts\.(\d+)\.w2\.`), ".experts.$1.down_proj."},
}

// Name is what Hugging Face's files call a tensor of a decoder, whatever trainer or engine named it. Names that no rule knows
// stay as they are, without what wrappers add.
func Name(name string) string {
	name = wrapped().ReplaceAllString(wrappers.Replace(name), "")
	for _, e := range engines {
		name = e.from().ReplaceAllString(name, e.to)
	}
	return name
}

// foreign are the names of TensorFlow and MindSpore for what PyTorch calls as on the right.
var foreign = map[string]string{"kernel": "weight", "depthwise_kernel": "weight", "gamma": "weight", "embeddings": "weight", "embedding_table": "weight",
	"beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}

// last is the last word of a name, as what is left of it ends with / or a point.
func last(name string) (head, word string) {
	at := strings.LastIndexAny(name, "/.") + 1
	return name[:at], name[at:]
}

// translate gives the parts of a network of TensorFlow or MindSpore the names of PyTorch, if the other side has these, and tells which
// of them are kernels, by the word they were called. Nothing is renamed where two would have one name, or none a partner, be it below a key.
func translate(list, other []*part) map[*part]string {
	isForeign := func(p *part) bool {
		_, word := last(p.name)
		return foreign[word] != ""
	}
	if !slices.ContainsFunc(list, isForeign) || slices.ContainsFunc(other, isForeign) {
		return nil
	}
	theirs, met := map[string]bool{}, false
	for _, p := range other {
		_, rest, _ := strings.Cut(p.name, ".")
		theirs[p.name], theirs[rest] = true, true
	}
	delete(theirs, "")
	names, seen, kernels := make([]string, len(list)), map[string]bool{}, map[*part]string{}
	for i, p := range list {
		head, word := last(p.name)
		names[i] = Name(strings.ReplaceAll(head, "/", ".") + cmp.Or(foreign[word], word))
		if seen[names[i]] {
			return nil
		}
		_, rest, _ := strings.Cut(names[i], ".")
		met = met || theirs[names[i]] || theirs[rest]
		if seen[names[i]] = true; strings.HasSuffix(word, "kernel") {
			kernels[p] = word
		}
	}
	if !met {
		return nil
	}
	for i, p := range list {
		p.name = names[i]
	}
	return kernels
}

// reorder gives kernels of TensorFlow, which have their inputs and outputs last, the order of axes that PyTorch keeps them in, which has
// them first, the outputs before. If more of those whose shapes tell fit as they are, all stay so.
func reorder(kernels map[*part]string, other map[string]*part) {
	fit, plain := map[*part]*part{}, 0
	for p, word := range kernels {
		q, rank := cmp.Or(p.mate, other[p.name]), len(p.shape)
		if q == nil || rank < 2 {
			continue
		}
		axes := []int{rank - 1, rank - 2}
		if word == "depthwise_kernel" {
			axes = []int{rank - 2, rank - 1}
		}
		for i := range rank - 2 {
			axes = append(axes, i)
		}
		t, err := p.t.Permuted(axes...)
		if err != nil {
			continue
		}
		shape := t.Shape
		if word == "depthwise_kernel" { // outputs of a channel are with the channel
			shape = append([]int64{shape[0] * shape[1], 1}, shape[2:]...)
		}
		as, is := slices.Equal(shape, q.shape), slices.Equal(p.shape, q.shape)
		switch {
		case as:
			fit[p] = &part{t: t, shape: shape}
			if !is {
				plain--
			}
		case is:
			plain++
		}
	}
	for p, r := range fit {
		if plain <= 0 {
			p.t, p.shape = r.t, r.shape
		}
	}
}

var layerOf = lazy.Regexp(`^(.*\blayers\.\d+)\.`)

// layer is the layer in a name, "model.layers.3", or "".
func layer(name string) string {
	if m := layerOf().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// beheaded renames the parts of a checkpoint that keeps the network below a key, as {"model": …, "epoch": 3} does, if more of
// them have a partner without that key than with it.
func beheaded(list []*part, own, other map[string]*part) bool {
	found, plain := map[string]int{}, 0
	for _, p := range list {
		head, rest, _ := strings.Cut(p.name, ".")
		if other[p.name] != nil {
			plain++
		}
		if name := Name(rest); other[name] != nil && own[name] == nil {
			found[head]++
		}
	}
	for head, n := range found {
		if n <= plain || 2*n <= len(list) {
			continue
		}
		for _, p := range list {
			if rest, ok := strings.CutPrefix(p.name, head+"."); ok && own[Name(rest)] == nil {
				p.name = Name(rest)
			}
		}
		return true
	}
	return false
}

var punctuation = lazy.Regexp(`[^\pL\pN]+`)

// plainly names parts as files are called, which hold a/b:0 as a_b; false, and nothing is renamed, where two would have one name.
func plainly(list []*part) bool {
	plain, seen := make([]string, len(list)), map[string]bool{}
	for i, p := range list {
		plain[i] = punctuation().ReplaceAllString(strings.TrimSuffix(p.name, ":0"), "_")
		if seen[plain[i]] {
			return false
		}
		seen[plain[i]] = true
	}
	for i, p := range list {
		p.name = plain[i]
	}
	return true
}
