#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$precision" compare -lt testdata/sample/npu -rt testdata/sample/golden -g testdata/sample/ge_proto_00000001_graph_1_Build.txt \
  -json "$work/verdict.json" -out "$work" >/dev/null

echo "== Python"
python3 examples/read-json/read.py "$work/verdict.json" | tee "$work/python.txt"
grep -q '^root	block2/conv	certain' "$work/python.txt"

echo "== jq"
if command -v jq >/dev/null; then
  jq -r -f examples/read-json/roots.jq "$work/verdict.json" | tee "$work/jq.txt"
  grep '^root' "$work/python.txt" | cmp - "$work/jq.txt" # both say the same
else
  echo "jq is not installed"
fi
