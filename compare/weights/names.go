package weights

import (
	"precision/internal/lazy"
	"regexp"
	"strings"
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
