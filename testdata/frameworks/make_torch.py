"""Writes small files as PyTorch, NumPy, safetensors and MindSpore write them, for tests of their readers.

    python make_torch.py FOLDER        PyTorch 2.6 or later, tensorboard, safetensors, huggingface_hub
    python make_torch.py FOLDER mind   MindSpore

Beside the files it writes torch.json, or mind.json: what is in them.
"""
import json
import os
import sys

import numpy as np

OUT = os.path.join(os.path.abspath(sys.argv[1]), "torch")


def arrays():
    r = np.random.RandomState(13)
    return {"embed.weight": r.rand(6, 4).astype("float32"), "block.0.proj.weight": r.rand(4, 4).astype("float32") - 0.5,
            "block.0.proj.bias": r.rand(4).astype("float32"), "step": np.array(7, dtype="int64")}


def expect(name, weights, losses):
    values = dict((k, np.asarray(v).astype("float64").ravel().tolist()) for k, v in weights.items())
    with open(os.path.join(OUT, name), "w") as f:
        json.dump({"weights": values, "losses": losses}, f, indent=1, sort_keys=True)


def pytorch():
    import torch
    import torch.distributed.checkpoint as dcp
    from huggingface_hub import save_torch_state_dict
    from safetensors.torch import save_file
    from torch.utils.tensorboard import SummaryWriter

    weights = arrays()
    state = dict((k, torch.from_numpy(v)) for k, v in weights.items())
    state["half"] = state["embed.weight"][:2].bfloat16()
    weights["half"] = state["half"].float().numpy()
    torch.save(state, os.path.join(OUT, "state.pt"))
    torch.save(state, os.path.join(OUT, "old.pth"), _use_new_zipfile_serialization=False)
    torch.save({"epoch": 3, "model": state, "rate": 0.1}, os.path.join(OUT, "training.pt"))
    save_file(state, os.path.join(OUT, "state.safetensors"))
    os.makedirs(os.path.join(OUT, "shards"), exist_ok=True)
    save_torch_state_dict(state, os.path.join(OUT, "shards"), max_shard_size=100)
    np.savez(os.path.join(OUT, "state.npz"), **arrays())
    np.savez_compressed(os.path.join(OUT, "packed.npz"), **arrays())
    dcp.save(state, checkpoint_id=os.path.join(OUT, "dcp"))
    torch.save(torch.nn.Linear(2, 2), os.path.join(OUT, "module.pt"))  # a program's classes: code
    losses = {}
    writer = SummaryWriter(os.path.join(OUT, "events"))
    for i in range(8):
        losses[i] = 3.0 / (i + 1)
        writer.add_scalar("train/loss", losses[i], i)
        writer.add_scalar("train/grad_norm", 1.0 + i, i)
    writer.add_histogram("w", np.arange(4.0), 7)
    writer.close()
    for name in os.listdir(os.path.join(OUT, "events")):
        os.rename(os.path.join(OUT, "events", name), os.path.join(OUT, "events", "events.out.tfevents.1700000000.host.1.0"))
    expect("torch.json", weights, losses)
    keras = os.path.join(os.path.dirname(OUT), "weights", "pair.npz")  # of make.py
    if os.path.exists(keras):
        pair(keras)


def pair(path):
    """The network of make.py's pair.h5 with the weights of it, in PyTorch's order."""
    import torch
    from torch import nn
    keras = np.load(path)
    m = nn.ModuleDict({"conv": nn.Conv2d(2, 3, 3), "norm": nn.BatchNorm2d(3), "depth": nn.Conv2d(3, 6, 2, groups=3), "embed": nn.Embedding(5, 3),
                       "square": nn.Linear(12, 12), "head": nn.Linear(12, 4)})
    order = {"conv": (3, 2, 0, 1), "depth": (2, 3, 0, 1), "square": (1, 0), "head": (1, 0)}
    names = {"kernel": "weight", "depthwise_kernel": "weight", "gamma": "weight", "embeddings": "weight", "beta": "bias", "bias": "bias",
             "moving_mean": "running_mean", "moving_variance": "running_var"}
    state = m.state_dict()
    for name in keras.files:
        layer, word = name[:-2].split(".")
        value = keras[name].transpose(order[layer]) if word.endswith("kernel") else keras[name]
        state["%s.%s" % (layer, names[word])].copy_(torch.tensor(value.reshape(state["%s.%s" % (layer, names[word])].shape)))
    torch.save(state, os.path.join(OUT, "pair.pt"))
    state["square.weight"] = state["square.weight"].T.contiguous()
    state["depth.weight"][4, 0, 1, 0] += 0.5
    torch.save(state, os.path.join(OUT, "pair_wrong.pt"))


def mindspore():
    import mindspore as ms
    weights = arrays()
    ms.save_checkpoint([{"name": k, "data": ms.Parameter(ms.Tensor(v), name=k)} for k, v in weights.items()], os.path.join(OUT, "state.ckpt"))
    expect("mind.json", weights, {})


os.makedirs(OUT, exist_ok=True)
mindspore() if len(sys.argv) > 2 else pytorch()
