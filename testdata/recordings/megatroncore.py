#!/usr/bin/env python3
"""megatroncore.py OUT [--seed N] [--sample N] [--only TEXT]: pairs of jobs of Megatron-core, as jobs.py makes them of models of its own.

Needs megatron-core 0.16 and einops beside what jobs.py needs. A GPT of two layers is cut over two ranks on gloo: by columns
and rows (core), with sequences cut, too (coresequence), both with LayerNorm and learned positions, or with RMSNorm, SwiGLU and
rotary positions (corellama). Megatron-core asks for a device at three places that no result depends on; these are answered here.
"""
import contextlib
import copy

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
import megatron.core.transformer.torch_norm as torch_norm
from megatron.core import parallel_state
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.tensor_parallel.random import CudaRNGStatesTracker
from megatron.core.transformer.transformer_config import TransformerConfig

import jobs

WIDTH, VOCAB, LENGTH = 32, 96, 8


def net(world, kind):
    CudaRNGStatesTracker.fork = lambda self, *name: contextlib.nullcontext()  # nothing is dropped out
    torch.cuda.current_device = lambda: "cpu"
    new = torch_norm.WrappedTorchNorm.__new__

    def whole(cls, config, *args, **more):  # gradients of norms are summed over the ranks below
        config = copy.copy(config)
        config.sequence_parallel = False
        return new(cls, config, *args, **more)
    torch_norm.WrappedTorchNorm.__new__ = whole
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=world)
    llama = kind == "corellama"
    norm = "RMSNorm" if llama else "LayerNorm"
    config = TransformerConfig(
        num_layers=2, hidden_size=WIDTH, num_attention_heads=4, ffn_hidden_size=2 * WIDTH, use_cpu_initialization=True, params_dtype=torch.float32,
        tensor_model_parallel_size=world, sequence_parallel=kind == "coresequence", hidden_dropout=0.0, attention_dropout=0.0, normalization=norm,
        activation_func=F.silu if llama else lambda x: F.gelu(x), gated_linear_unit=llama, bias_activation_fusion=False, masked_softmax_fusion=False,
        gradient_accumulation_fusion=False, bias_dropout_fusion=False, apply_rope_fusion=False)
    return GPTModel(config, get_gpt_layer_local_spec(normalization=norm), vocab_size=VOCAB, max_sequence_length=LENGTH,
                    position_embedding_type="rope" if llama else "learned_absolute")


def work(rank, world, out, store, seed, level, task, kind, how, steps):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    rng = np.random.default_rng(seed)
    bad = int(rng.integers(world))
    wrong = rank == bad
    model = net(world, kind)
    for p in model.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())) * 0.1)
    layer = model.decoder.layers[1]
    if how == "weight" and wrong:
        with torch.no_grad():
            layer.mlp.linear_fc1.weight.view(-1)[7] += 0.5
    if how == "eps" and wrong:
        layer.pre_mlp_layernorm.eps = 0.05
    if how == "activation" and wrong:
        layer.mlp.config.activation_func = layer.mlp.activation_func = lambda x: torch.relu(x)
    data = [torch.tensor(rng.integers(0, VOCAB, (2, LENGTH))) for _ in range(steps)]
    debugger, config = jobs.debug(rank, out, level, task)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.12 if how == "lr" and wrong else 0.1)
    positions, mask = torch.arange(LENGTH).repeat(2, 1), torch.ones(1, 1, LENGTH, LENGTH).triu(1) > 0
    for ids in data:
        debugger.start(model=model)
        model(ids, positions, mask, labels=ids).mean().backward()
        for p in model.parameters():
            if getattr(p, "sequence_parallel", False) or kind == "coresequence" and p.dim() == 1 and not getattr(p, "tensor_model_parallel", False):
                dist.all_reduce(p.grad)
        if not (how == "no step" and wrong):
            optimizer.step()
        optimizer.zero_grad()
        debugger.stop()
        debugger.step()
        dist.barrier()
    jobs.os.remove(config)
    dist.barrier()
    return bad


if __name__ == "__main__":
    jobs.work = work
    jobs.FAULTS = dict(jobs.FAULTS, weight=["t", "matmul"], activation=["relu", "gelu", "silu"], eps=["layer_norm", "rms_norm", "LayerNorm", "RMSNorm"])
    jobs.OF = {kind: ["weight", "eps", "activation", "lr", "no step"] for kind in ("core", "coresequence", "corellama")}
    jobs.HARMLESS = {}
    jobs.main()
