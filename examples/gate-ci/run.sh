#!/bin/sh
# Runs this example: PRECISION names the program, by default the one on the PATH.
set -eu
cd "$(dirname "$0")/../.."
precision=${PRECISION:-precision}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A pipeline's folder, and the command that all three files run.
repo=$PWD
cp -r testdata/sample/npu testdata/sample/golden "$work"
cp testdata/sample/ge_proto_00000001_graph_1_Build.txt "$work/graph.txt"
case $precision in */*) precision=$(cd "$(dirname "$precision")" && pwd)/$(basename "$precision") ;; esac
mkdir "$work/bin"
ln -s "$(command -v "$precision")" "$work/bin/precision"
PATH=$work/bin:$PATH
cd "$work"

status=0
sh "$repo/examples/gate-ci/gate.sh" || status=$?
[ "$status" = 3 ] || { echo "exit status $status, expected 3" >&2; exit 1; }
for file in verdict.json precision.xml precision.sarif report.html; do
  [ -s "$file" ] || { echo "$file was not written" >&2; exit 1; }
done

# Against a baseline the same errors pass.
precision compare -lt npu -rt golden -g graph.txt -baseline verdict.json -gate >/dev/null
echo "with verdict.json as baseline the gate lets it pass"
