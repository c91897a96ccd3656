"""Makes the logs beside it: python make.py, with PyTorch 2.10 or later.

A small network in two forms: as modules, and with its activation decomposed into products and erf; and the second with the output of a
layer multiplied by 8.
"""
import torch
from torch.utils._debug_mode import DebugMode


class Block(torch.nn.Module):
    def __init__(self, width, decomposed):
        super().__init__()
        self.norm, self.up, self.down, self.decomposed = torch.nn.LayerNorm(width), torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width), decomposed

    def forward(self, x):
        y = self.up(self.norm(x))
        y = y * 0.5 * (1 + torch.erf(y / 2**0.5)) if self.decomposed else torch.nn.functional.gelu(y)
        return x + self.down(y)


def record(path, decomposed, fault=None, hash_fn="norm"):
    torch.manual_seed(0)
    net = torch.nn.Sequential(*[Block(16, decomposed) for _ in range(3)])
    x = torch.randn(2, 5, 16)
    if fault is not None:
        net[fault].down.register_forward_hook(lambda _, __, out: out.mul_(8))
    with DebugMode(record_nn_module=True) as mode, DebugMode.log_tensor_hashes(hash_fn=hash_fn, hash_inputs=True):
        with torch.no_grad():
            net(x)
    with open(path, "w") as f:
        f.write(mode.debug_string() + "\n")


record("modules.log", False)
record("decomposed.log", True)
record("fault.log", True, 1)
record("hash.log", False, hash_fn="hash_tensor")

import os

os.makedirs("sglang", exist_ok=True)
for index, (name, value) in enumerate({"hidden": torch.ones(2, 3), "attn": torch.arange(6.0).reshape(2, 3)}.items()):
    meta = {"dims": "b h", "name": name, "tp": {"rank": 0, "size": 1}, "filter": None}
    torch.save({"value": value, "meta": meta}, f"sglang/step=0___rank=0___dump_index={index + 1}___name={name}___layer_id=0.pt")
