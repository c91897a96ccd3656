#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$precision" -lang en rollout -logp examples/rollout/logp -weights examples/rollout/train.safetensors,examples/rollout/rollout.safetensors | tee "$work/out.txt"
grep -q "gate_proj.weight holds the trainer's model.layers.0.mlp.up_proj.weight" "$work/out.txt"
