"""Makes the checkpoints beside it: python make.py, with PyTorch 2.6 or later.

dcp: torch.distributed.checkpoint of two processes, a tensor cut by rows, one by columns, one not at all. megatron: a network of four
layers as Megatron's ranks keep it, cut in two by tensors and in two stages. whole.pt in each holds the tensors as they were.
"""
import argparse
import os

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp


def save(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (2,))
    torch.manual_seed(0)
    a, b, c = torch.randn(5, 3), torch.randn(2, 3, 4).bfloat16(), torch.randn(5)
    model = {"a.weight": distribute_tensor(a, mesh, [Shard(0)]), "b.weight": distribute_tensor(b, mesh, [Shard(2)]), "c.weight": c}
    dcp.save({"model": model, "step": 7, "optimizer": {"lr": 0.1}}, checkpoint_id="dcp")
    if rank == 0:
        torch.save({"model": {"a.weight": a, "b.weight": b, "c.weight": c}}, "dcp/whole.pt")
    dist.destroy_process_group()


def megatron():
    torch.manual_seed(1)
    h, f, layers, tp, pp = 4, 6, 4, 2, 2
    whole = {"embedding.word_embeddings.weight": torch.randn(8, h)}
    for l in range(layers):
        at = f"decoder.layers.{l}."
        whole[at + "self_attention.linear_qkv.weight"] = torch.randn(3 * h, h)
        whole[at + "self_attention.linear_proj.weight"] = torch.randn(h, h)
        whole[at + "mlp.linear_fc1.weight"] = torch.randn(2 * f, h)
        whole[at + "mlp.linear_fc1.layer_norm_weight"] = torch.rand(h)
        whole[at + "mlp.linear_fc2.weight"] = torch.randn(h, f)
    whole["decoder.final_layernorm.weight"] = torch.rand(h)
    whole["output_layer.weight"] = torch.randn(8, h)
    os.makedirs("megatron", exist_ok=True)
    torch.save(whole, "megatron/whole.pt")
    for p in range(pp):
        for t in range(tp):
            model = {}
            for name, v in whole.items():
                if "layers." in name:
                    l = int(name.split(".")[2])
                    if l // 2 != p:
                        continue
                    name = name.replace(f"layers.{l}.", f"layers.{l - 2 * p}.")
                elif ("embedding" in name) != (p == 0):
                    continue
                if "fc1.weight" in name:
                    v = torch.cat([half.chunk(tp)[t] for half in v.chunk(2)])
                elif any(x in name for x in ("word_embeddings", "output_layer", "qkv.weight")):
                    v = v.chunk(tp)[t]
                elif any(x in name for x in ("proj.weight", "fc2.weight")):
                    v = v.chunk(tp, 1)[t]
                model[name] = v.clone()
            folder = f"megatron/iter_0000100/mp_rank_{t:02d}_{p:03d}"
            os.makedirs(folder, exist_ok=True)
            args = argparse.Namespace(hidden_size=h, params_dtype=torch.bfloat16, path=os.path.join, kinds={"a", "b"}, raw=b"\0\1")
            torch.save({"args": args, "iteration": 100, "model": model, "optimizer": {"param": torch.randn(3)}}, folder + "/model_optim_rng.pt")
    with open("megatron/latest_checkpointed_iteration.txt", "w") as out:
        out.write("100")


if __name__ == "__main__":
    mp.spawn(save, nprocs=2)
    megatron()
