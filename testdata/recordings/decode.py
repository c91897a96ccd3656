#!/usr/bin/env python3
"""decode.py OUT [--seed N] [--only TEXT] [--models NAMES]: pairs of recordings of models that write text, token by token from a cache.

As record.py. The first call takes two prompts, one of them padded on the left, every further one a token of each; a token is a step of the
recording, or all are one. The tokens are given, or those that the model finds likeliest. Faults begin at a token or are there from the first:
positions that are one too large, a layer of the cache that is spoiled, shared or rounded, padding that is seen, and kernels that are wrong for
single tokens alone.
"""
import argparse
import contextlib
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

import record
from forked import child, keep

MODELS = dict(record.MODELS)
import others  # noqa: E402  (which puts models of its own in their place)

MODELS |= others.MODELS
NAMES = ["llama", "qwen3", "qwen2", "gemma2", "mixtral", "qwen3moe", "gpt2", "mistral", "opt", "bloom", "falcon", "phi", "gptneox", "deepseek", "gptoss", "qwen2moe", "gemma3", "exaone4", "cohere", "olmo2"]
TOKENS, PROMPT, PAD = 4, 6, 2
HARMLESS = ["same", "threads", "eager", "static", "whole", "math"]
FAULTS = ["position", "stale", "shared", "rounded", "padding", "norm", "linear", "activation", "attention", "nan"]


def hooked(module, at, turn, change):
    """From the call `at` of the loop on, module gives what change makes of its result."""
    forward = module.forward

    def run(*args, **kwargs):
        y = forward(*args, **kwargs)
        return change(y) if turn[0] >= at else y
    module.forward = run


def last(model, test):
    """The last module that is as asked, and its path."""
    found = [(n, m) for n, m in model.named_modules() if n and test(n, m)]
    if not found:
        raise LookupError("no such module")
    return found[-1]


def fault(how, model, at, turn):
    """Makes a module wrong from a token on."""
    if how == "norm":
        name, m = last(model, lambda n, m: "Norm" in type(m).__name__ and ".1." in n)
        hooked(m, at, turn, (lambda y: y * 1.03) if at == 2 else lambda y: torch.ops.aten.mul(y, 1.03))  # which is not recorded
        return name, record.NORM_CALLS
    if how == "linear":
        name, m = last(model, lambda n, m: others.plain(n, m) or type(m).__name__ == "Conv1D" and "c_proj" in n)
        hooked(m, at, turn, (lambda y: y + 0.05) if at == 2 else lambda y: torch.ops.aten.add(y, 0.05))
        return name, ["linear", "add", "__add__", "addmm"]
    if how == "activation":
        name, m = last(model, lambda n, m: re.search("GELU|SiLU|ReLU|Activation", type(m).__name__) and not list(m.children()))
        forward = m.forward
        m.forward = lambda x: F.leaky_relu(x, 0.1) if turn[0] >= at else forward(x)
        return name, ["leaky_relu", "silu", "gelu", "pow", "mul", "__mul__", "__rmul__", "tanh"]
    if how == "nan":
        name, m = last(model, lambda n, m: others.plain(n, m) or type(m).__name__ == "Conv1D" and "c_proj" in n)

        def hole(y):
            z = torch.zeros_like(y)
            z.view(-1)[3] = float("nan")
            return y + z
        hooked(m, at, turn, hole)
        return name, ["add", "__add__", "zeros_like", "__setitem__"]
    if how == "attention":
        name, m = last(model, lambda n, m: "Attention" in type(m).__name__ and ".1." in n)
        for a in ("scaling", "scale"):
            if hasattr(m, a):
                right, forward = getattr(m, a), m.forward

                def run(*args, **kwargs):
                    setattr(m, a, right * (1.2 if turn[0] >= at else 1))
                    return forward(*args, **kwargs)
                m.forward = run
                return name, ["mul", "__mul__", "matmul", "softmax", "scaled_dot_product_attention"]
        raise LookupError("no scale")
    if how in ("stale", "shared", "rounded"):
        return last(model, lambda n, m: "Attention" in type(m).__name__ and ".1." in n)[0], ["scaled_dot_product_attention", "matmul", "cat", "softmax", "__getitem__"]
    if how == "position":
        return None, ["__mul__", "matmul", "cos", "sin", "float", "embedding", "expand"]
    if how == "padding":
        return None, ["sum", "__and__", "__getitem__", "all", "__eq__", "cumsum", "scaled_dot_product_attention", "__add__"]
    return None, []


def spoil(how, cache):
    """What is wrong with the cache before a token."""
    last = cache.layers[1]
    if how == "stale":
        last.keys[:, :, 3] = 0
    if how == "shared":
        last.values = cache.layers[0].values.clone()
    if how == "rounded":  # as a cache of eight bits whose scale is that of another layer
        s = last.values.abs().max() / 20
        last.values = (last.values / s).round().clamp(-8, 8) * s


def recorded(out, name, seed, level, task, dtype, how, at, whole, free):
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    spec = MODELS[name]
    cfg, cls = spec[0]()
    cfg.use_cache = True
    if how == "eager":
        cfg._attn_implementation = "eager"
    model = cls(cfg)
    for p in model.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    kind = torch.bfloat16 if dtype == "bf16" or how == "bf16" else torch.float32
    model = model.to(kind).eval()
    rng = np.random.default_rng(seed)
    ids = torch.tensor(rng.integers(3, 96, (2, PROMPT + TOKENS)))
    mask = torch.ones_like(ids)
    mask[1, :PAD] = 0
    if how == "token":
        ids[0, PROMPT + at - 1] = (ids[0, PROMPT + at - 1] + 1) % 96
    turn = [0]
    module, calls = fault(how, model, at, turn)
    os.makedirs(out, exist_ok=True)
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task if task in ("statistics", "md5") else "statistics"}
    kindly = "tensor" if task == "tensor" else "statistics"
    config = os.path.join(out, "config.json")
    with open(config, "w") as f:
        json.dump({"task": kindly, "dump_path": out, "rank": [], "step": [], "level": level, kindly: t}, f)
    debugger = PrecisionDebugger(config_path=config)
    cache = transformers.StaticCache(config=cfg, max_cache_len=PROMPT + TOKENS) if how == "static" else transformers.DynamicCache(config=cfg)
    x = ids[:, :PROMPT]
    with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH) if how == "math" else contextlib.nullcontext():
        for i in range(TOKENS + 1):
            turn[0] = i
            n = PROMPT + i
            seen = mask[:, :n].clone()
            if how == "padding" and i >= at:
                seen[:] = 1
            position = (mask[:, :n].cumsum(-1) - 1).clamp(min=0)
            if i:
                position = position[:, -1:]
                if how == "position" and i >= at:
                    position = position + 1
            if i == at:
                spoil(how, cache)
            if i == 0 or not whole:
                debugger.start(model=model)
            y = model(input_ids=x, attention_mask=seen, position_ids=position, past_key_values=cache, use_cache=True).logits
            x = y[:, -1:].argmax(-1) if free else ids[:, n:n + 1]
            if i == TOKENS or not whole:
                debugger.stop()
                debugger.step()
    os.remove(config)
    return (module if level != "L1" else None), calls  # without modules no call is in one


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--models", default="")
    o = p.parse_args()
    rng, also = random.Random(o.seed), random.Random(o.seed)
    made = 0
    for name in o.models.split(",") if o.models else NAMES:
        plans = [("harmless", h, rng) for h in rng.sample(HARMLESS, 3)] + [("fault", f, rng) for f in rng.sample(FAULTS, 6)] + [("premise", "token", rng), ("harmless", "bf16", also)]
        for what, how, draw in plans:
            level, task = draw.choice([("L0", "statistics"), ("L1", "statistics"), ("mix", "statistics"), ("mix", "md5"), ("mix", "tensor"), ("L1", "tensor")])
            dtype = draw.choice(["fp32", "fp32", "bf16"])
            at, whole, free = draw.choice([0, 1, 2]), draw.random() < 0.4, draw.random() < 0.4
            if what == "premise" or how in ("stale", "shared", "rounded", "position", "padding"):
                at, free = max(at, 1), free and what != "premise"
            if how == "bf16":
                dtype, at, free = "fp32", 0, True
            made += draw is rng
            label = f"{name}-{level}-{task}-{dtype}-{how}-{at}{'-whole' if whole else ''}{'-free' if free else ''}"
            if o.only not in label:
                continue
            out = os.path.join(o.out, label)
            shutil.rmtree(out, ignore_errors=True)
            seed = o.seed * 1000 + made + (500 if draw is also else 0)
            answers = [child(recorded, os.path.join(out, side), name, seed, level, task, dtype, how if side == "left" else None, at, whole != (how == "whole" and side == "left"), free) for side in ("golden", "left")]
            keep(out, answers, model=name, level=level, task=task, dtype=dtype, step=0 if whole else at, kind="premise: inputs" if what == "premise" else f"{what}: {how}")


if __name__ == "__main__":
    main()
