#!/usr/bin/env python3
"""clean.py OUT: makes testdata/clean, small recordings with nothing wrong of what check once called wrong, or did not know.

Needs torch and mindstudio-probe from PyPI; pack with `tar -C OUT -czf clean.tar.gz .`
"""
import json
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from msprobe.pytorch import PrecisionDebugger


class OwnNorm(nn.Module):
    """As Hugging Face's RMSNorm."""

    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(n) + 0.5)
        self.variance_epsilon = 1e-6

    def forward(self, x):
        kind = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
        return self.weight * x.to(kind)


gelu = F.gelu  # as transformers has it: kept before the recorder puts its own in place


class OwnActivation(nn.Module):
    def forward(self, x):
        return gelu(x)


class Mlp(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gate, self.up, self.down, self.act = nn.Linear(n, 8, bias=False), nn.Linear(n, 8, bias=False), nn.Linear(8, n, bias=False), OwnActivation()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.norm, self.mlp, self.last = OwnNorm(4), Mlp(4), nn.LayerNorm(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x))).flatten(2).transpose(1, 2)
        x = x + self.mlp(self.norm(x))
        return self.head(self.last(x).mean(1))


def record(out, level, how):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model, x = Net(), torch.randn(2, 3, 5, 5)
    if how == "bf16":
        model, x = model.to(torch.bfloat16), x.to(torch.bfloat16)
    os.makedirs(out)
    config = os.path.join(out, "config.json")
    with open(config, "w") as f:
        json.dump({"task": "tensor", "dump_path": out, "rank": [], "step": [], "level": level, "tensor": {"scope": [], "list": [], "data_mode": ["all"]}}, f)
    debugger = PrecisionDebugger(config_path=config)
    debugger.start(model=model)
    with torch.autocast("cpu", torch.bfloat16, enabled=how == "autocast"):
        y = model(x)
    F.cross_entropy(y.float(), torch.tensor([1, 2])).backward()
    debugger.stop()
    debugger.step()
    os.remove(config)


if __name__ == "__main__":
    level, how = sys.argv[2:4] if len(sys.argv) > 3 else (None, None)
    if level:
        record(sys.argv[1], level, how)
    else:
        for level, how in [("mix", "bf16"), ("mix", "autocast"), ("L0", "fp32")]:
            if os.system(f"{sys.executable} {sys.argv[0]} {os.path.join(sys.argv[1], level + '-' + how)} {level} {how}"):
                sys.exit(1)
