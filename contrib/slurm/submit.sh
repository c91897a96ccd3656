#!/usr/bin/env bash
# Compares a whole training job as a Slurm array, and joins the results.
#
#   submit.sh SHARDS OUT_DIR -lt JOB_DUMP -rt JOB_GOLDEN [options of precision compare -all]
#
# All nodes must see the folders under the same absolute paths. SBATCH_OPTIONS are further options for sbatch,
# such as "--partition=cpu --account=me". After a failure, the same command resumes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage="submit.sh SHARDS OUT_DIR -lt JOB_DUMP -rt JOB_GOLDEN [options]"
[ $# -ge 6 ] || { echo "$usage" >&2; exit 1; }
[[ $1 =~ ^[1-9][0-9]*$ ]] || { echo "found $1 shards, expected a number from 1: $usage" >&2; exit 1; }
shards=$1 out=$2
shift 2
case $out in /*) ;; *) out=$PWD/$out ;; esac
mkdir -p "$out/shards"
read -ra options <<<"${SBATCH_OPTIONS:-}"
array=$(sbatch --parsable ${options[@]+"${options[@]}"} --array="1-$shards" --output="$out/shards/%a.log" "$here/shard.sbatch" "$shards" "$out" "$@")
merge=$(sbatch --parsable ${options[@]+"${options[@]}"} --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes --output="$out/merge.log" "$here/merge.sbatch" "$shards" "$out")
echo "shards: job ${array%%;*}; merge: job ${merge%%;*}; result: $out/whole/job.html"
