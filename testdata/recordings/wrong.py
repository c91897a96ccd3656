#!/usr/bin/env python3
"""wrong.py OUT [--seed N] [--only TEXT]: pairs of record.py's models in which the second call of one function gives a wrong result on the left,
whatever it is given: the arguments, the program and the weights are the same.
"""
import argparse
import os
import shutil

import torch
import torch.nn.functional as F

import record
from forked import child, keep

HOW = {
    "scale": lambda z: z * 1.2,
    "little": lambda z: z * 1.02,
    "zeros": lambda z: torch.cat([z[..., :-2], torch.zeros_like(z[..., -2:])], -1),
    "rows": lambda z: torch.cat([z[:1].flip(1), z[1:]]),  # statistics do not show it where it is made
}
FUNCTIONS = {"gpt2": ["scaled_dot_product_attention", "layer_norm"]}
ORDER = [("L1", "statistics", "fp32"), ("mix", "statistics", "bf16"), ("L1", "md5", "fp32"), ("mix", "statistics", "fp32"), ("L1", "tensor", "bf16")]


def wrong(fn, change):
    """fn, whose second result is changed; gradients go through as they are."""
    calls = 0

    def f(*args, **kwargs):
        nonlocal calls
        y = fn(*args, **kwargs)
        calls += 1
        return y + (change(y) - y).detach() if calls == 2 else y
    f.__name__ = fn.__name__
    return f


def recorded(out, function, how, *rest):
    if how:
        setattr(F, function, wrong(getattr(F, function), HOW[how]))
    record.record(out, *rest, None)
    return None, [function]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    o = p.parse_args()
    made = o.seed
    for name in ["llama", "gpt2", "bert", "t5", "qwen3", "vit"]:
        for function in FUNCTIONS.get(name, ["scaled_dot_product_attention", "linear"]):
            for how in HOW:
                level, task, dtype = ORDER[made % len(ORDER)]
                made += 1
                label = f"{name}-{level}-{task}-{dtype}-{function}-{how}"
                if o.only not in label:
                    continue
                out = os.path.join(o.out, label)
                shutil.rmtree(out, ignore_errors=True)
                answers = [child(recorded, os.path.join(out, side), function, how if side == "left" else None, name, o.seed, level, task, dtype) for side in ("golden", "left")]
                keep(out, answers, model=name, level=level, task=task, dtype=dtype, kind="fault: " + how)


if __name__ == "__main__":
    main()
