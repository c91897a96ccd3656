#!/usr/bin/env python3
"""others.py OUT [--seed N] [--only TEXT]: pairs of recordings of models and with faults that record.py does not have.

As record.py, whose rules of what is right hold: more of transformers (latent and sliding attention, alibi, experts that are
shared, speech, encoder and decoder, states, hybrids of state and attention, LoRA), and nets of torchvision and diffusers where these are
installed. Faults are in rotations, masks, gradients, losses, weights that are swapped or transposed, halves of outputs,
precisions, rates of learning and random numbers.
"""
import contextlib
import os
import re
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record  # noqa: E402
from record import llama, pixels, seq2seq, text_class, tokens, within  # noqa: E402


def speech(rng):
    return {"input_features": torch.tensor(rng.standard_normal((2, 8, 24)), dtype=torch.float32), "labels": torch.tensor(rng.integers(3, 96, (2, 7)))}


def wave(rng):
    return {"input_values": torch.tensor(rng.standard_normal((2, 400)), dtype=torch.float32), "labels": torch.tensor(rng.integers(3, 32, (2, 4)))}


def spectrogram(rng):
    return {"input_values": torch.tensor(rng.standard_normal((2, 24, 16)), dtype=torch.float32), "labels": torch.tensor(rng.integers(0, 5, 2))}


def unpadded(rng):
    return tokens(rng, pad=False)


class Loss(nn.Module):
    """A net of torchvision or diffusers as a model of transformers looks: what it gives has a loss."""

    def __init__(self, net, image):
        super().__init__()
        self.net, self.image = net, image

    def forward(self, pixel_values, labels):
        if self.image:
            y = self.net(pixel_values, torch.tensor([3, 40])).sample
            loss = F.mse_loss(y, pixel_values.flip(0))
        else:
            loss = F.cross_entropy(self.net(pixel_values).float(), labels)
        return transformers.utils.ModelOutput(loss=loss)


def unmasked(rng):
    return {k: v for k, v in text_class(rng).items() if k != "attention_mask"}


def net(make, image=False):
    """A configuration that is none, and a class that makes the net."""
    def build():
        class Config:
            pass
        return Config(), lambda cfg: Loss(make(), image)
    return build


def torchvision(name, **more):
    def make():
        import torchvision.models as tv
        from torchvision.models.resnet import BasicBlock, Bottleneck
        from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3
        if name == "resnet":
            return tv.ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5)
        if name == "resnext":
            return tv.ResNet(Bottleneck, [1, 1, 1, 1], num_classes=5, groups=4, width_per_group=8)
        if name == "vit":
            return tv.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=5)
        if name == "swin":
            return tv.SwinTransformer([4, 4], 16, [1, 2], [2, 4], [4, 4], num_classes=5, stochastic_depth_prob=0.1)
        if name == "convnext":
            from torchvision.models.convnext import CNBlockConfig
            return tv.ConvNeXt([CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)], stochastic_depth_prob=0.1, num_classes=5)
        if name == "mobilenet":
            def conf(*a):
                return InvertedResidualConfig(*a, 1.0)
            return MobileNetV3([conf(8, 3, 8, 8, True, "RE", 2, 1), conf(8, 5, 16, 16, True, "HS", 1, 1)], 32, num_classes=5, dropout=0)
        if name == "densenet":
            return tv.DenseNet(8, (2, 2), 16, num_classes=5, drop_rate=0)
        if name == "shufflenet":
            return tv.ShuffleNetV2([1, 1, 1], [8, 16, 32, 64, 64], num_classes=5)
        raise LookupError(name)
    return net(make)


def unet():
    from diffusers import UNet2DModel
    return UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(16, 32), norm_num_groups=4,
                       down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8)


def lora():
    cfg, cls = llama()

    def make(c):
        from peft import LoraConfig, get_peft_model
        return get_peft_model(cls(c), LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=["q_proj", "v_proj", "down_proj"], init_lora_weights=False))
    return cfg, make


def of(name, suffix="ForCausalLM", **more):
    def build():
        return getattr(transformers, name + "Config")(**more), getattr(transformers, name + suffix)
    return build


def named(config, model, **more):
    return lambda: (getattr(transformers, config)(**more), getattr(transformers, model))


TEXT = {"vocab_size": 96, "max_position_embeddings": 64, "pad_token_id": 0}
SMALL = TEXT | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
CODED = {"vocab_size": 96, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
         "max_position_embeddings": 64, "dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0, "pad_token_id": 0, "decoder_start_token_id": 2}
HEARD = {"vocab_size": 32, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "conv_dim": (16, 16), "conv_kernel": (10, 3), "conv_stride": (5, 2), "num_feat_extract_layers": 2,
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2, "hidden_dropout": 0.0, "attention_dropout": 0.0, "feat_proj_dropout": 0.0, "activation_dropout": 0.0, "final_dropout": 0.0, "layerdrop": 0.0,
         "mask_time_prob": 0.0}
# name: (configuration and class, batch)
MODELS = {
    "xglm": (of("XGLM", vocab_size=96, d_model=32, ffn_dim=64, num_layers=2, attention_heads=4, max_position_embeddings=64, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, layerdrop=0.0), tokens),
    "codegen": (of("CodeGen", vocab_size=96, n_positions=64, n_ctx=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0), tokens),
    "biogpt": (of("BioGpt", **SMALL, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, layerdrop=0.0, activation_dropout=0.0), tokens),
    "gptneo": (of("GPTNeo", vocab_size=96, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=6, max_position_embeddings=64, intermediate_size=64,
                  embed_dropout=0.0, attention_dropout=0.0, resid_dropout=0.0), tokens),
    "bigcode": (of("GPTBigCode", vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, multi_query=True, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0), tokens),
    "mpt": (of("Mpt", vocab_size=96, d_model=32, n_heads=4, n_layers=2, expansion_ratio=2, max_seq_len=64), tokens),
    "persimmon": (of("Persimmon", **SMALL, attention_dropout=0.0, hidden_dropout=0.0), tokens),
    "granite": (of("Granite", **SMALL, num_key_value_heads=2, embedding_multiplier=2.0, attention_multiplier=0.3, residual_multiplier=0.5, logits_scaling=2.0), tokens),
    "glm": (of("Glm", **SMALL, num_key_value_heads=2, head_dim=8), tokens),
    "nemotron": (of("Nemotron", **SMALL, num_key_value_heads=2), tokens),
    "starcoder2": (of("Starcoder2", **SMALL, num_key_value_heads=2, sliding_window=6, residual_dropout=0.0, embedding_dropout=0.0), tokens),
    "phi3": (of("Phi3", **SMALL, num_key_value_heads=2, bos_token_id=1, eos_token_id=2), tokens),
    "exaone4": (of("Exaone4", **SMALL, num_key_value_heads=2, sliding_window=6), tokens),
    "diffllama": (of("DiffLlama", **SMALL, num_key_value_heads=2), tokens),
    "helium": (of("Helium", **SMALL, num_key_value_heads=2, head_dim=8), tokens),
    "dbrx": (of("Dbrx", d_model=32, n_heads=4, n_layers=2, max_seq_len=64, vocab_size=96, attn_config={"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 10000.0}, ffn_config={"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32}), tokens),
    "lfm2": (of("Lfm2", **SMALL, num_key_value_heads=2, layer_types=["conv", "full_attention"], block_auto_adjust_ff_dim=False), tokens),
    "qwen3next": (of("Qwen3Next", **SMALL, num_key_value_heads=2, head_dim=8, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8, num_experts=4,
                     num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16, layer_types=["linear_attention", "full_attention"]), tokens),
    "recurrentgemma": (of("RecurrentGemma", vocab_size=96, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=64, lru_width=32,
                          attention_window_size=8, pad_token_id=0), unpadded),
    "jamba": (of("Jamba", **SMALL, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2, attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1,
                 mamba_d_state=4, mamba_expand=2, use_mamba_kernels=False), unpadded),
    "mpnet": (of("MPNet", "ForSequenceClassification", **SMALL | {"pad_token_id": 1}, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), text_class),
    "squeezebert": (of("SqueezeBert", "ForSequenceClassification", **SMALL, embedding_size=32, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), text_class),
    "fnet": (of("FNet", "ForSequenceClassification", vocab_size=96, hidden_size=32, num_hidden_layers=2, intermediate_size=64, max_position_embeddings=64, num_labels=3, hidden_dropout_prob=0, pad_token_id=0), unmasked),
    "convbert": (of("ConvBert", "ForSequenceClassification", **SMALL, embedding_size=32, head_ratio=2, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0, classifier_dropout=0), text_class),
    "roformer": (of("RoFormer", "ForSequenceClassification", **SMALL, embedding_size=32, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), text_class),
    "modernbert": (of("ModernBert", "ForSequenceClassification", **SMALL, num_labels=3, local_attention=6, global_attn_every_n_layers=2, cls_token_id=1, sep_token_id=2, bos_token_id=1, eos_token_id=2), text_class),
    "bertdeberta": (of("Deberta", "ForSequenceClassification", **SMALL, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0, relative_attention=True, pos_att_type=["p2c", "c2p"]), text_class),
    "canine": (of("Canine", "ForSequenceClassification", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64, num_labels=3, hidden_dropout_prob=0,
                  attention_probs_dropout_prob=0, downsampling_rate=4, local_transformer_stride=4, num_hash_buckets=64, bos_token_id=1, eos_token_id=2), lambda rng: text_class(rng) | {}),
    "mbart": (of("MBart", "ForConditionalGeneration", **CODED), seq2seq),
    "pegasus": (of("Pegasus", "ForConditionalGeneration", **CODED | {"decoder_start_token_id": 0}), seq2seq),
    "blenderbot": (of("Blenderbot", "ForConditionalGeneration", **CODED), seq2seq),
    "m2m": (of("M2M100", "ForConditionalGeneration", **CODED, encoder_layerdrop=0.0, decoder_layerdrop=0.0), seq2seq),
    "umt5": (of("UMT5", "ForConditionalGeneration", vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0, decoder_start_token_id=0, pad_token_id=0), seq2seq),
    "prophetnet": (of("ProphetNet", "ForConditionalGeneration", vocab_size=96, hidden_size=32, num_encoder_layers=1, num_decoder_layers=1, num_encoder_attention_heads=4, num_decoder_attention_heads=4, encoder_ffn_dim=64,
                      decoder_ffn_dim=64, max_position_embeddings=64, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, ngram=2, pad_token_id=0, decoder_start_token_id=1, disable_ngram_loss=True), seq2seq),
    "convnextv2": (of("ConvNextV2", "ForImageClassification", hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, image_size=32, num_labels=5, drop_path_rate=0.0), pixels),
    "deit": (of("DeiT", "ForImageClassification", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_labels=5, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), pixels),
    "mobilenetv2": (of("MobileNetV2", "ForImageClassification", image_size=32, depth_multiplier=0.35, num_labels=5, classifier_dropout_prob=0.0), pixels),
    "mobilevit": (of("MobileViT", "ForImageClassification", image_size=32, hidden_sizes=[16, 16, 16], neck_hidden_sizes=[8, 8, 8, 8, 8, 8, 16], num_attention_heads=4, num_labels=5, hidden_dropout_prob=0.0,
                     attention_probs_dropout_prob=0.0, classifier_dropout_prob=0.0), pixels),
    "bit": (of("Bit", "ForImageClassification", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_groups=4, num_labels=5, layer_type="preactivation", drop_path_rate=0.0), pixels),
    "focalnet": (of("FocalNet", "ForImageClassification", image_size=32, patch_size=4, embed_dim=8, hidden_sizes=[8, 16], depths=[1, 1], focal_levels=[2, 2], focal_windows=[3, 3], num_labels=5, drop_path_rate=0.0), pixels),
    "swinv2": (of("Swinv2", "ForImageClassification", image_size=32, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=5, drop_path_rate=0.0), pixels),
    "levit": (of("Levit", "ForImageClassification", image_size=32, patch_size=16, hidden_sizes=[16, 32, 32], num_attention_heads=[2, 2, 2], depths=[1, 1, 1], key_dim=[8, 8, 8], num_labels=5, drop_path_rate=0,
                 down_ops=[["Subsample", 8, 2, 4, 2, 2], ["Subsample", 8, 4, 4, 2, 2]]), pixels),
    "pvt": (of("Pvt", "ForImageClassification", image_size=32, num_encoder_blocks=2, depths=[1, 1], sequence_reduction_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[4, 2], strides=[4, 2], num_attention_heads=[1, 2],
               mlp_ratios=[2, 2], num_labels=5, drop_path_rate=0.0), pixels),
    "efficientnet": (of("EfficientNet", "ForImageClassification", image_size=32, width_coefficient=0.25, depth_coefficient=0.3, hidden_dim=320, num_labels=5, dropout_rate=0.0, drop_connect_rate=0.0), pixels),
    "wav2vec2": (of("Wav2Vec2", "ForCTC", **HEARD, feat_extract_norm="group"), wave),
    "unispeech": (of("UniSpeech", "ForCTC", **HEARD, feat_extract_norm="layer"), wave),
    "wavlm": (of("WavLM", "ForCTC", **HEARD, feat_extract_norm="layer", num_buckets=8), wave),
    "speech2text": (of("Speech2Text", "ForConditionalGeneration", **CODED, input_feat_per_channel=24, conv_channels=32, max_source_positions=64, max_target_positions=64), lambda rng: speech(rng) | {"input_features": torch.tensor(rng.standard_normal((2, 16, 24)), dtype=torch.float32)}),
    "opt": (of("OPT", vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, max_position_embeddings=64, dropout=0, word_embed_proj_dim=32, pad_token_id=1), tokens),
    "phi": (of("Phi", **SMALL, attention_dropout=0.0, embd_pdrop=0.0, resid_pdrop=0.0), tokens),
    "gptneox": (of("GPTNeoX", **SMALL), tokens),
    "falcon": (of("Falcon", vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=False, pad_token_id=0), tokens),
    "bloom": (of("Bloom", vocab_size=96, hidden_size=32, n_layer=2, n_head=4, hidden_dropout=0.0, attention_dropout=0.0, pad_token_id=0), tokens),
    "mistral": (of("Mistral", **SMALL, num_key_value_heads=2, sliding_window=6), tokens),
    "gemma": (of("Gemma", **SMALL, num_key_value_heads=2, head_dim=8), tokens),
    "deepseek": (of("DeepseekV3", **SMALL, num_key_value_heads=4, moe_intermediate_size=16, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1, first_k_dense_replace=1,
                    q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8, n_shared_experts=1), tokens),
    "qwen2moe": (of("Qwen2Moe", **SMALL, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16), tokens),
    "olmoe": (of("Olmoe", **SMALL, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2), tokens),
    "gptoss": (of("GptOss", **SMALL, num_key_value_heads=2, head_dim=8, num_local_experts=4, num_experts_per_tok=2, sliding_window=6), tokens),
    "mamba2": (of("Mamba2", vocab_size=96, hidden_size=32, num_hidden_layers=2, num_heads=4, head_dim=16, state_size=8, n_groups=1, chunk_size=8, pad_token_id=0), unpadded),
    "roberta": (of("Roberta", "ForSequenceClassification", **(SMALL | {"max_position_embeddings": 70}), num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), text_class),
    "deberta": (of("DebertaV2", "ForSequenceClassification", **SMALL, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0, relative_attention=True, pos_att_type=["p2c", "c2p"]), text_class),
    "bart": (of("Bart", "ForConditionalGeneration", vocab_size=96, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                decoder_ffn_dim=64, max_position_embeddings=64, dropout=0, pad_token_id=0, decoder_start_token_id=2), seq2seq),
    "whisper": (of("Whisper", "ForConditionalGeneration", vocab_size=96, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                   decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=12, max_target_positions=32, dropout=0, pad_token_id=0, decoder_start_token_id=2, bos_token_id=1, eos_token_id=2), speech),
    "swinhf": (of("Swin", "ForImageClassification", image_size=32, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=5, drop_path_rate=0.0), pixels),
    "segformer": (of("Segformer", "ForImageClassification", num_labels=5, hidden_sizes=[8, 16], depths=[1, 1], num_encoder_blocks=2, num_attention_heads=[1, 2], sr_ratios=[2, 1], patch_sizes=[7, 3],
                     strides=[4, 2], mlp_ratios=[2, 2], drop_path_rate=0.0, hidden_dropout_prob=0, attention_probs_dropout_prob=0, classifier_dropout_prob=0), pixels),
    "lora": (lora, tokens),
    "gptj": (of("GPTJ", vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0), tokens),
    "cohere": (of("Cohere", **SMALL, num_key_value_heads=2), tokens),
    "olmo2": (of("Olmo2", **SMALL, num_key_value_heads=2), tokens),
    "stablelm": (of("StableLm", **SMALL, num_key_value_heads=2), tokens),
    "gemma3": (named("Gemma3TextConfig", "Gemma3ForCausalLM", **SMALL, num_key_value_heads=2, head_dim=8, sliding_window=6), tokens),
    "granitemoe": (of("GraniteMoe", **SMALL, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2), tokens),
    "phimoe": (of("Phimoe", **SMALL, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2), tokens),
    "falconmamba": (of("FalconMamba", vocab_size=96, hidden_size=32, state_size=4, num_hidden_layers=2, pad_token_id=0), unpadded),
    "rwkv": (of("Rwkv", vocab_size=96, hidden_size=32, attention_hidden_size=32, num_hidden_layers=2, intermediate_size=64, context_length=64), unpadded),
    "albert": (of("Albert", "ForSequenceClassification", **SMALL, embedding_size=16, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0, classifier_dropout_prob=0), text_class),
    "electra": (of("Electra", "ForSequenceClassification", **SMALL, embedding_size=16, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0), text_class),
    "marian": (of("Marian", "MTModel", vocab_size=96, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                  decoder_ffn_dim=64, max_position_embeddings=64, dropout=0, pad_token_id=0, decoder_start_token_id=2), seq2seq),
    "switch": (of("SwitchTransformers", "ForConditionalGeneration", vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=2, num_heads=4, num_experts=4, expert_capacity=64,
                  num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, dropout_rate=0, router_jitter_noise=0.0, decoder_start_token_id=0, pad_token_id=0), seq2seq),
    "hubert": (of("Hubert", "ForCTC", vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=(16, 16), conv_kernel=(10, 3), conv_stride=(5, 2),
                  num_feat_extract_layers=2, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, hidden_dropout=0.0, attention_dropout=0.0, feat_proj_dropout=0.0, activation_dropout=0.0,
                  final_dropout=0.0, layerdrop=0.0, mask_time_prob=0.0, feat_extract_norm="layer", do_stable_layer_norm=True), wave),
    "ast": (of("AST", "ForAudioClassification", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=5, max_length=24, num_mel_bins=16, patch_size=8,
               frequency_stride=8, time_stride=8, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), spectrogram),
    "regnet": (of("RegNet", "ForImageClassification", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2], groups_width=8, num_labels=5), pixels),
    "dinov2": (of("Dinov2", "ForImageClassification", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, mlp_ratio=2, image_size=32, patch_size=8, num_labels=5), pixels),
    "beit": (of("Beit", "ForImageClassification", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_labels=5, hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0, drop_path_rate=0.0, use_relative_position_bias=True), pixels),
    "poolformer": (of("PoolFormer", "ForImageClassification", num_labels=5, hidden_sizes=[8, 16], depths=[1, 1], num_encoder_blocks=2, patch_sizes=[7, 3], strides=[4, 2], padding=[2, 1], drop_path_rate=0.0), pixels),
    "tvresnet": (torchvision("resnet"), pixels), "tvvit": (torchvision("vit"), pixels), "tvswin": (torchvision("swin"), pixels),
    "tvconvnext": (torchvision("convnext"), pixels), "tvmobilenet": (torchvision("mobilenet"), pixels), "tvdensenet": (torchvision("densenet"), pixels),
    "tvshufflenet": (torchvision("shufflenet"), pixels), "tvresnext": (torchvision("resnext"), pixels),
    "unet": (net(unet, True), lambda rng: pixels(rng, 16)),
}


def pick(model, rng, test):
    """A module of the model that is as asked, and its path."""
    found = [(n, m) for n, m in model.named_modules() if n and test(n, m)]
    if not found:
        raise LookupError("nothing to spoil")
    return found[int(rng.integers(len(found)))]


def plain(n, m):
    """A linear layer or convolution that is not the last and that others call."""
    return isinstance(m, (nn.Linear, nn.Conv2d)) and not re.search(r"lm_head|classifier|out_proj|attn\.proj|heads|\.fc$|router|lora_", n)


LINEAR = ["linear", "addmm", "matmul", "conv2d", "conv1d"]


def fault(kind, model, spec, rng):
    if kind in KNOWN and kind != "scale":
        norm = pick(model, rng, lambda n, m: "Norm" in type(m).__name__ and (hasattr(m, "eps") or hasattr(m, "variance_epsilon")))[0]
        act = None
        with contextlib.suppress(LookupError):
            act = pick(model, rng, lambda n, m: re.search("GELU|SiLU|ReLU|Hardswish|Activation", type(m).__name__) and not list(m.children()))[0]
        return spoil(kind, model, (None, None, None, norm, act, pick(model, rng, plain)[0]), rng)
    if kind == "rope":
        name, m = pick(model, rng, lambda n, m: hasattr(m, "inv_freq"))
        m.inv_freq.mul_(1.1)
        return name, ["matmul", "__matmul__", "expand", "cos", "sin", "float"]
    if kind == "dropped bias":
        name, m = pick(model, rng, lambda n, m: plain(n, m) and m.bias is not None)
        m.bias.data.zero_()
        return name, LINEAR
    if kind == "swapped":
        name, m = pick(model, rng, lambda n, m: re.search(r"\.(q_proj|query|q|q_lin)$", n) and isinstance(m, nn.Linear))
        other = model.get_submodule(re.sub(r"q_proj$|query$|q$|q_lin$", lambda x: {"q_proj": "k_proj", "query": "key", "q": "k", "q_lin": "k_lin"}[x.group()], name))
        if other.weight.shape != m.weight.shape:
            raise LookupError("other shapes")
        m.weight.data, other.weight.data = other.weight.data.clone(), m.weight.data.clone()
        return name, LINEAR
    if kind == "transposed":
        name, m = pick(model, rng, lambda n, m: plain(n, m) and isinstance(m, nn.Linear) and m.weight.shape[0] == m.weight.shape[1])
        m.weight.data = m.weight.data.t().contiguous()
        return name, LINEAR
    if kind == "lr":
        return None, ["add_"]
    if kind == "mask":
        return None, []
    if kind == "gate up":
        name, m = pick(model, rng, lambda n, m: n.endswith("gate_proj") and isinstance(m, nn.Linear))
        other = model.get_submodule(name.replace("gate_proj", "up_proj"))
        m.weight.data, other.weight.data = other.weight.data.clone(), m.weight.data.clone()
        return name, LINEAR
    if kind == "interleaved":
        name, m = pick(model, rng, lambda n, m: "Attention" in type(m).__name__ and hasattr(sys.modules[type(m).__module__], "rotate_half"))
        modeling, run = sys.modules[type(m).__module__], m.forward

        def turned(x):
            model.unused = False
            return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)

        def other_rotation(*a, **k):
            real, modeling.rotate_half = modeling.rotate_half, turned
            try:
                return run(*a, **k)
            finally:
                modeling.rotate_half = real
        m.forward, model.unused = other_rotation, True
        return name, ["stack", "neg", "__neg__", "__getitem__", "cat", "flatten"]
    if kind in ("causal", "softmax axis", "no scale"):
        name, m = pick(model, rng, lambda n, m: "Attention" in type(m).__name__ and any(isinstance(c, nn.Linear) for c in m.children()))
        if kind == "no scale":
            if not hasattr(m, "scaling"):
                raise LookupError("it has no scale")
            m.scaling = 1.0
            return name, ["mul", "__mul__", "matmul", "softmax", "scaled_dot_product_attention", "baddbmm", "bmm"]
        called = "softmax" if kind == "softmax axis" else "scaled_dot_product_attention"

        def other(real, *a, **k):
            model.unused = False
            if kind == "softmax axis":
                return real(*a, **(k | {"dim": -2}))
            mask = torch.ones(a[0].shape[-2], a[1].shape[-2], dtype=torch.bool).tril(1)
            return real(*a, **(k | {"is_causal": False, "attn_mask": mask}))
        model.unused = True
        within(m, called, other).__enter__()
        return name, [called, "ones", "tril"]
    if kind in ("decay", "clipped"):
        return None, ["add_", "mul_", "add", "_foreach_norm", "vector_norm", "__add__", "reciprocal", "__mul__"]  # what clipping consists of
    name, m = pick(model, rng, plain)
    forward = m.forward
    if kind == "stale":  # as one that missed an update
        m.weight.data.add_(torch.tensor(rng.standard_normal(m.weight.shape), dtype=m.weight.dtype) * 0.02 * m.weight.std())
        return name, LINEAR
    if kind == "late":
        m.forward = lambda *a, **k: forward(*a, **k).roll(1, 1)
        return name, ["roll"]
    if kind == "axis":
        def turned(*a, **k):
            y = forward(*a, **k)
            return y / (1 + y.abs().mean(1, keepdim=True)) * (1 + y.abs().mean(-1, keepdim=True))
        m.forward = turned
        return name, ["abs", "mean", "add", "__add__", "__radd__", "div", "__truediv__", "mul", "__mul__"]
    if kind == "no gradient":
        def cut_off(*a, **k):
            y = forward(*a, **k)
            if y.requires_grad:
                y.register_hook(lambda g: g * 0)
            return y
        m.forward = cut_off
        return name, LINEAR + ["mul", "__mul__"]
    if kind == "channel":
        def cut(*a, **k):
            y = forward(*a, **k).clone()
            y[:, -1] = 0
            return y
        m.forward = cut
        return name, ["clone", "__setitem__"] + LINEAR
    if kind == "gradient":
        def hooked(*a, **k):
            y = forward(*a, **k)
            if y.requires_grad:
                y.register_hook(lambda g: g * 1.1)
            return y
        m.forward = hooked
        return name, LINEAR + ["mul", "__mul__"]
    if kind == "lower":
        m.forward = lambda x, *a, **k: forward(x.to(torch.float8_e4m3fn if x.dtype == torch.bfloat16 else torch.float16).to(x.dtype), *a, **k)
        return name, ["to"] + LINEAR
    if kind == "masked nan":
        m.forward = lambda *a, **k: (lambda y: torch.where(y > y.flatten().sort()[0][-3], float("nan"), y))(forward(*a, **k))
        return name, ["where"]
    if kind == "overflow":
        m.forward = lambda *a, **k: (lambda y: (y * 1e30 * 1e9) * 1e-38)(forward(*a, **k))
        return name, ["__mul__", "mul"]
    if kind == "random":
        m.forward = lambda *a, **k: F.dropout(forward(*a, **k), 0.1)
        return name, ["dropout"]
    if kind == "scale":
        m.forward = lambda *a, **k: forward(*a, **k) * 1.05
        return name, ["mul", "__mul__"]
    if kind == "residual":
        m.forward = lambda *a, **k: (lambda y: y + 0.1 * y.roll(1, 1))(forward(*a, **k))
        return name, ["roll", "add", "__add__", "mul", "__rmul__"]
    if kind == "shifted":
        m.forward = lambda *a, **k: forward(*a, **k).roll(1, -1)
        return name, ["roll"]
    if kind == "unfilled":
        def unfilled(*a, **k):
            y = forward(*a, **k)
            buffer = torch.full_like(y, 7e3)
            buffer[:, :-1] = y[:, :-1]
            return buffer
        m.forward = unfilled
        return name, ["full_like", "__setitem__"]
    if kind == "accumulated":
        def halves(x, *a, **k):
            if not isinstance(m, nn.Linear):
                return forward(x.to(torch.bfloat16).to(x.dtype), *a, **k)
            y = torch.zeros(*x.shape[:-1], m.weight.shape[0], dtype=torch.bfloat16)
            for at in range(0, x.shape[-1], 4):
                y = y + (x[..., at:at + 4] @ m.weight[:, at:at + 4].t()).to(torch.bfloat16)
            return (y if m.bias is None else y + m.bias).to(x.dtype)
        m.forward = halves
        return name, LINEAR + ["to", "zeros", "add", "__add__", "__matmul__"]
    if kind == "stale cache":
        def cached(x, *a, **k):
            y = forward(x, *a, **k)
            with torch.no_grad():
                old = forward(x.flip(0), *a, **k)
            return torch.cat([old[:, :2], y[:, 2:]], 1)
        m.forward = cached
        return name, ["cat"] + LINEAR
    if kind == "loss":
        if "CTC" in type(model).__name__:
            raise LookupError("another loss")
        real = F.cross_entropy
        nn.functional.cross_entropy = lambda *a, **k: real(*a, **(k | {"label_smoothing": 0.1}))
        return None, ["cross_entropy"]
    raise LookupError(kind)


def one_norm(model):
    """A norm of several steps as one call."""
    for m in model.modules():
        if type(m).__name__.endswith("RMSNorm") and hasattr(m, "variance_epsilon"):
            m.forward = lambda x, m=m: F.rms_norm(x, (x.shape[-1],), m.weight, m.variance_epsilon)


def many_steps(model):
    """Calls as the steps that they are made of."""
    def norm(x, m):
        y = x.float()
        y = y - y.mean(-1, keepdim=True)
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + m.eps)).to(x.dtype) * m.weight + m.bias
    for m in model.modules():
        if type(m) is nn.LayerNorm and m.bias is not None:  # others may use the weight otherwise
            m.forward = lambda x, m=m: norm(x, m)
        if type(m).__name__ in ("SiLU", "SiLUActivation"):
            m.forward = lambda x: x * torch.sigmoid(x)
        if isinstance(m, nn.Linear) and m.bias is not None:
            m.forward = lambda x, m=m: torch.matmul(x, m.weight.t()) + m.bias


def steps_of_gelu(model):
    """The error function by itself."""
    for m in model.modules():
        if type(m).__name__ in ("GELU", "GELUActivation"):
            m.forward = lambda x: x * 0.5 * (1.0 + torch.erf(x / 2 ** 0.5))


def products(model):
    """Convolutions that do not overlap as products of matrices, linear layers with a bias as addmm."""
    def patches(x, m):
        y = F.unfold(x, m.kernel_size, stride=m.stride)
        y = torch.matmul(m.weight.flatten(1), y)
        if m.bias is not None:
            y = y + m.bias[:, None]
        return y.view(x.shape[0], -1, (x.shape[2] - m.kernel_size[0]) // m.stride[0] + 1, (x.shape[3] - m.kernel_size[1]) // m.stride[1] + 1)
    for m in model.modules():
        if isinstance(m, nn.Conv2d) and m.groups == 1 and tuple(m.kernel_size) == tuple(m.stride) and not any(m.padding):
            m.forward = lambda x, m=m: patches(x, m)
        if isinstance(m, nn.Linear) and m.bias is not None:
            m.forward = lambda x, m=m: torch.addmm(m.bias, x.reshape(-1, x.shape[-1]), m.weight.t()).view(*x.shape[:-1], -1)


def idle_dropout(model):
    """Dropout that does nothing, in place of none."""
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.p, m.training = 0.1, False
            m.train = lambda mode=True, m=m: m


def no_dropout(model):
    """Dropout of nothing, which is called."""
    for m in model.modules():
        if isinstance(m, nn.Linear):
            m.forward = lambda x, run=m.forward: F.dropout(run(x), 0.0, True)


def merged(model):
    """Projections of one input as one product that is taken apart."""
    def part(x, m, others):
        weights = torch.cat([o.weight for o in others])
        bias = torch.cat([o.bias for o in others]) if m.bias is not None else None
        return F.linear(x, weights, bias).split([o.weight.shape[0] for o in others], -1)[others.index(m)]
    for m in model.modules():
        for names in (("gate_proj", "up_proj"), ("q_proj", "k_proj", "v_proj"), ("query", "key", "value")):
            others = [getattr(m, n, None) for n in names]
            if all(isinstance(o, nn.Linear) and type(o.forward).__name__ == "method" for o in others) and len({o.weight.shape[1] for o in others}) == 1:
                for o in others:
                    o.forward = lambda x, o=o, others=others: part(x, o, others)


class TF32(TorchDispatchMode):
    """Products of float32 as of numbers with ten bits, which is what such units make of them."""

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if re.match(r"aten\.(mm|bmm|addmm|baddbmm|convolution|convolution_backward)\.", str(op)):
            args = [(a.view(torch.int32) + 0x1000 & ~0x1fff).view(torch.float32) if isinstance(a, torch.Tensor) and a.dtype == torch.float32 and a.is_contiguous() else a for a in args]
        return op(*args, **(kwargs or {}))


def tf32(model):
    TF32().__enter__()


record.REPLACED = {"tf32": tf32, "no dropout": no_dropout, "merged": merged,
                   "one norm": one_norm, "many steps": many_steps, "gelu": steps_of_gelu, "products": products, "idle dropout": idle_dropout}
record.MODELS = {name: (*spec, None, None, None, None) for name, spec in MODELS.items()}
KNOWN = record.FAULTS
record.FAULTS = KNOWN + ["rope", "dropped bias", "swapped", "transposed", "channel", "gradient", "lower", "masked nan", "overflow", "random", "residual", "shifted", "loss", "lr", "mask", "stale", "late", "axis", "no gradient",
                           "gate up", "interleaved", "causal", "softmax axis", "no scale", "unfilled", "accumulated", "stale cache", "decay", "clipped"]
record.HARMLESS = record.HARMLESS + ["batch", "experts", "channels_last", "autocast", "foreach", "one norm", "many steps", "gelu", "products", "idle dropout", "no dropout", "fused", "math", "merged", "tf32", "accumulation"]
record.EACH = 2, 3
spoil, record.fault = record.fault, fault

if __name__ == "__main__":
    record.main()
