#!/usr/bin/env python3
"""summed.py PAIRS OUT: of the tensor pairs below PAIRS (record.py, others.py) pairs of statistics whose left sides another device
summed: Mean and Norm of the left side are those of the elements in float64, rounded to their type, and the golden ones the recorder's.

What differs first by its elements goes into answer.json as `exact`: statistics of two devices differ from the first call on.
"""
import glob
import json
import os
import shutil
import sys

import torch


def tensors(x):
    """All that dump.json says of tensors in x, in its order."""
    if isinstance(x, dict):
        if "data_name" in x:
            yield x
        for v in x.values():
            yield from tensors(v)
    elif isinstance(x, list):
        for v in x:
            yield from tensors(v)


def outputs(folder, call):
    names = [t["data_name"] for key in ("output", "output_grad") for t in tensors(call.get(key))]
    return [torch.load(os.path.join(folder, "dump_tensor_data", n)) for n in names]


def side(folder, out, exactly):
    os.makedirs(out)
    with open(os.path.join(folder, "dump.json")) as f:
        dump = json.load(f)
    for t in tensors(dump["data"]):
        x = torch.load(os.path.join(folder, "dump_tensor_data", t.pop("data_name")))
        if exactly and x.is_floating_point() and x.numel() > 1 and t.get("Norm") is not None:
            t["Mean"], t["Norm"] = (v.to(x.dtype).item() for v in (x.double().mean(), torch.linalg.vector_norm(x.double())))
    dump.update(task="statistics", dump_data_dir=None)
    with open(os.path.join(out, "dump.json"), "w") as f:
        json.dump(dump, f)
    for name in ("construct.json", "stack.json"):
        shutil.copy(os.path.join(folder, name), out)


def first(left, golden):
    """The first call of both sides whose outputs differ, and those before it that the left side alone makes."""
    alone = []
    dumps = [json.load(open(os.path.join(d, "dump.json")))["data"] for d in (left, golden)]
    for name, call in dumps[0].items():
        if name not in dumps[1]:
            alone.append(name)
        else:
            a, b = outputs(left, call), outputs(golden, dumps[1][name])
            if len(a) != len(b) or not all(x.shape == y.shape and torch.equal(x, y) for x, y in zip(a, b)):
                return [*alone, name]
    return alone


for pair in sorted(glob.glob(os.path.join(sys.argv[1], "*", "answer.json"))):
    with open(pair) as f:
        answer = json.load(f)
    pair = os.path.dirname(pair)
    if answer["task"] != "tensor":
        continue
    folders = [glob.glob(os.path.join(pair, s, "step*", "*")) for s in ("left", "golden")]
    if any(len(f) != 1 for f in folders):
        continue
    out = os.path.join(sys.argv[2], os.path.basename(pair))
    for (folder,), s in zip(folders, ("left", "golden")):
        side(folder, os.path.join(out, s, "step0", os.path.basename(folder)), s == "left")
    if answer["kind"].startswith("fault"):
        answer.setdefault("exact", first(folders[0][0], folders[1][0]))
    with open(os.path.join(out, "answer.json"), "w") as f:
        json.dump(answer, f)
