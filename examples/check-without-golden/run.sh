#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dumps=testdata/sample/npu graph=testdata/sample/ge_proto_00000001_graph_1_Build.txt
"$precision" check -lt "$dumps" -g "$graph" -json "$work/check.json" -out "$work"
echo "== why"
"$precision" why block2/conv -lt "$dumps" -g "$graph"

# With -gate it stops here: the exit status is 3.
status=0
"$precision" check -lt "$dumps" -g "$graph" -gate -out "$work" >/dev/null 2>&1 || status=$?
[ "$status" = 3 ] || { echo "exit status $status, expected 3" >&2; exit 1; }
