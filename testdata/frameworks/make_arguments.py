"""Writes what Megatron-LM and verl print of their arguments at the start of a training, for two trainings each.

    python make_arguments.py MEGATRON VERL FOLDER

needs PyTorch, hydra-core and omegaconf; MEGATRON is a checkout of Megatron-LM (d98e8a64), VERL the unpacked wheel of verl (0.9.1).
The two trainings differ in their learning rate, type, temperature and folder.
"""
import contextlib
import os
import pprint
import sys
import typing

typing.override = getattr(typing, "override", lambda f: f)  # which Python 3.11 does not have
MEGATRON, VERL, OUT = (os.path.abspath(p) for p in sys.argv[1:4])
OUT = os.path.join(OUT, "arguments")


def megatron(lr, dtype, temperature, folder):
    sys.path.insert(0, MEGATRON)
    from megatron.training import arguments
    sys.argv = ["pretrain_gpt.py", "--num-layers", "2", "--hidden-size", "64", "--num-attention-heads", "4", "--seq-length", "128",
                "--max-position-embeddings", "128", "--micro-batch-size", "1", "--lr", lr, "--save", folder,
                "--rl-default-temperature", temperature] + dtype
    arguments._print_args("arguments", arguments.parse_args())


def verl(lr, dtype, temperature, folder):
    import hydra
    from omegaconf import OmegaConf
    with hydra.initialize_config_dir(os.path.join(VERL, "verl", "trainer", "config"), version_base=None):
        config = hydra.compose("ppo_trainer", [
            "actor_rollout_ref.actor.optim.lr=" + lr, "actor_rollout_ref.rollout.dtype=" + dtype,
            "actor_rollout_ref.rollout.temperature=" + temperature, "trainer.default_local_dir=" + folder])
    pprint.pprint(OmegaConf.to_container(config, resolve=True))  # as its main_ppo.py does


os.makedirs(OUT)
for name, write, dtypes in (("megatron", megatron, (["--bf16"], ["--fp16"])), ("verl", verl, ("bfloat16", "float16"))):
    for side, values in (("a", ("1e-06", dtypes[0], "1.0", "/data/run_a")), ("b", ("3e-06", dtypes[1], "0.7", "/data/run_b"))):
        with open(os.path.join(OUT, "%s_%s.txt" % (name, side)), "w") as f, contextlib.redirect_stdout(f):
            write(*values)
