#!/usr/bin/env python3
"""clean.py OUT [--seed N] [--only TEXT] [--others]: recordings of real models with nothing wrong, for check.

One training step each with all tensors, made by the real recorder: the models of record.py in float32,
bfloat16 and under autocast, with activation checkpointing and with eager attention, and nets like those of
torchvision, with batch norm, depthwise convolutions, shifted windows and torch.nn's own attention, also in
channels_last; and the jobs of jobs.py. Needs what record.py needs.
"""
import argparse
import json
import os
import shutil
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from msprobe.pytorch import PrecisionDebugger

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
import record  # noqa: E402
from forked import child  # noqa: E402


class StochasticDepth(nn.Module):
    """As torchvision's: whole samples are left out in training."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        keep = torch.empty([x.shape[0]] + [1] * (x.ndim - 1), dtype=x.dtype).bernoulli_(1 - self.p)
        return x * keep.div_(1 - self.p)


class Basic(nn.Module):
    def __init__(self, a, b, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(a, b, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(b)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(b, b, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(b)
        self.downsample = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)) if stride > 1 or a != b else None

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2 = Basic(16, 16), Basic(16, 32, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(32, 5)

    def forward(self, x):
        x = self.layer2(self.layer1(self.maxpool(self.relu(self.bn1(self.conv1(x))))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class SqueezeExcitation(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(n, n // 4, 1), nn.Conv2d(n // 4, n, 1)
        self.activation, self.scale_activation = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x))))) * x


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16, eps=1e-3, momentum=0.01), nn.Hardswish(inplace=True),
            nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.ReLU6(inplace=True), SqueezeExcitation(16),
            nn.Conv2d(16, 32, 1, bias=False), nn.BatchNorm2d(32), StochasticDepth(0.2), nn.AvgPool2d(2), nn.Conv2d(32, 32, 5, 1, 2, groups=32), nn.SiLU(inplace=True))
        self.classifier = nn.Sequential(nn.Linear(32, 48), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(48, 5))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.LeakyReLU(0.1))
        self.down2 = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.InstanceNorm2d(16, affine=True), nn.ELU())
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 5, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = F.pad(self.up(b), (0, 0, 0, 0))
        y = self.out(torch.cat([a, c], 1))
        y = y + F.interpolate(F.interpolate(y, scale_factor=0.5, mode="bilinear", align_corners=False), size=y.shape[2:], mode="nearest")
        return F.adaptive_avg_pool2d(y, (3, 5)).flatten(2).amax(-1)


class Window(nn.Module):
    """A shifted window's attention, as Swin has it."""

    def __init__(self, n):
        super().__init__()
        self.norm, self.qkv, self.proj = nn.LayerNorm(n), nn.Linear(n, 3 * n), nn.Linear(n, n)
        self.table = nn.Parameter(torch.randn(49, 2) * 0.1)
        c = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        d = (c[:, :, None] - c[:, None, :]).permute(1, 2, 0) + 3
        self.register_buffer("index", (d[..., 0] * 7 + d[..., 1]).view(-1))

    def forward(self, x):
        n, h, w, c = x.shape
        y = F.pad(self.norm(x), (0, 0, 0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4))
        y = torch.roll(y, (-2, -2), (1, 2))
        p, q = y.shape[1] // 4, y.shape[2] // 4
        y = y.view(n, p, 4, q, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q_, k, v = self.qkv(y).reshape(-1, 16, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q_ * (c // 2) ** -0.5) @ k.transpose(-2, -1) + self.table[self.index].view(16, 16, -1).permute(2, 0, 1).unsqueeze(0)
        y = self.proj((F.softmax(a, dim=-1) @ v).transpose(1, 2).reshape(-1, 16, c))
        y = y.view(n, p, q, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, p * 4, q * 4, c)
        return x + torch.roll(y, (2, 2), (1, 2))[:, :h, :w, :]


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.window = nn.Conv2d(3, 16, 4, 4), Window(16)
        self.norm, self.mlp = nn.LayerNorm(16), nn.Sequential(nn.Linear(16, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 16))
        self.depth, self.head = StochasticDepth(0.1), nn.Linear(16, 5)

    def forward(self, x):
        x = self.window(self.embed(x).permute(0, 2, 3, 1))
        x = x + self.depth(self.mlp(self.norm(x)))
        return self.head(x.mean((1, 2)))


class Encoder(nn.Module):
    """torch.nn's own transformer, and what else is at hand."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(64, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, activation="gelu")
        self.attn = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm = nn.RMSNorm(16)
        self.head = nn.Linear(16, 5)

    def forward(self, ids):
        x = self.layer(self.embed(ids))
        x = x + self.attn(x, x, x, need_weights=False)[0]
        x = self.norm(x)
        where = torch.where(ids[0] > 10)[0]
        y = torch.zeros_like(x[0]).index_add_(0, where, x[1][where])
        scores, best = torch.topk(x.mean(-1), 3, dim=-1)
        x = x.mean(1) + y.sum(0) + scores.sum(-1, keepdim=True) + torch.diff(x, dim=1).mean(1)
        x = x + torch.tanh(x) + torch.exp(-x.abs()) + torch.sigmoid(x) * (ids.nonzero().shape[0] / 100)
        return self.head(x)


def pixels(rng):
    return (torch.tensor(rng.standard_normal((3, 3, 24, 24)), dtype=torch.float32),)


def ids(rng):
    return (torch.tensor(rng.integers(0, 64, (3, 9))),)


NETS = {"resnet18": (ResNet, pixels), "mobilenet": (MobileNet, pixels), "unet": (UNet, pixels), "swin": (Swin, pixels), "encoder": (Encoder, ids)}
# What is varied, of the models of transformers and of these nets.
HOW = {m: ("fp32", "bf16", "autocast", "checkpointing", "eager") for m in record.MODELS} | {n: ("fp32", "bf16", "autocast", "channels_last") for n in NETS}
JOBS = ("dtensor", "ddp", "tp", "fsdp", "pipeline")


def step(out, name, seed, level, how):
    """One recorded step of training."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    if name in NETS:
        cls, batch = NETS[name]
        model, batch = cls(), batch(rng)
        labels = torch.tensor(rng.integers(0, 5, 3))

        def loss_of(x):
            return F.cross_entropy(model(*x).float(), labels)
    else:
        spec = record.MODELS[name]
        cfg, cls = spec[0]()
        if how == "eager":
            cfg._attn_implementation = "eager"
        model, batch = cls(cfg), tuple(spec[1](rng).items())

        def loss_of(x):
            return model(**dict(x)).loss
    for p in model.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    if how == "checkpointing":
        model.gradient_checkpointing_enable()

    def like(v):
        if isinstance(v, tuple):
            return v[0], like(v[1])
        if how == "bf16" and v.is_floating_point():
            v = v.to(torch.bfloat16)
        return v.to(memory_format=torch.channels_last) if how == "channels_last" and v.ndim == 4 else v
    if how == "bf16":
        model = model.to(torch.bfloat16)
    if how == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    batch = [like(v) for v in batch]
    model.train()
    os.makedirs(out, exist_ok=True)
    config = os.path.join(out, "config.json")
    with open(config, "w") as f:
        json.dump({"task": "tensor", "dump_path": out, "rank": [], "step": [], "level": level,
                   "tensor": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}}, f)
    debugger = PrecisionDebugger(config_path=config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    debugger.start(model=model)
    with torch.autocast("cpu", torch.bfloat16, enabled=how == "autocast"):
        loss = loss_of(batch)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    debugger.stop()
    debugger.step()
    os.remove(config)
    return None, []


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--others", action="store_true", help="the models of others.py")
    o = p.parse_args()
    made, of = 0, HOW
    if o.others:
        import others
        of = {m: ("fp32", "bf16", "autocast", "checkpointing", "eager") for m in others.MODELS}
    for name, hows in of.items():
        for how in hows:
            made += 1
            level = ("mix", "L1")[(made + o.seed) % 2]
            label = f"{name}-{level}-{how}"
            if o.only not in label:
                continue
            out = os.path.join(o.out, label)
            shutil.rmtree(out, ignore_errors=True)
            answer = child(step, out, name, 1000 * o.seed + made, level, how)
            if isinstance(answer, dict):
                print(label, "not made:", answer["error"][:150], flush=True)
                shutil.rmtree(out, ignore_errors=True)
                continue
            print(label, flush=True)
    for n, kind in enumerate(() if o.others else JOBS):
        level = ("mix", "L1")[(n + o.seed) % 2]
        label = f"{kind}2-{level}-fp32"
        if o.only not in label:
            continue
        out = os.path.join(o.out, label)
        shutil.rmtree(out, ignore_errors=True)
        answer = jobs.job(out, 2, 1000 * o.seed + 500 + n, level, "tensor", kind, None, 1)
        print(label, answer.get("error", ""), flush=True)


main()
