#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Either side is the folder that msprobe wrote; steps and ranks are found in it.
"$precision" compare -lt examples/msprobe-recording/npu -rt examples/msprobe-recording/gpu -out "$work" | tee "$work/out.txt"
grep -q 'Functional.batch_norm.0.forward' "$work/out.txt"
grep -q 'train.py:19' "$work/out.txt"
