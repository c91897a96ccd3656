#!/usr/bin/env python3
"""record.py OUT [--seed N] [--only TEXT]: pairs of recordings of real models, made by the real recorder on a CPU.

Needs torch, transformers and mindstudio-probe from PyPI. Every pair is a folder of OUT with
`left` and `golden`, recordings of one training step of a small model of transformers with
random weights, and `answer.json`:

    {"model": ..., "level": ..., "task": ..., "dtype": ..., "kind": ..., "module": ..., "calls": [...]}

kind is "harmless: …", "premise: …" (the runs are not comparable: other data, other weights, those of
another step) or "fault: …". Of a fault, module is the path of the module that is
wrong on the left, and calls are the names of functions in it that count as its call; a root is
exact if it is that module or one of these calls inside it.

"""
import argparse
import contextlib
import glob
import inspect
import json
import os
import random
import re
import shutil

import numpy as np
import torch
import torch.nn.functional as F
import transformers
from msprobe.pytorch import PrecisionDebugger

from forked import child

transformers.logging.set_verbosity_error()


def llama(c="Llama", **more):
    cfg = getattr(transformers, c + "Config")(
        vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, **more)
    return cfg, getattr(transformers, c + "ForCausalLM")


def tokens(rng, n=12, vocab=96, pad=True):
    ids = torch.tensor(rng.integers(3, vocab, (2, n)))
    mask = torch.ones_like(ids)
    if pad:
        mask[1, -3:] = 0
        ids[1, -3:] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.clone()}


def pixels(rng, size=32, labels=5):
    return {"pixel_values": torch.tensor(rng.standard_normal((2, 3, size, size)), dtype=torch.float32),
            "labels": torch.tensor(rng.integers(0, labels, 2))}


def text_class(rng):
    batch = tokens(rng)
    batch["labels"] = torch.tensor(rng.integers(0, 3, 2))
    return batch


def seq2seq(rng):
    batch = tokens(rng)
    batch["labels"] = torch.tensor(rng.integers(3, 96, (2, 7)))
    return batch


# name: (configuration and class, batch, module of attention, of a norm, of an activation, of a linear)
MODELS = {
    "llama": (lambda: llama(), tokens, "model.layers.1.self_attn", "model.layers.1.input_layernorm", "model.layers.1.mlp.act_fn", "model.layers.1.mlp.down_proj"),
    "qwen3": (lambda: llama("Qwen3", head_dim=8), tokens, "model.layers.0.self_attn", "model.layers.0.post_attention_layernorm", "model.layers.0.mlp.act_fn", "model.layers.1.self_attn.o_proj"),
    "qwen2": (lambda: llama("Qwen2"), tokens, "model.layers.1.self_attn", "model.layers.1.post_attention_layernorm", "model.layers.1.mlp.act_fn", "model.layers.0.mlp.up_proj"),
    "gemma2": (lambda: llama("Gemma2", head_dim=8), tokens, "model.layers.0.self_attn", "model.layers.1.pre_feedforward_layernorm", "model.layers.0.mlp.act_fn", "model.layers.0.mlp.gate_proj"),
    "mixtral": (lambda: llama("Mixtral", num_local_experts=4, num_experts_per_tok=2), tokens, "model.layers.1.self_attn", "model.layers.1.input_layernorm", None, "model.layers.0.self_attn.o_proj"),
    "qwen3moe": (lambda: llama("Qwen3Moe", head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16), tokens, "model.layers.1.self_attn", "model.layers.0.input_layernorm", None, "model.layers.1.self_attn.q_proj"),
    "gpt2": (lambda: (transformers.GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0), transformers.GPT2LMHeadModel),
             tokens, "transformer.h.1.attn", "transformer.h.1.ln_1", "transformer.h.0.mlp.act", "transformer.h.1.mlp.c_proj"),
    "bert": (lambda: (transformers.BertConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), transformers.BertForSequenceClassification),
             text_class, "bert.encoder.layer.1.attention.self", "bert.encoder.layer.0.output.LayerNorm", "bert.encoder.layer.1.intermediate.intermediate_act_fn", "bert.encoder.layer.1.output.dense"),
    "distilbert": (lambda: (transformers.DistilBertConfig(vocab_size=96, dim=32, n_layers=2, n_heads=4, hidden_dim=64, num_labels=3, dropout=0, attention_dropout=0, seq_classif_dropout=0), transformers.DistilBertForSequenceClassification),
                   text_class, "distilbert.transformer.layer.0.attention", "distilbert.transformer.layer.1.sa_layer_norm", "distilbert.transformer.layer.0.ffn.activation", "distilbert.transformer.layer.1.ffn.lin2"),
    "t5": (lambda: (transformers.T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0, decoder_start_token_id=0, pad_token_id=0), transformers.T5ForConditionalGeneration),
           seq2seq, "encoder.block.1.layer.0.SelfAttention", "encoder.block.1.layer.0.layer_norm", "decoder.block.0.layer.2.DenseReluDense.act", "decoder.block.1.layer.2.DenseReluDense.wo"),
    "vit": (lambda: (transformers.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_labels=5, hidden_dropout_prob=0, attention_probs_dropout_prob=0), transformers.ViTForImageClassification),
            pixels, None, "LayerNorm", "ACT", "Linear"),
    "resnet": (lambda: (transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[2, 2], layer_type="basic", num_labels=5), transformers.ResNetForImageClassification),
               pixels, None, "BatchNorm2d", "ReLU", "Linear"),
    "convnext": (lambda: (transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, image_size=32, num_labels=5, drop_path_rate=0), transformers.ConvNextForImageClassification),
                 pixels, None, "LayerNorm", "GELUActivation", "Linear"),
    "mamba": (lambda: (transformers.MambaConfig(vocab_size=96, hidden_size=32, state_size=4, num_hidden_layers=2), transformers.MambaForCausalLM),
              lambda rng: {k: v for k, v in tokens(rng, pad=False).items() if k != "attention_mask"}, None, "backbone.layers.1.norm", None, "backbone.layers.1.mixer.out_proj"),
}


def find(model, path):
    """The module of a path, or the last of a class in the model."""
    for name, m in model.named_modules():
        if name == path:
            return name, m
    last = None
    for name, m in model.named_modules():
        if type(m).__name__ == path or path == "ACT" and "GELU" in type(m).__name__:
            last = (name, m)
    if last is None:
        raise LookupError(path)
    return last


@contextlib.contextmanager
def within(module, name, patched):
    """While module runs, torch.nn.functional's name is patched(original, *args, **kwargs)."""
    forward = module.forward
    wrapped = getattr(F, name)

    def run(*args, **kwargs):
        original = getattr(F, name)

        def other(*a, **k):
            return patched(original, *a, **k)
        setattr(F, name, other)
        try:
            return forward(*args, **kwargs)
        finally:
            setattr(F, name, original)
    module.forward = run
    yield
    module.forward = forward
    setattr(F, name, wrapped)


NORM_CALLS = ["layer_norm", "rms_norm", "batch_norm", "rsqrt", "add", "__add__", "__radd__", "mean", "pow", "mul", "__mul__", "__rmul__", "sqrt"]


def fault(kind, model, spec, rng):
    """Makes model wrong; returns the module and the calls of it that are at fault."""
    _, _, attn, norm, act, linear = spec
    if kind == "eps":
        name, m = find(model, norm)
        for a in ("eps", "variance_epsilon"):
            if hasattr(m, a):
                setattr(m, a, 1e-2 if getattr(m, a) < 5e-3 else 1e-1)
        return name, NORM_CALLS
    if kind == "weight":
        name, m = find(model, linear)
        with torch.no_grad():
            m.weight.view(-1)[int(rng.integers(m.weight.numel()))] += 0.5
        return name, ["linear", "addmm", "matmul", "conv1d"]
    if kind == "bias":
        name, m = find(model, linear)
        forward = m.forward
        m.forward = lambda *a, **k: forward(*a, **k) + 0.05
        return name, ["linear", "add", "__add__", "addmm"]
    if kind == "activation":
        if not act:
            raise LookupError("activation")
        name, m = find(model, act)
        m.forward = lambda x: torch.nn.functional.leaky_relu(x, 0.1)
        return name, ["leaky_relu", "silu", "gelu", "relu", "pow", "tanh", "erf"]
    if kind == "scale":
        name, m = find(model, attn or linear)
        if attn:
            for a in ("scaling", "scale"):
                if hasattr(m, a):
                    setattr(m, a, getattr(m, a) * 1.2)
                    return name, ["mul", "__mul__", "matmul", "softmax", "scaled_dot_product_attention", "baddbmm", "bmm"]
        forward = m.forward
        m.forward = lambda *a, **k: forward(*a, **k) * 1.05
        return name, ["mul", "__mul__", "linear"]
    if kind == "nan":
        name, m = find(model, linear)
        forward = m.forward

        def broken(*a, **k):
            y = forward(*a, **k)
            hole = torch.zeros_like(y)
            hole.view(-1)[3] = float("nan")
            return y + hole
        m.forward = broken
        return name, ["add", "__add__", "zeros_like", "__setitem__"]
    if kind == "lower":
        name, m = find(model, linear)
        forward = m.forward
        m.forward = lambda x, *a, **k: forward(x.to(torch.float16).to(x.dtype), *a, **k)
        return name, ["to", "linear", "half"]
    if kind == "token":
        return None, ["embedding"]
    raise LookupError(kind)


FAULTS = ["eps", "weight", "bias", "activation", "scale", "nan"]
HARMLESS = ["same", "threads", "eager", "bf16", "checkpointing", "cache"]
PREMISES = ["inputs", "weights", "step"]
REPLACED = {}  # harmless: what makes a model compute the same by other calls
EACH = 3, 4  # harmless pairs and faults of each model; there is one of PREMISES, too


def record(out, name, seed, level, task, dtype, how, given=None, saved=None):
    """One recording; how is None, a harmless difference or a fault. Returns the answer. given is a configuration to record with, saved a
    folder that the model is loaded from, or saved in if there is none: other versions draw other random numbers."""
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    spec = MODELS[name]
    cfg, cls = spec[0]()
    if how == "eager":
        cfg._attn_implementation = "eager"
    if how == "experts":
        cfg._experts_implementation = "eager"
    if how == "cache":
        if not getattr(cfg, "use_cache", False):
            raise LookupError("it keeps nothing")
        cfg.use_cache = False
    if how == "weights":
        torch.manual_seed(seed + 1)
    model = cls(cfg)
    for p in model.parameters():  # zeros and ones hide what is multiplied by them
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    if saved and os.path.exists(saved):
        model = cls.from_pretrained(saved, torch_dtype=torch.float32)
    elif saved:
        model.save_pretrained(saved)
    rng = np.random.default_rng(seed)
    batch = spec[1](np.random.default_rng(seed + 1) if how == "inputs" else rng)
    kind = torch.bfloat16 if dtype == "bf16" or how == "bf16" else torch.float32
    model = model.to(kind)
    batch = {k: v.to(kind) if v.is_floating_point() else v for k, v in batch.items()}
    if how == "checkpointing":
        model.gradient_checkpointing_enable()
    if how == "token":
        batch["input_ids"][0, 2] = (batch["input_ids"][0, 2] + 1) % 96
    if how == "lr" and level == "L0":
        raise LookupError("modules alone do not show it")
    if how == "mask":
        if batch.get("attention_mask") is None or bool(batch["attention_mask"].all()):
            raise LookupError("no mask")
        batch["attention_mask"] = torch.ones_like(batch["attention_mask"])
    if how == "batch":
        batch = {k: v.flip(0) for k, v in batch.items()}
    if how == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        batch = {k: v.to(memory_format=torch.channels_last) if v.dim() == 4 else v for k, v in batch.items()}
    module, calls = None, []
    if how in REPLACED:
        REPLACED[how](model)
    if how in FAULTS:
        module, calls = fault(how, model, spec, rng)
    model.train()
    t = {"scope": [], "list": [], "data_mode": ["all"]}
    t["summary_mode"] = task if task in ("statistics", "md5") else "statistics"
    kindly = "tensor" if task == "tensor" else "statistics"
    os.makedirs(out, exist_ok=True)
    config = os.path.join(out, "config.json")
    with open(config, "w") as f:
        json.dump(given | {"dump_path": out} if given else {"task": kindly, "dump_path": out, "rank": [], "step": [], "level": level, kindly: t}, f)
    begin = {"model": model}
    if "model" in inspect.signature(PrecisionDebugger.start).parameters:
        debugger = PrecisionDebugger(config_path=config)
    else:  # mindstudio-probe 1.0
        debugger, begin = PrecisionDebugger(config_path=config, **begin), {}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.11 if how == "lr" else 0.1, weight_decay=0.01 if how == "decay" else 0, **({how: True} if how in ("foreach", "fused") else {"foreach": False}))
    if how == "step":
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    halves = [{k: v[i:i + 1] for k, v in batch.items()} for i in range(2)] if how == "accumulation" else [batch]
    debugger.start(**begin)
    for part in halves:
        with torch.autocast("cpu", torch.bfloat16, enabled=how == "autocast"), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH) if how == "math" else contextlib.nullcontext():
            loss = model(**part).loss / len(halves)
        loss.backward()
    if how == "clipped":
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    debugger.stop()
    debugger.step()
    if getattr(model, "unused", False):
        raise LookupError("what is wrong is never called")
    os.remove(config)
    return module, calls


def shows(out):
    """Whether anything of a pair differs but memory that calls are given and checksums."""
    sides = []
    for side in ("left", "golden"):
        [path] = glob.glob(os.path.join(out, side, "step0", "*", "dump.json"))
        with open(path) as f:
            data = json.load(f)["data"]
        text = json.dumps({n: {k: v for k, v in c.items() if k != "input_args" or ".backward" in n} if isinstance(c, dict) else c for n, c in data.items()}, sort_keys=True)
        sides.append(re.sub(r'"(md5|data_name)": "[^"]*"', "", text))
    return sides[0] != sides[1]


def again(o, *args):
    """Records a pair again with the configurations that the program wrote: its left side, its golden one, and the left one on inputs of the golden one."""
    name, seed, level, task, dtype, how = args
    for side, file, what in (("golden", "config_golden.json", None), ("left", "config.json", how), ("load", "config_load.json", how)):
        path = os.path.join(o.again, file)
        if not os.path.exists(path):
            continue
        with open(path) as f:
            given = json.load(f)
        if "load" in given:
            given["load"]["path"] = os.path.join(o.out, "golden")
        answer = child(record, os.path.join(o.out, side), name, seed, level, task, dtype, what, given)
        print(side, answer["error"] if isinstance(answer, dict) else "recorded", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--models", default="", help="of these alone, with commas between them")
    p.add_argument("--pairs", type=int, default=1000)
    p.add_argument("--again", default="", help="of the pair whose name is that of --only: record with the configurations in this folder")
    o = p.parse_args()
    rng = random.Random(o.seed)
    made = 0
    for name in o.models.split(",") if o.models else MODELS:
        plans = [("harmless", h) for h in rng.sample(HARMLESS, EACH[0])] + [("fault", f) for f in rng.sample(FAULTS, EACH[1])] + [("premise", rng.choice(PREMISES))]
        for what, how in plans:
            level, task = rng.choice([("L0", "statistics"), ("L1", "statistics"), ("mix", "statistics"), ("mix", "md5"), ("L1", "md5"), ("mix", "tensor"), ("L1", "tensor")])
            dtype = rng.choice(["fp32", "fp32", "bf16"])
            if how in ("bf16", "autocast"):
                dtype = "fp32"
            label = f"{name}-{level}-{task}-{dtype}-{how.replace(' ', '_')}"
            if o.again and o.only == label:
                again(o, name, o.seed * 1000 + made, level, task, dtype, how)
                return
            if o.again:
                made += 1
                continue
            if o.only not in label or made >= o.pairs:
                continue
            seed = rng.randrange(1 << 20) if what == "x" else o.seed * 1000 + made
            out = os.path.join(o.out, label)
            shutil.rmtree(out, ignore_errors=True)
            golden = child(record, os.path.join(out, "golden"), name, seed, level, task, dtype, None)
            left = child(record, os.path.join(out, "left"), name, seed, level, task, dtype, how)
            made += 1
            bad = [a["error"] for a in (golden, left) if isinstance(a, dict)]
            if what == "fault" and not bad and not shows(out):
                bad = ["nothing shows it"]
            if bad:
                print(label, "not made:", bad[0][:150], flush=True)
                shutil.rmtree(out, ignore_errors=True)
                continue
            with open(os.path.join(out, "answer.json"), "w") as f:
                json.dump({"model": name, "level": level, "task": task, "dtype": dtype, "kind": f"{what}: {how}", "module": left[0], "calls": left[1]}, f, indent=1)
            print(label, flush=True)


if __name__ == "__main__":
    main()
