"""rollout.py OUT [--seed N] [--only a,b] [--sizes JSON] [--longer N] [--vllm PYTHON SCRIPT]: trainers and inference engines, recorded by msprobe.

The trainer is a model of transformers with random weights, one step of a forward and backward of the padded or packed batch. The engine is
the same model with a cache, prefill and one token a step, or, for cases that begin with vllm, vLLM on a CPU in a Python of its own, run by the
script. OUT/<case>.<seed> has train, rollout, logp and weights, and answer.json: what a tool has to name (kind and places, as in cases of
NPU style); any judge of the generator in NPU call style reads it. peft has to be there for adapters. --sizes are entries of the
model's configuration in place of the small ones, --longer makes prompts so many times as long; nothing is walked back then.
"""
import argparse
import copy
import json
import os
import subprocess
import sys
import traceback

import numpy as np
import torch
import transformers as T
from msprobe.pytorch import PrecisionDebugger

torch.set_num_threads(1)
BASE = dict(vocab_size=320, hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=128, tie_word_embeddings=False, pad_token_id=0, bos_token_id=1, eos_token_id=2)
MOE = dict(head_dim=16, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=48, norm_topk_prob=True)
MODELS = {
    "llama": (T.LlamaForCausalLM, T.LlamaConfig, {}),
    "qwen2": (T.Qwen2ForCausalLM, T.Qwen2Config, {}),
    "qwen3": (T.Qwen3ForCausalLM, T.Qwen3Config, dict(head_dim=16)),
    "qwen3moe": (T.Qwen3MoeForCausalLM, T.Qwen3MoeConfig, MOE),
    "mixtral": (T.MixtralForCausalLM, T.MixtralConfig, dict(num_local_experts=4, num_experts_per_tok=2)),
    "deepseek": (T.DeepseekV3ForCausalLM, T.DeepseekV3Config, dict(
        num_key_value_heads=4, q_lora_rank=32, kv_lora_rank=32, qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16, n_routed_experts=8,
        num_experts_per_tok=2, n_group=1, topk_group=1, moe_intermediate_size=48, first_k_dense_replace=1, n_shared_experts=1)),
    "gemma2": (T.Gemma2ForCausalLM, T.Gemma2Config, dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=8)),
    "gemma3": (T.Gemma3ForCausalLM, T.Gemma3TextConfig, dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=8)),
}
L = "model.layers."
CASES = {}


def case(name, cls="harmless", kind="none", *places, **kw):
    CASES[name] = dict(cls=cls, kind=kind, places=list(places), **kw)


# What is done to the engine's model.
def modules(m, has):
    return [x for x in m.modules() if hasattr(x, has)]


def weight(m, name, f):
    p = dict(m.named_parameters())[name]
    with torch.no_grad():
        p.copy_(f(p.float()))


def eps(m, g):
    for x in m.modules():
        if type(x).__name__.endswith("RMSNorm"):
            setattr(x, "variance_epsilon" if hasattr(x, "variance_epsilon") else "eps", 1e-2)


def scale(m, g):
    for x in modules(m, "o_proj"):
        x.scaling *= 0.5


def theta(m, g):
    for x in m.modules():
        for n in [n for n in x._buffers if n.endswith("inv_freq")]:
            setattr(x, n, getattr(x, n) ** 1.5)


def stale(name, rel=0.02):
    return lambda m, g: weight(m, name, lambda p: p + rel * p.pow(2).mean().sqrt() * torch.randn(p.shape, generator=g))


def stale_all(m, g):
    for n, p in m.named_parameters():
        stale(n, 0.02)(m, g)


def step_before(m, g):
    for n, p in m.named_parameters():
        weight(m, n, lambda p: p + 1e-4 * torch.randn(p.shape, generator=g).sign())


def int8(m, g):
    for n, p in m.named_parameters():
        if p.dim() == 2 and "embed" not in n and "lm_head" not in n:
            s = p.float().abs().amax(1, keepdim=True) / 127
            weight(m, n, lambda p: torch.round(p / s) * s)


def act(f):
    def change(m, g):
        for x in modules(m, "act_fn"):
            x.act_fn = f
    return change


def swapped(m, g):
    a, b = (dict(m.named_parameters())[f"{L}1.mlp.{n}_proj.weight"] for n in ("gate", "up"))
    with torch.no_grad():
        c = a.clone()
        a.copy_(b)
        b.copy_(c)


def ones(name):
    return lambda m, g: weight(m, name, torch.ones_like)


def no_renorm(m, g):
    for x in modules(m, "norm_topk_prob"):
        x.norm_topk_prob = False


def no_shared(m, g):
    for x in modules(m, "shared_experts"):
        x.shared_experts.forward = torch.zeros_like


def no_choice_bias(m, g):
    for x in modules(m, "e_score_correction_bias"):
        x.e_score_correction_bias.zero_()


def routed_factor(m, g):
    for x in modules(m, "routed_scaling_factor"):
        x.routed_scaling_factor = 1.0


def experts_swapped(m, g):
    for n in ("gate_up_proj", "down_proj"):
        weight(m, f"{L}1.mlp.experts.{n}", lambda p: p[[1, 0] + list(range(2, len(p)))])


def no_softcap(m, g):
    m.config.final_logit_softcapping = None


def no_attention_cap(m, g):
    m.config.attn_logit_softcapping = None
    for x in modules(m, "attn_logit_softcapping"):
        x.attn_logit_softcapping = None


def window(n):
    def change(m, g):
        m.config.sliding_window = n
        if "sliding_attention" not in (getattr(m.config, "layer_types", None) or []):
            m.config.layer_types = None   # whose layers all have the window
        for x in modules(m, "sliding_window"):
            x.sliding_window = n
    return change


def qk_norm_lost(m, g):
    for x in modules(m, "k_norm"):
        x.k_norm.forward = lambda x: x


def norm_order(m, g):
    for x in m.modules():
        if type(x).__name__.endswith("RMSNorm"):
            x.forward = lambda h, x=x: (x.weight * (h.float() * torch.rsqrt(h.float().pow(2).mean(-1, keepdim=True) + x.variance_epsilon))).to(h.dtype)


def head32(m, g):
    m.lm_head.float()
    f = m.lm_head.forward
    m.lm_head.forward = lambda x: f(x.float())


def interleaved(m, g):
    mod = sys.modules[type(m).__module__]

    def half(x):
        y = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
        return y
    # The rotation is a function of the module that both sides have: the engine's only while it runs.
    m.while_running = (mod, "rotate_half", half)


def dropout(m, g):
    for x in modules(m, "attention_dropout"):
        x.attention_dropout = 0.1
    m.train()


def embed_scale(m, g):
    m.model.embed_tokens.embed_scale.fill_(1.0)


def no_bias(m, g):
    for x in modules(m, "q_proj"):
        with torch.no_grad():
            for p in (x.q_proj, x.k_proj, x.v_proj):
                p.bias.zero_()


def exchanged(a, b):
    def change(m, g):
        x, y = (dict(m.named_parameters())[n] for n in (a, b))
        with torch.no_grad():
            c = x.clone()
            x.copy_(y)
            y.copy_(c)
    return change


def untied(m, g):
    m.lm_head.weight = torch.nn.Parameter(m.lm_head.weight.detach().clone())
    stale("lm_head.weight", 0.05)(m, g)


def part_lost(m, g):
    f = m.model.layers[1].mlp.down_proj
    f.forward = lambda x: torch.nn.functional.linear(x[..., :x.shape[-1] // 2], f.weight[:, :x.shape[-1] // 2])


def weights_rolled(m, g):
    weight(m, f"{L}1.self_attn.o_proj.weight", lambda p: p.t().contiguous())


QKVO = [f"{L}1.self_attn.{n}_proj.weight" for n in "qkvo"]
for a in MODELS:
    case(a + "-clean")
case("llama-static", cache="static"); case("qwen3-static", cache="static"); case("gemma3-static", cache="static"); case("mixtral-static", cache="static")
case("llama-chunked", chunks=4); case("deepseek-chunked", chunks=4); case("qwen3moe-chunked", chunks=5)
case("llama-prefix", prefix=4); case("qwen3-prefix", prefix=4)
case("llama-lora", lora="merged"); case("qwen3-lora", lora="merged")
case("llama-eager", impl="eager"); case("mixtral-eager", impl="eager")
case("llama-tied", tied=True); case("llama-checkpointing", checkpointing=True); case("llama-packed", packed=True); case("qwen3moe-fp32", dtype="float32")
case("llama-fp32", dtype="float32"); case("llama-nograd", backward=False); case("qwen2-generate", generate=True)
case("llama-trainer32", master=True)

for a in ("llama", "qwen3", "gemma2", "mixtral"):
    case(a + "-eps", "harmful", "formula", "norm", "qk_norm", "post_norm", engine=eps)
case("deepseek-eps", "harmful", "formula", "norm", "latent_norm", engine=eps)
for a in ("llama", "qwen3", "gemma3", "deepseek", "qwen3moe"):
    case(a + "-scale", "harmful", "formula", "attn", engine=scale)
for a in ("llama", "mixtral", "deepseek", "gemma3"):
    case(a + "-theta", "harmful", "formula", "rope", "latent_kv", engine=theta)
case("llama-stale", "harmful", "weights", QKVO[3], engine=stale(QKVO[3]))
case("qwen3moe-stale", "harmful", "weights", "*", engine=stale_all)
case("gemma3-stale", "harmful", "weights", "*", engine=stale_all)
case("qwen3-step", "harmful", "weights", "*", engine=step_before)
case("llama-int8", "harmful", "weights", "*", engine=int8)
case("llama-act", "harmful", "formula", "act", engine=act(torch.nn.GELU()))
case("mixtral-act", "harmful", "formula", "experts", engine=act(torch.nn.GELU()))
case("llama-window", "harmful", "formula", "attn", engine=window(4))
case("gemma2-window", "harmful", "formula", "attn", engine=window(4))
case("llama-interleaved", "harmful", "formula", "rope", engine=interleaved)
case("qwen3-swapped", "harmful", "weights", f"{L}1.mlp.gate_proj.weight", f"{L}1.mlp.up_proj.weight", engine=swapped)
case("qwen2-notloaded", "harmful", "weights", "model.norm.weight", engine=ones("model.norm.weight"))
case("qwen3-noqknorm", "harmful", "formula", "qk_norm", engine=qk_norm_lost)
case("qwen3moe-norenorm", "harmful", "formula", "gate_weights", engine=no_renorm)
case("deepseek-noshared", "harmful", "formula", "experts", engine=no_shared)
case("deepseek-nobias", "harmful", "weights", "*", *[f"{L}{i}.mlp.gate.e_score_correction_bias" for i in (1, 2)], engine=no_choice_bias)
case("deepseek-factor", "harmful", "formula", "gate_weights", engine=routed_factor)
case("mixtral-swapped", "harmful", "weights", *[f"{L}1.mlp.experts.{e}.{n}_proj.weight" for e in (0, 1) for n in ("gate", "up", "down")], engine=experts_swapped)
case("gemma2-nosoftcap", "harmful", "formula", "logp", config=dict(final_logit_softcapping=4.0), engine=no_softcap)
case("gemma2-noattncap", "harmful", "formula", "attn", config=dict(attn_logit_softcapping=1.0), engine=no_attention_cap)
case("llama-nolora", "harmful", "weights", "*", *QKVO, *[f"{L}{i}.self_attn.{n}_proj.weight" for i in range(3) for n in "qv"], lora="missing")
case("llama-loraalpha", "harmful", "weights", "*", *QKVO, *[f"{L}{i}.self_attn.{n}_proj.weight" for i in range(3) for n in "qv"], lora="alpha")
case("llama-positions", "harmful", "formula", "rope", positions="row")
case("llama-dropout", "harmful", "formula", "attn", impl="eager", trainer=dropout)
case("llama-leak", "harmful", "formula", "attn", packed="leak")
case("llama-prompt", "harmful", "tokens", "row 2", other=True)
case("qwen2-temperature", "harmful", "formula", "logp", temperature=0.7)
case("qwen3-shifted", "harmful", "arrays", "row 1", shifted=True)
case("llama-fp8cache", "harmful", "precision", "cache", "attn", cache="fp8")
case("qwen3-fp8cache", "harmful", "precision", "cache", "attn", cache="fp8")
case("llama-norm", "rounding", "rounding", "norm", engine=norm_order)
case("mixtral-norm", "rounding", "rounding", "norm", engine=norm_order)
case("llama-head32", "rounding", "rounding", "lm_head", engine=head32)
case("llama-eagersdpa", "rounding", "rounding", "attn", engine=lambda m, g: m.set_attn_implementation("eager"))
case("gemma2-gelu", "rounding", "rounding", "act", engine=act(torch.nn.GELU()))

for a in ("qwen3moe", "deepseek", "gemma3", "mixtral"):
    case(a + "-packed", packed=True)
for a in ("deepseek", "qwen3moe", "mixtral"):
    case(a + "-prefix", prefix=4)
for a in ("gemma2", "deepseek", "mixtral"):
    case(a + "-float32", dtype="float32")
for a in ("deepseek", "qwen3moe", "gemma3"):
    case(a + "-generate", generate=True)
case("gemma3-chunked", chunks=4); case("mixtral-lora", lora="merged"); case("qwen3-trainer32", master=True); case("qwen3moe-checkpointing", checkpointing=True)
case("qwen3-both", temperature=1.0, packed=True, chunks=3)
case("gemma3-embedscale", "harmful", "formula", "embed", engine=embed_scale)
case("qwen2-nobias", "harmful", "weights", "*", *[f"{L}{i}.self_attn.{n}_proj.bias" for i in range(3) for n in "qkv"], engine=no_bias)
case("qwen3-kvswapped", "harmful", "weights", QKVO[1], QKVO[2], engine=exchanged(QKVO[1], QKVO[2]))
case("llama-untied", "harmful", "weights", "lm_head.weight", tied=True, engine=untied)
case("llama-lost", "harmful", "formula", "down", engine=part_lost)
case("deepseek-stale", "harmful", "weights", f"{L}1.self_attn.kv_b_proj.weight", engine=stale(f"{L}1.self_attn.kv_b_proj.weight", 0.05))
case("gemma3-norm1", "harmful", "weights", f"{L}2.post_attention_layernorm.weight", engine=ones(f"{L}2.post_attention_layernorm.weight"))
case("mixtral-router", "harmful", "weights", f"{L}0.mlp.gate.weight", engine=stale(f"{L}0.mlp.gate.weight", 0.1))
case("qwen3moe-act", "harmful", "formula", "experts", engine=act(torch.nn.GELU()))
case("gemma3-act", "harmful", "formula", "act", engine=act(torch.nn.SiLU()))
case("qwen3-interleaved", "harmful", "formula", "rope", engine=interleaved)
case("gemma3-window", "harmful", "formula", "attn", engine=window(4))
case("deepseek-fp8cache", "harmful", "precision", "cache", "attn", "latent_kv", cache="fp8")
case("llama-transposed", "harmful", "weights", QKVO[3], engine=weights_rolled)
case("qwen2-int8", "harmful", "weights", "*", engine=int8)
case("deepseek-step", "harmful", "weights", "*", engine=step_before)
case("qwen3moe-prompt", "harmful", "tokens", "row 2", other=True)
case("deepseek-shifted", "harmful", "arrays", "row 1", shifted=True)
case("gemma2-temperature", "harmful", "formula", "logp", temperature=0.7)

VLLM = dict(vllm=True)
for a in ("llama", "qwen2", "qwen3", "qwen3moe", "mixtral", "gemma3"):
    case("vllm-" + a, **VLLM)
case("vllm-llama-chunked", llm=dict(enable_chunked_prefill=True, max_num_batched_tokens=16), **VLLM)
case("vllm-llama-prefix", llm=dict(enable_prefix_caching=True), warm=True, **VLLM)
case("vllm-qwen3-stale", "harmful", "weights", QKVO[3], engine=stale(QKVO[3]), **VLLM)
case("vllm-llama-swapped", "harmful", "weights", f"{L}1.mlp.gate_proj.weight", f"{L}1.mlp.up_proj.weight", engine=swapped, **VLLM)
case("vllm-qwen2-notloaded", "harmful", "weights", "model.norm.weight", engine=ones("model.norm.weight"), **VLLM)
case("vllm-llama-int8", "harmful", "weights", "*", engine=int8, **VLLM)
case("vllm-gemma3-scale", "harmful", "formula", "attn", conf=dict(query_pre_attn_scalar=128), **VLLM)
case("vllm-gemma3-window", "harmful", "formula", "attn", conf=dict(sliding_window=4), **VLLM)
case("vllm-llama-eps", "harmful", "formula", "norm", conf=dict(rms_norm_eps=1e-2), **VLLM)
case("vllm-qwen3-theta", "harmful", "formula", "rope", conf=dict(rope_parameters=dict(rope_type="default", rope_theta=1e6)), **VLLM)
case("vllm-qwen3moe-norenorm", "harmful", "formula", "gate_weights", "experts", conf=dict(norm_topk_prob=False), **VLLM)
case("vllm-llama-fp8", "harmful", "precision", "cache", "attn", llm=dict(kv_cache_dtype="fp8"), **VLLM)


def build(c, arch, seed, g):
    M, C, kw = MODELS[arch]
    kw = {**BASE, **kw}
    kw.update(c.get("config", {}))
    kw.update(ARGS.sizes)
    if c.get("tied"):
        kw["tie_word_embeddings"] = True
    if c.get("vllm"):
        kw.update(head_dim=32, hidden_size=128)
        if arch == "gemma3":
            kw.update(query_pre_attn_scalar=32, sliding_window=16)
    m = M._from_config(C(**kw), dtype=getattr(torch, c.get("dtype", "bfloat16")), attn_implementation=c.get("impl", "eager" if arch == "gemma2" else "sdpa"))
    gemma = "gemma" in arch
    with torch.no_grad():
        for n, p in m.named_parameters():
            r = torch.randn(p.shape, generator=g)
            if p.dim() == 1:
                p.copy_(0.2 * r + (not gemma) if "norm" in n else 0.3 * r)
            elif "embed" in n:
                p.copy_(r * (0.05 if gemma else 0.02))
            elif "lm_head" in n:
                p.copy_(r * 2 / p.shape[-1] ** .5)
            else:
                p.copy_(r * (0.3 if "o_proj" in n or "down_proj" in n else 1.3) / p.shape[-1] ** .5)
        for n, b in m.named_buffers():
            if n.endswith("e_score_correction_bias"):
                b.copy_(0.2 * torch.randn(b.shape, generator=g))
    return m.eval()


def adapted(m, g, alpha):
    from peft import LoraConfig, get_peft_model
    m = get_peft_model(m, LoraConfig(r=4, lora_alpha=alpha, target_modules=["q_proj", "v_proj"], lora_dropout=0.0))
    with torch.no_grad():
        for n, p in m.named_parameters():
            if "lora_" in n:
                p.copy_(torch.randn(p.shape, generator=g) * 0.1)
    return m.eval()


def recorder(folder):
    os.makedirs(folder, exist_ok=True)
    p = folder + "/config.json"
    json.dump({"task": "tensor", "dump_path": folder, "rank": [], "step": [], "level": "mix", "extra_info": True,
               "tensor": {"scope": [], "list": [], "data_mode": ["forward"], "summary_mode": "statistics"}}, open(p, "w"))
    return PrecisionDebugger(config_path=p)


def child(f):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            f()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if os.waitpid(pid, 0)[1]:
        raise RuntimeError("a recording failed")


class Fp8(T.DynamicCache):
    """Keys and values in 8 bits between steps; the prompt is read unrounded in the prefill."""

    def update(self, k, v, layer, *a, **kw):
        k, v = super().update(k, v, layer, *a, **kw)
        x = self.layers[layer]
        x.keys, x.values = (t.to(torch.float8_e4m3fn).to(t.dtype) for t in (x.keys, x.values))
        return (x.keys, x.values) if k.shape[2] > 1 and a is None else (k, v)


def make(out, name, seed, vllm):
    c = CASES[name]
    arch = name.split("-")[1 if c.get("vllm") else 0]
    torch.manual_seed(seed)
    g = torch.Generator().manual_seed(seed + 5)
    model = build(c, arch, seed, g)
    for d in ("logp", "weights"):
        os.makedirs(f"{out}/{d}", exist_ok=True)
    roll = copy.deepcopy(model)
    if c.get("lora"):
        state = g.get_state()
        model = adapted(model, g, 16)
        if c["lora"] != "missing":
            g.set_state(state)
            roll = adapted(roll, g, 8 if c["lora"] == "alpha" else 16).merge_and_unload()
    if c.get("engine"):
        c["engine"](roll, g)
    lens, resp = [ARGS.longer * x for x in (5 + seed % 7, 9, 7)], [10, 7, 10]
    n, R, P = 3, max(resp), max(lens)
    prompts = [torch.randint(3, 320, (x,), generator=g) for x in lens]
    if c.get("prefix"):
        for p in prompts:
            p[:c["prefix"]] = prompts[0][:c["prefix"]]
    temp = c.get("temperature", 1)

    def engine(forced=None):
        d = recorder(out + "/rollout") if forced is not None else None
        saved = None
        if getattr(roll, "while_running", None):
            mod, attr, f = roll.while_running
            saved = getattr(mod, attr)
            setattr(mod, attr, f)
        kind = c.get("cache")
        cache = T.StaticCache(config=roll.config, max_cache_len=P + R) if kind == "static" else Fp8(config=roll.config) if kind == "fp8" else T.DynamicCache(config=roll.config)
        ids, am = torch.zeros(n, P, dtype=torch.int64), torch.zeros(n, P, dtype=torch.int64)
        pre = c.get("prefix", 0)
        if pre:
            # All prompts begin alike: these positions are in the cache ahead of the first recorded step; the others stand behind.
            roll(input_ids=torch.stack([p[:pre] for p in prompts]), past_key_values=cache, use_cache=True)
            for i, p in enumerate(prompts):
                ids[i, :pre], am[i, :pre] = p[:pre], 1
                ids[i, P - lens[i] + pre:], am[i, P - lens[i] + pre:] = p[pre:], 1
        else:
            for i, p in enumerate(prompts):
                ids[i, P - lens[i]:], am[i, P - lens[i]:] = p, 1
        got, toks = np.zeros((n, R), np.float32), [[] for _ in range(n)]
        step = c.get("chunks", P)
        bounds = [(pre, P)] if pre else [(x, min(x + step, P)) for x in range(0, P, step)]
        for t in range(R):
            if t == 0:
                pos = (am.cumsum(1) - 1).clamp_min(0)
                parts = [(ids[:, a:b], am[:, :b], pos[:, a:b]) for a, b in bounds]
            else:
                am = torch.cat([am, torch.ones(n, 1, dtype=torch.int64)], 1)
                parts = [(torch.tensor([[x[-1]] for x in toks]), am, am.sum(1, keepdim=True) - 1)]
            for x, a, pos in parts:
                if d and not (c.get("generate") and t):
                    d.start(model=roll, rank_id=0)
                o = roll(input_ids=x, attention_mask=a, position_ids=pos, past_key_values=cache, use_cache=True)
                if d and (not c.get("generate") or t == R - 1):
                    d.stop()
                    d.step()
            z = o.logits[:, -1].float()
            lp = torch.log_softmax(z, -1)
            nxt = torch.multinomial(lp.exp(), 1, generator=g)[:, 0] if forced is None else torch.tensor([forced[i][t] if t < resp[i] else 0 for i in range(n)])
            for i in range(n):
                toks[i].append(int(nxt[i]))
                if t < resp[i]:
                    got[i, t] = lp[i, nxt[i]]
        if saved:
            setattr(mod, attr, saved)
        return toks, got

    tk, mask = np.zeros((n, R), np.int64), np.zeros((n, R), bool)
    if c.get("vllm"):
        conf = copy.deepcopy(roll.config)
        for k, v in c.get("conf", {}).items():
            setattr(roll.config, k, v)
        roll.save_pretrained(out + "/weights/rollout")
        roll.config = conf
        job = {"out": os.path.abspath(out), "seed": seed, "prompts": [p.tolist() for p in prompts], "lens": lens, "resp": resp, "llm": c.get("llm", {}), "warm": c.get("warm", False)}
        json.dump(job, open(out + "/job.json", "w"))
        subprocess.run([vllm[0], vllm[1], out + "/job.json"], check=True, stdout=subprocess.DEVNULL, stderr=open(out + "/vllm.log", "w"), env={**os.environ, "PYTHONPATH": ""})
        toks = np.load(out + "/logp/responses_step_0.npy").tolist()
    else:
        with torch.no_grad():
            toks, _ = engine()

        def second():
            with torch.no_grad():
                np.save(out + "/logp/rollout_log_probs_step_0.npy", engine(toks)[1])
            torch.save(roll.state_dict(), out + "/weights/rollout_model.pt")
        child(second)
    for i in range(n):
        mask[i, :resp[i]], tk[i, :resp[i]] = True, toks[i][:resp[i]]
    seqs = [torch.cat([prompts[i], torch.tensor(toks[i][:resp[i]])]) for i in range(n)]

    def train():
        rows = [s.clone() for s in seqs]
        if c.get("other"):
            rows[2][3] = 3 + (int(rows[2][3]) - 2) % 317
        if c.get("trainer"):
            c["trainer"](model, g)
        if c.get("checkpointing"):
            model.gradient_checkpointing_enable()
            model.train()
        if c.get("master"):
            with torch.no_grad():
                model.float()
        d = recorder(out + "/train")
        if c.get("packed"):
            ids = torch.cat(rows)[None]
            pos = torch.cat([torch.arange(len(s)) for s in rows])[None]
            kw = dict(input_ids=ids, position_ids=pos)
            if c["packed"] == "leak":
                kw["attention_mask"] = torch.ones_like(ids)
            at = np.cumsum([0] + [len(s) for s in rows])
            place = lambda i, k: (0, at[i] + k)
        else:
            ids, am = torch.zeros(n, P + R, dtype=torch.int64), torch.zeros(n, P + R, dtype=torch.int64)
            for i, s in enumerate(rows):
                a = P - lens[i]
                ids[i, a:a + len(s)], am[i, a:a + len(s)] = s, 1
            pos = torch.arange(P + R)[None].expand(n, P + R) * 1
            if c.get("positions") != "row":
                pos = (am.cumsum(1) - 1).clamp_min(0)
            else:
                pos = torch.where(pos < P, pos, (am.cumsum(1) - 1).clamp_min(0))   # the prompt's by column, the response's by count
            kw = dict(input_ids=ids, attention_mask=am, position_ids=pos)
            place = lambda i, k: (i, P - lens[i] + k)
        d.start(model=model, rank_id=0)
        with torch.autocast("cpu", torch.bfloat16, enabled=bool(c.get("master"))):
            o = model(**kw, use_cache=False)
        if c.get("backward", True) and not ARGS.sizes:
            o.logits.float().sum().backward()
        d.stop()
        d.step()
        lp = torch.log_softmax(o.logits.detach().float() / temp, -1)
        got = np.zeros((n, R), np.float32)
        for i in range(n):
            for t in range(resp[i]):
                b, k = place(i, lens[i] - 1 + t - (c.get("shifted", False) and i == 1))
                got[i, t] = lp[b, k, seqs[i][lens[i] + t]] if not (c.get("shifted") and i == 1) else lp[b, k, seqs[i][lens[i] + t - 1]]
        np.save(out + "/logp/old_log_probs_step_0.npy", got)
        torch.save(model.state_dict(), out + "/weights/P2_sender.pt")
    child(train)
    np.save(out + "/logp/response_mask_step_0.npy", mask)
    np.save(out + "/logp/responses_step_0.npy", tk)
    a, b = (np.load(f"{out}/logp/{x}_log_probs_step_0.npy") for x in ("old", "rollout"))
    d = (a.astype(np.float64) - b)[mask]
    found = {"tokens": int(mask.sum()), "mean_abs_dlogp": float(np.abs(d).mean()), "max_abs_dlogp": float(np.abs(d).max()),
             "mult_prob_error": float(np.exp(np.abs(d)).mean()), "k3": float((np.exp(d) - 1 - d).mean())}
    json.dump({"case": name, "seed": seed, "class": c["cls"], "kind": c["kind"], "places": c["places"], "measured": found}, open(out + "/answer.json", "w"))
    print(name, seed, c["cls"], "%.4g" % found["mean_abs_dlogp"], flush=True)


p = argparse.ArgumentParser()
p.add_argument("out")
p.add_argument("--seed", type=int, default=0)
p.add_argument("--only", default="", help="names of cases that contain one of these")
p.add_argument("--sizes", type=json.loads, default={}, help="of the model, as JSON")
p.add_argument("--longer", type=int, default=1, help="how many times as long prompts are")
p.add_argument("--vllm", nargs=2, help="a Python with vLLM, and the script that records it")
ARGS = a = p.parse_args()
torch.set_grad_enabled(not ARGS.sizes)
for name in CASES:
    if (not a.only or any(x in name for x in a.only.split(","))) and (a.vllm or not CASES[name].get("vllm")):
        try:
            make(f"{a.out}/{name}.{a.seed}", name, a.seed, a.vllm)
        except Exception as e:
            print(name, "failed:", e, file=sys.stderr, flush=True)
