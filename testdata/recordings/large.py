#!/usr/bin/env python3
"""large.py OUT [--seed N] [--only TEXT]: recordings of models of transformers with nothing wrong and tensors of real size, for check.

One layer or two of each, of hidden size 512 and with 2048 tokens, or with images of 224 pixels; one training step with AdamW and all tensors of
it, 0.3 to 3 GB each: rounding of long sums, of few different numbers and down long columns is not that of small ones. Needs what record.py needs.
"""
import argparse
import json
import os
import shutil

import torch
import transformers
from msprobe.pytorch import PrecisionDebugger

from forked import child

transformers.logging.set_verbosity_error()

TEXT = dict(vocab_size=4096, hidden_size=512, intermediate_size=1408, num_hidden_layers=1, num_attention_heads=8, max_position_embeddings=1024)
# kind: class of the configuration, of the model, arguments
MODELS = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", dict(num_key_value_heads=2, **TEXT)),
    "vocabulary": ("LlamaConfig", "LlamaForCausalLM", dict(num_key_value_heads=2, **{**TEXT, "vocab_size": 32000})),
    "bert": ("BertConfig", "BertForMaskedLM", dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0, **TEXT)),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", dict(vocab_size=4096, n_embd=512, n_layer=1, n_head=8, n_positions=1024, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)),
    "qwen3moe": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM", dict(num_key_value_heads=2, num_experts=8, num_experts_per_tok=2, moe_intermediate_size=512, head_dim=64, **TEXT)),
    "t5": ("T5Config", "T5ForConditionalGeneration", dict(vocab_size=4096, d_model=512, d_ff=1024, num_layers=1, num_heads=8, d_kv=64, decoder_start_token_id=0, dropout_rate=0)),
    "resnet": ("ResNetConfig", "ResNetForImageClassification", dict(depths=[1, 1], hidden_sizes=[64, 128], embedding_size=64)),
    "vit": ("ViTConfig", "ViTForImageClassification", dict(hidden_size=384, num_hidden_layers=1, num_attention_heads=6, intermediate_size=1536)),
    "swin": ("SwinConfig", "SwinForImageClassification", dict(embed_dim=48, depths=[2], num_heads=[3], drop_path_rate=0)),
}
# what is recorded: model, attention, dtype
RUNS = [("llama", "eager", "bf16"), ("llama", "sdpa", "fp16"), ("vocabulary", "sdpa", "bf16"), ("bert", "eager", "bf16"), ("gpt2", "eager", "fp32"),
        ("qwen3moe", "sdpa", "bf16"), ("t5", "eager", "fp32"), ("resnet", "eager", "fp32"), ("vit", "eager", "bf16"), ("swin", "eager", "bf16")]
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def record(out, seed, kind, attention, dtype):
    torch.manual_seed(seed)
    config, model, arguments = MODELS[kind]
    model = getattr(transformers, model)(getattr(transformers, config)(attn_implementation=attention, **arguments)).to(TYPES[dtype])
    if kind in ("resnet", "vit", "swin"):
        batch = {"pixel_values": torch.randn(8, 3, 224, 224).to(TYPES[dtype]), "labels": torch.zeros(8, dtype=torch.long)}
    else:
        ids = torch.randint(3, 4096, (2, 1024))
        batch = {"input_ids": ids, "labels": ids.clone()}
    with open(out + ".json", "w") as f:
        json.dump({"task": "tensor", "dump_path": out, "rank": [], "step": [], "level": "L1", "tensor": {"scope": [], "list": [], "data_mode": ["all"]}}, f)
    debugger = PrecisionDebugger(out + ".json")
    os.remove(out + ".json")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    debugger.start(model)
    model(**batch).loss.backward()
    optimizer.step()
    debugger.stop()
    debugger.step()
    return {}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    o = p.parse_args()
    os.makedirs(o.out, exist_ok=True)
    for run in RUNS:
        name = "-".join(run)
        if o.only not in name:
            continue
        out = os.path.join(o.out, name)
        shutil.rmtree(out, ignore_errors=True)
        got = child(record, out, o.seed, *run)
        print(name, got.get("error", ""), flush=True)


main()
