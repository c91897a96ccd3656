package weights

import (
	"regexp"
	"strings"
)

// Wrappers are what frameworks put in front of, or between, the names of a network: DistributedDataParallel,
// torch.compile, FSDP, activation checkpointing, peft, Megatron's Float16Module.
var wrappers = strings.NewReplacer("_orig_mod.", "", "_fsdp_wrapped_module.", "", "_checkpoint_wrapped_module.", "", "base_model.model.", "", ".base_layer.", ".")

var wrapped = regexp.MustCompile(`^(?:module\.|model_state_dict\.|state_dict\.)+`)

// Engines are other names of the tensors that Hugging Face's files call as on the right: those of Megatron-core, of vLLM's fused
// experts, of transformers 5 in memory, and of Mixtral's files. The first that fits is taken of each group, in this order.
var engines = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^decoder\.layers\.`), "model.layers."},
	{regexp.MustCompile(`^layers\.(\d+)\.`), "model.layers.$1."},
	{regexp.MustCompile(`^(?:decoder\.final_layernorm|norm)\.`), "model.norm."},
	{regexp.MustCompile(`^(?:embedding\.word_embeddings|embed_tokens)\.`), "model.embed_tokens."},
	{regexp.MustCompile(`^output_layer\.`), "lm_head."},
	{regexp.MustCompile(`\.self_attention\.linear_qkv\.layer_norm_`), ".input_layernorm."},
	{regexp.MustCompile(`\.mlp\.linear_fc1\.layer_norm_`), ".post_attention_layernorm."},
	{regexp.MustCompile(`\.pre_mlp_layernorm\.`), ".post_attention_layernorm."},
	{regexp.MustCompile(`\.self_attention\.linear_qkv\.`), ".self_attn.qkv_proj."},
	{regexp.MustCompile(`\.self_attention\.linear_proj\.`), ".self_attn.o_proj."},
	{regexp.MustCompile(`\.self_attention\.([qk])_layernorm\.`), ".self_attn.${1}_norm."},
	{regexp.MustCompile(`\.(?:mlp|block_sparse_moe)\.router\.`), ".mlp.gate."},
	{regexp.MustCompile(`\.mlp\.shared_experts\.linear_fc1\.`), ".mlp.shared_experts.gate_up_proj."},
	{regexp.MustCompile(`\.mlp\.shared_experts\.linear_fc2\.`), ".mlp.shared_experts.down_proj."},
	{regexp.MustCompile(`\.mlp\.experts\.(?:local_experts\.)?(\d+)\.linear_fc1\.`), ".mlp.experts.$1.gate_up_proj."},
	{regexp.MustCompile(`\.mlp\.experts\.(?:local_experts\.)?(\d+)\.linear_fc2\.`), ".mlp.experts.$1.down_proj."},
	{regexp.MustCompile(`\.mlp\.experts\.linear_fc1\.(weight|bias)(\d+)$`), ".mlp.experts.$2.gate_up_proj.$1"},
	{regexp.MustCompile(`\.mlp\.experts\.linear_fc2\.(weight|bias)(\d+)$`), ".mlp.experts.$2.down_proj.$1"},
	{regexp.MustCompile(`\.mlp\.linear_fc1\.`), ".mlp.gate_up_proj."},
	{regexp.MustCompile(`\.mlp\.linear_fc2\.`), ".mlp.down_proj."},
	{regexp.MustCompile(`\.block_sparse_moe\.`), ".mlp."},
	{regexp.MustCompile(`\.experts\.w13_(weight|bias)$`), ".experts.gate_up_proj.$1"},
	{regexp.MustCompile(`\.experts\.w2_(weight|bias)$`), ".experts.down_proj.$1"},
	{regexp.MustCompile(`\.experts\.(gate_up_proj|down_proj)$`), ".experts.$1.weight"},
	{regexp.MustCompile(`\.experts\.(\d+)\.w1\.`), ".experts.$1.gate_proj."},
	{regexp.MustCompile(`\.experts\.(\d+)\.w3\.`), ".experts.$1.up_proj."},
	{regexp.MustCompile(`\.experts\.(\d+)\.w2\.`), ".experts.$1.down_proj."},
}

// Name is what Hugging Face's files call a tensor of a decoder, whatever trainer or engine named it. Names that no rule knows
// stay as they are, without what wrappers add.
func Name(name string) string {
	name = wrapped.ReplaceAllString(wrappers.Replace(name), "")
	for _, e := range engines {
		name = e.from.ReplaceAllString(name, e.to)
	}
	return name
}

var layerOf = regexp.MustCompile(`^(.*\blayers\.\d+)\.`)

// layer is the layer in a name, "model.layers.3", or "".
func layer(name string) string {
	if m := layerOf.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

var punctuation = regexp.MustCompile(`[^\pL\pN]+`)

// plainly names parts as files are called, which hold a/b:0 as a_b; false, and nothing is renamed, where two would have one name.
func plainly(list []*part) bool {
	plain, seen := make([]string, len(list)), map[string]bool{}
	for i, p := range list {
		plain[i] = punctuation.ReplaceAllString(strings.TrimSuffix(p.name, ":0"), "_")
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
