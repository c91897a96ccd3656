#!/usr/bin/env python3
"""kinds.py OUT [--seed N] [--only TEXT]: pairs of recordings of one small network for every setting of the recorder, and for what it gets wrong.

As record.py: every pair is a folder of OUT with `left`, `golden` and `answer.json`. The network works in
place, has buffers that nobody filled, steps that change nothing, views and recomputed parts. "same" is the
same program twice: whatever the recorder wrote of it, nothing is wrong. The faults are an eps, a weight,
an activation and NaN, by record.py's rules.
"""
import argparse
import contextlib
import ctypes
import importlib.machinery
import json
import os
import random
import shutil
import sys
import types

import torch
import torch.nn as nn
import torch.nn.functional as F
from msprobe.core.dump.data_dump.data_processor import pytorch_processor
from msprobe.pytorch import PrecisionDebugger
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from forked import child

WIDTH, HEADS, VOCAB = 16, 2, 24


class Attention(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(WIDTH, WIDTH, bias=i == 0) for i in range(4))
        self.order = order

    def forward(self, x):
        b, n, _ = x.shape
        part = {}
        for name in self.order:  # the order in which they are computed is nobody's business
            part[name] = getattr(self, name + "_proj")(x).reshape(b, n, HEADS, -1).transpose(1, 2)
        scores = part["q"] @ part["k"].transpose(-1, -2)
        scores.mul_(0.35)
        mask = torch.full((n, n), float("-inf")).triu(1)
        scores = scores + mask
        y = torch.softmax(scores, -1) @ part["v"]
        return self.o_proj(y.transpose(1, 2).contiguous().reshape(b, n, -1))


class Block(nn.Module):
    def __init__(self, order):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = Attention(order)
        self.up, self.act, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        h = x + self.attn(self.norm1(x))
        y = self.down(self.act(self.up(self.norm2(h))))
        y += h  # in place: whoever hashes y later hashes the sum
        y.mul_(1.5).add_(0.25)
        return y


class Net(nn.Module):
    def __init__(self, what, order="qkv"):
        super().__init__()
        self.what = what
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Block(order) for _ in range(2))
        self.scale = nn.Parameter(torch.ones(1, 1, WIDTH))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.embed(ids)
        if self.what == "unfilled":
            x = self.unfilled(x)
        if self.what == "noop":
            x = self.noop(x)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.what == "checkpoint" else layer(x)
        return self.head(x)

    def unfilled(self, x):
        b, n, w = x.shape
        target = torch.empty(b, n, 2 * w)
        target[:, :, :w] = x
        target[:, :, w:] = 2 * x
        like = torch.empty_like(x.detach())
        torch.add(x.detach(), 1.0, out=like)
        flat = torch.empty(64 * 1024).narrow(0, 128, b * n * w)
        flat.copy_(x.detach().reshape(-1))
        unused = torch.empty(b, n, w)
        a = torch.baddbmm(torch.empty(b, n, n), x, x.transpose(1, 2), beta=0, alpha=0.1)
        return torch.softmax(a, -1) @ target[:, :, :w] + 0.01 * target[:, :, w:] + (flat.view(b, n, w) + 0.1 * like) * self.scale

    def noop(self, x):
        y = x.to(torch.float32).contiguous()
        y = y.expand(y.shape[0], y.shape[1], y.shape[2]) * self.scale[:, :, :WIDTH]
        z = y[:, :3].contiguous().to(torch.float32)
        z = torch.cat([z * self.scale, y[:, 3:]], 1)
        return z.type_as(x).reshape(z.shape)


def dirty():
    """Leaves numbers of this run in memory that is free, as every program does."""
    hold = [torch.randn(n) * 10.0 ** random.randrange(30) for n in (64, 192, 384, 4096, 65536) for _ in range(4)]
    for t in hold[::3]:
        t.view(-1)[::7] = float("nan")
    del hold


def record(out, seed, what, level, task, settings, how):
    """One recording; how is None, "same" or a fault. Returns the module at fault, its calls, and which of these it is."""
    random.seed(os.getpid() if what == "unfilled" else 0)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net = Net(what, "vqk" if how == "order" else "qkv")
    for p in net.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    ids = torch.randint(VOCAB, (2, 6))
    labels = torch.randint(VOCAB, (2, 6))
    module, calls, exact = None, [], []
    layer = net.layers[1]
    if how == "eps":
        layer.norm2.eps = 0.1
        module, calls, exact = "layers.1.norm2", ["layer_norm"], ["Functional.layer_norm.3.forward", "second.0.debug"]
    if how == "weight":
        with torch.no_grad():
            layer.down.weight.view(-1)[7] += 0.5
        module, calls, exact = "layers.1.down", ["linear"], ["Functional.linear.11.forward", "second.0.debug"]
    if how == "activation":
        layer.act.forward = lambda x: F.leaky_relu(x, 0.1)
        module, calls, exact = "layers.1.act", ["leaky_relu", "gelu"], ["Functional.leaky_relu.0.forward", "Functional.gelu.1.forward", "second.0.debug"]
    if how == "nan":
        forward = layer.up.forward
        layer.up.forward = lambda x: forward(x) * torch.where(torch.arange(2 * WIDTH) == 3, float("nan"), 1.0)
        module, calls, exact = "layers.1.up", ["__mul__", "mul", "where"], ["Torch.where.0.forward", "Tensor.__mul__.0.forward", "Tensor.__mul__.2.forward", "Tensor.__mul__.5.forward", "second.0.debug"]
    if exact and "list" in settings:
        exact = ["Functional.linear.11.forward", "Module.layers.1.up.Linear.forward.0"] + exact  # or what reads it
    kindly = task if task in ("tensor", "structure", "nan_check") else "statistics"
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task if task in ("md5", "xor") else "statistics"}
    settings = dict(settings)
    kind = settings.pop("optimizer", "sgd")
    top = {}
    for key, value in settings.items():
        (top if key in ("risk_level", "async_dump", "precision", "extra_info") else t)[key] = value
    os.makedirs(out, exist_ok=True)
    config = os.path.join(out, "config.json")
    with open(config, "w") as f:
        json.dump({"task": kindly, "dump_path": out, "rank": [], "step": [], "level": level, **top, kindly: t}, f)
    device = Device() if task == "nan_check" else contextlib.nullcontext()
    debugger = PrecisionDebugger(config_path=config)
    optimizer = {"sgd": lambda: torch.optim.SGD(net.parameters(), lr=0.1, foreach=False),
                 "adam": lambda: torch.optim.AdamW(net.parameters(), lr=0.01, foreach=False),
                 "foreach": lambda: torch.optim.AdamW(net.parameters(), lr=0.01, foreach=True)}[kind]()
    for step in range(2 if kind != "sgd" else 1):
        if what == "unfilled":
            dirty()
        debugger.start(model=net)
        optimizer.zero_grad()
        device.__enter__()
        logits = net(ids)
        loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1))
        if level == "debug":
            hidden = net.embed(ids)
            debugger.save(hidden, "hidden", save_backward=True)
            out1 = net.layers[0](hidden)
            debugger.save({"first": out1, "ids": ids}, "after", save_backward=True)
            out2 = net.layers[1](out1)
            debugger.save([out2, 3.5], "second", save_backward=True)
            loss = loss + net.head(out2).square().mean()
            debugger.save(loss, "loss", save_backward=False)
        loss.backward()
        optimizer.step()
        device.__exit__(None, None, None)
        debugger.stop()
        debugger.step()
    os.remove(config)
    return module, calls, exact


class Device(TorchDispatchMode):
    """What the recorder asks of a device for nan_check: a flag that is up since an operator gave NaN or infinities, which
    torch_npu and an extension of msprobe read on an NPU."""

    def __init__(self):
        super().__init__()
        self.flag = 0
        for name in ("torch_npu", "msprobe.pytorch.nan_check"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
        pytorch_processor.is_gpu = False
        torch.npu = types.SimpleNamespace(current_device=lambda: "cpu")
        torch.ops.my_ns = types.SimpleNamespace(npu_clear_over_flow=self.clear, npu_over_flow=self.read)

    def clear(self, device):
        self.flag = 0

    def read(self, place):
        ctypes.c_int64.from_address(int(place)).value = self.flag

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        for t in out if isinstance(out, (list, tuple)) else [out]:
            if isinstance(t, torch.Tensor) and t.is_floating_point() and "empty" not in str(op) and not t.isfinite().all():
                self.flag = 1
        return out


FAULTS = ["eps", "weight", "activation", "nan"]

# what the network does, level, task, settings of the recorder
KINDS = [
    ("plain", "mix", "md5", {}),
    ("plain", "L1", "md5", {"risk_level": "ALL"}),
    ("plain", "mix", "statistics", {"risk_level": "ALL"}),
    ("plain", "L0", "md5", {}),
    ("plain", "mix", "xor", {}),
    ("plain", "mix", "statistics", {"precision": "high"}),
    ("plain", "L1", "statistics", {"async_dump": True}),
    ("plain", "L1", "tensor", {"async_dump": True, "list": ["linear", "layer_norm"]}),
    ("plain", "mix", "tensor", {"summary_mode": "md5", "risk_level": "ALL"}),
    ("plain", "mix", "statistics", {"tensor_list": ["layer_norm", "linear"]}),
    ("plain", "mix", "statistics", {"data_mode": ["input"]}),
    ("plain", "mix", "statistics", {"data_mode": ["output"]}),
    ("plain", "L1", "statistics", {"data_mode": ["forward"], "extra_info": False}),
    ("plain", "mix", "statistics", {"slice": [{"dim": 0, "start": 0, "end": 1}]}),
    ("plain", "mix", "tensor", {"slice": [{"dim": 0, "start": 0, "end": 1}]}),
    ("plain", "mix", "structure", {}),
    ("plain", "L1", "structure", {}),
    ("plain", "debug", "statistics", {}),
    ("plain", "debug", "tensor", {}),
    ("plain", "mix", "md5", {"optimizer": "adam"}),
    ("plain", "mix", "statistics", {"optimizer": "foreach"}),
    ("plain", "mix", "statistics", {"list": ["layers.1"]}),
    ("unfilled", "mix", "statistics", {"risk_level": "ALL"}),
    ("unfilled", "L1", "md5", {"risk_level": "ALL"}),
    ("unfilled", "L1", "tensor", {"risk_level": "ALL"}),
    ("unfilled", "L1", "statistics", {}),
    ("noop", "mix", "statistics", {"risk_level": "ALL"}),
    ("noop", "L1", "md5", {"risk_level": "ALL"}),
    ("noop", "L1", "tensor", {"risk_level": "ALL"}),
    ("checkpoint", "mix", "statistics", {}),
    ("checkpoint", "L1", "md5", {"risk_level": "ALL"}),
    ("checkpoint", "L1", "tensor", {}),
    ("plain", "L1", "nan_check", {}),
]


def label(what, level, task, settings):
    parts = [what, level, task]
    for key, value in settings.items():
        text = json.dumps(value)
        parts.append(key.replace("_", "") + "".join(c for c in text if c.isalnum()))
    return "-".join(parts)


def pair(out, seed, kind, how):
    what, level, task, settings = kind
    shutil.rmtree(out, ignore_errors=True)
    golden = child(record, os.path.join(out, "golden"), seed, *kind, None)
    left = child(record, os.path.join(out, "left"), seed, *kind, how)
    bad = [a["error"] for a in (golden, left) if isinstance(a, dict)]
    if bad:
        shutil.rmtree(out, ignore_errors=True)
        return bad[0]
    harmless = how in ("same", "order")
    with open(os.path.join(out, "answer.json"), "w") as f:
        json.dump({"model": what, "level": level, "task": task, "dtype": "fp32", "kind": ("harmless: " if harmless else "fault: ") + how, "module": left[0], "calls": left[1], "exact": left[2]}, f, indent=1)
    return None


def bench(out, seed, how):
    """The recorder compares with an earlier recording while it records."""
    shutil.rmtree(out, ignore_errors=True)
    kind = ("plain", "L1", "tensor", {"summary_mode": "md5", "risk_level": "ALL"})
    golden = child(record, os.path.join(out, "golden"), seed, *kind, None)
    bench = os.path.abspath(os.path.join(out, "golden"))
    left = child(record, os.path.join(out, "left"), seed, "plain", "L1", "tensor", {"summary_mode": "md5", "risk_level": "ALL", "bench_path": bench, "diff_nums": 1}, how)
    bad = [a["error"] for a in (golden, left) if isinstance(a, dict)]
    if bad:
        shutil.rmtree(out, ignore_errors=True)
        return bad[0]
    with open(os.path.join(out, "answer.json"), "w") as f:
        json.dump({"model": "plain", "level": "L1", "task": "tensor", "dtype": "fp32", "kind": ("harmless: " if how == "same" else "fault: ") + how, "module": left[0], "calls": left[1], "exact": left[2]}, f, indent=1)
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    o = p.parse_args()
    rng = random.Random(o.seed)
    plans = []
    for number, kind in enumerate(KINDS):
        seed = o.seed * 1000 + number
        wrong = {"structure": [], "nan_check": ["nan"]}.get(kind[2]) # of which the first has no values to be wrong, and the other one
        wrong = [rng.choice(FAULTS)] if wrong is None else wrong
        for how in ["same"] + wrong + (["order"] if number < 3 else []):
            plans.append((label(*kind) + "-" + how, lambda out, seed=seed, kind=kind, how=how: pair(out, seed, kind, how)))
    # It stops at the first view, whatever is wrong behind that.
    plans.append(("plain-L1-tensor-benchpath-same", lambda out: bench(out, o.seed * 1000 + 900, "same")))
    for name, make in plans:
        if o.only not in name:
            continue
        error = make(os.path.join(o.out, name))
        print(name, "not made: " + error[:150] if error else "", flush=True)


if __name__ == "__main__":
    main()
