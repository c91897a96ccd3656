#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The overflow data of this example: a record of the device, and the dump of the operator
# that wrote it.
mkdir -p "$work/precision_data/overflow/dump/20260101120000/0/net/1"
cp -r testdata/cases/ovf_old/in/dump "$work/precision_data/overflow/dump/20260101120000/0/net/1/0"

"$precision" -data "$work/precision_data" -lang en -c 'ac -l 1' >"$work/ac.txt" || [ $? = 2 ]
cat "$work/ac.txt"
grep -q 'scope/mul_2 overflowed: its inputs are sound, its outputs are not' "$work/ac.txt"
