#!/usr/bin/env python3
"""jobs.py OUT [--seed N] [--only TEXT]: pairs of recordings of distributed jobs, made by the real recorder with gloo.

As record.py, with several ranks: data parallel by hand and by DistributedDataParallel, tensor parallel by
hand and by DTensor, a pipeline, FSDP2. answer.json of a fault has `rank`, the rank that is wrong first,
and `calls`, names of functions that count as its call; that of a wrong collective has "collective": true.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import tempfile
import traceback

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from msprobe.pytorch import PrecisionDebugger

VOCAB, WIDTH = 64, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.act = nn.GELU()
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(depth))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class RowParallel(nn.Module):
    """The down projection of a block, split by its inputs over the ranks."""

    def __init__(self, linear, rank, world, state):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().chunk(world, 1)[rank].clone())
        self.bias = nn.Parameter(linear.bias.detach().clone())
        self.state = state

    def forward(self, x):
        y = F.linear(x, self.weight)
        y = reduce_forward(y, self.state)
        return y + self.bias


def reduce_forward(y, state):
    state["reductions"] += 1
    op = dist.ReduceOp.SUM
    if state["how"] == "max" and state["reductions"] == state["at"]:
        op = dist.ReduceOp.MAX
    z = y.detach().clone()
    if not (state["how"] == "lost" and state["reductions"] == state["at"] and state["rank"] == state["bad"]):
        dist.all_reduce(z, op=op)
    else:
        dist.all_reduce(z.clone())
    return y + (z - y).detach()


class ColumnParallel(nn.Module):
    def __init__(self, linear, rank, world):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().chunk(world, 0)[rank].clone())
        self.bias = nn.Parameter(linear.bias.detach().chunk(world, 0)[rank].clone())

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


def tensor_parallel(model, rank, world, state):
    for b in model.layers:
        b.up, b.down = ColumnParallel(b.up, rank, world), RowParallel(b.down, rank, world, state)
    return model


def work(rank, world, out, store, seed, level, task, kind, how, steps):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    rng = np.random.default_rng(seed)
    bad = int(rng.integers(world))
    state = {"how": how, "rank": rank, "bad": bad, "at": int(rng.integers(1, 3)), "reductions": 0}
    model = Net(4 if kind == "pipeline" else 2)
    for p in model.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    data = [torch.tensor(rng.integers(0, VOCAB, (world, 2, 8))) for _ in range(steps)]
    wrong = rank == bad
    if how == "weight" and wrong:
        with torch.no_grad():
            list(model.layers)[1].up.weight.view(-1)[7] += 0.5
    if how == "eps" and wrong:
        list(model.layers)[1].norm.eps = 0.05
    if how == "activation" and wrong:
        list(model.layers)[1].act = nn.Tanh()
    if how == "nan" and wrong:
        b = list(model.layers)[1].down
        forward = b.forward
        b.forward = lambda x: forward(x) * torch.where(torch.arange(WIDTH) == 3, float("nan"), 1.0)
    parallel = model
    if kind == "tp":
        parallel = tensor_parallel(model, rank, world, state)
    elif kind == "dtensor":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        mesh = init_device_mesh("cpu", (world,))
        for b in model.layers:
            parallelize_module(b, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    elif kind == "ddp":
        parallel = nn.parallel.DistributedDataParallel(model)
    elif kind == "fsdp":
        from torch.distributed.fsdp import fully_shard
        from torch.distributed.device_mesh import init_device_mesh
        mesh = init_device_mesh("cpu", (world,))
        for b in model.layers:
            fully_shard(b, mesh=mesh)
        fully_shard(model, mesh=mesh)
    kindly = "tensor" if task == "tensor" else "statistics"
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task if task in ("statistics", "md5") else "statistics"}
    config = os.path.join(out, f"config{rank}.json")
    with open(config, "w") as f:
        json.dump({"task": kindly, "dump_path": out, "rank": [], "step": [], "level": level, kindly: t}, f)
    debugger = PrecisionDebugger(config_path=config)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for step in range(steps):
        ids = data[step][rank if kind in ("dp", "ddp", "fsdp") else 0]
        if how == "same batch" and wrong:
            ids = data[step][(rank + 1) % world]
        debugger.start(model=model)
        if kind == "pipeline":
            half = len(model.layers) // 2
            x = model.embed(ids) if rank == 0 else torch.zeros(2, 8, WIDTH)
            if rank == 0:
                for layer in list(model.layers)[:half]:
                    x = layer(x)
                dist.send(x.detach(), 1)
                g = torch.zeros_like(x)
                dist.recv(g, 1)
                x.backward(g)
            else:
                dist.recv(x, 0)
                x.requires_grad_(True)
                y = x
                for layer in list(model.layers)[half:]:
                    y = layer(y)
                loss = F.cross_entropy(model.head(y).view(-1, VOCAB), ids.view(-1))
                loss.backward()
                dist.send(x.grad, 0)
        else:
            loss = F.cross_entropy(parallel(ids).view(-1, VOCAB), ids.view(-1))
            loss.backward()
        if kind == "dp":
            for n, p in enumerate(model.parameters()):
                op = dist.ReduceOp.MAX if how == "max" and n == 3 else dist.ReduceOp.SUM
                if how == "lost" and wrong and n == 3:
                    dist.all_reduce(p.grad.clone(), op=op)
                else:
                    dist.all_reduce(p.grad, op=op)
                p.grad.div_(world)
            if how == "scaled" and wrong:
                list(model.layers)[1].up.weight.grad.mul_(2)
        if not (how == "no step" and wrong):
            optimizer.step()
        optimizer.zero_grad()
        debugger.stop()
        debugger.step()
        dist.barrier()
    os.remove(config)
    dist.barrier()
    return bad


FAULTS = {
    "weight": ["linear"], "eps": ["layer_norm", "LayerNorm"], "activation": ["tanh", "gelu", "Tanh", "GELU"], "nan": ["mul", "__mul__", "where"],
    "max": ["all_reduce"], "lost": ["all_reduce", "clone", "div_"], "scaled": ["mul_"], "no step": ["step", "sgd"], "same batch": ["embedding"],
}
OF = {"dp": ["weight", "eps", "activation", "nan", "max", "lost", "scaled", "same batch"], "tp": ["weight", "eps", "activation", "max", "lost"],
      "ddp": ["weight", "eps", "activation", "nan", "same batch"], "dtensor": ["weight", "eps", "activation"], "pipeline": ["weight", "eps", "activation", "nan"], "fsdp": ["eps", "activation"]}


def job(out, world, *args):
    """Runs work in world processes; its answer, or what went wrong."""
    os.makedirs(out, exist_ok=True)
    store = tempfile.mktemp()
    pids = []
    r, w = os.pipe()
    for rank in range(world):
        pid = os.fork()
        if pid == 0:
            code = 0
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                if not os.environ.get("VERBOSE"):
                    os.dup2(null, 2)
                bad = work(rank, world, out, store, *args)
                if rank == 0:
                    os.write(w, json.dumps({"rank": bad}).encode())
            except BaseException as e:
                if os.environ.get("VERBOSE"):
                    traceback.print_exc()
                os.write(w, json.dumps({"error": repr(e)}).encode())
                code = 1
            os._exit(code)
        pids.append(pid)
    os.close(w)
    failed = False
    for pid in pids:
        failed |= os.waitpid(pid, 0)[1] != 0
    with os.fdopen(r) as f:
        text = f.read()
    with contextlib.suppress(FileNotFoundError):
        os.remove(store)
    return {"error": text[:200]} if failed or not text else json.loads(text)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    o = p.parse_args()
    rng = random.Random(o.seed)
    for n, kind in enumerate(OF):
        world = 2
        for k, (what, how) in enumerate([("harmless", h) for h in ("same", "threads")] + [("fault", f) for f in OF[kind]]):
            level, task = rng.choice([("L1", "statistics"), ("mix", "statistics"), ("mix", "tensor"), ("L1", "tensor"), ("mix", "md5")])
            label = f"{kind}{world}-{level}-{task}-{how.replace(' ', '_')}"
            if o.only not in label:
                continue
            args = (o.seed * 1000 + 20 * n + k, level, task, kind)
            out = os.path.join(o.out, label)
            shutil.rmtree(out, ignore_errors=True)
            golden = job(os.path.join(out, "golden"), world, *args, None, 2)
            left = job(os.path.join(out, "left"), world, *args, how, 2)
            bad = [a["error"] for a in (golden, left) if "error" in a]
            if bad:
                print(label, "not made:", bad[0], flush=True)
                shutil.rmtree(out, ignore_errors=True)
                continue
            with open(os.path.join(out, "answer.json"), "w") as f:
                json.dump({"model": kind, "level": level, "task": task, "dtype": "fp32", "kind": f"{what}: {how}", "job": True,
                           "rank": left["rank"], "collective": how in ("max", "lost"), "calls": FAULTS.get(how, [])}, f, indent=1)
            print(label, flush=True)


if __name__ == "__main__":
    main()
