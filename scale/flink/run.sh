#!/usr/bin/env bash
# run.sh WORK [RANKS]: compares a made job on Apache Flink, set up in the folder WORK, and on this machine, and ends with 0 if both
# wrote the same files. MODE=loopback (default): Flink within Beam's job server, workers within the submitting program. MODE=process: a
# JobManager, two TaskManagers, and workers as processes of their own; FAULT=worker or FAULT=taskmanager kills one of them in between,
# FAULT=interrupt the submitting program. Needs java 17, mvn and go; the libraries stay in WORK/lib.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; work=$(cd "$1" && pwd); n=${2:-8}; mode=${MODE:-loopback}
cd "$work"; pids=()
# Workers outlive a TaskManager that is killed: they are those whose command line names a folder that worker.sh gave them.
stop() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in /proc/[0-9]*; do if grep -qsF "semi_persist_dir=$work/semi." "$p/cmdline"; then kill "${p#/proc/}" 2>/dev/null || true; fi; done
}
trap stop EXIT
[ -d lib ] || mvn -q -B -f "$here/pom.xml" -Pflink dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/lib"
if [ -z "${BUILT:-}" ]; then
  go build -C "$here/.." -o "$work/scale" .
  go build -C "$here/.." -o "$work/boot" github.com/apache/beam/sdks/v2/go/container
  go build -C "$here/../.." -o "$work/precision" ./cmd/precision
  go build -C "$here/../.." -o "$work/mkjobs" ./testdata/jobs
fi
[ -d "d$n" ] || ./mkjobs -make "$n" "d$n" >/dev/null
opens=; for p in lang lang.reflect util util.concurrent nio net text time io; do opens+=" --add-opens=java.base/java.$p=ALL-UNNAMED"; done
opens+=" --add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
# shellcheck disable=SC2086 # options, one word each
start() { local name=$1; shift; java $opens -cp 'lib/*' "$@" >"$name.log" 2>&1 </dev/null & pids+=($!); echo $! >"$name.pid"; }
upto() { for _ in $(seq 600); do if eval "$1"; then return; fi; sleep 0.5; done; echo "run.sh: $1 never held" >&2; exit 1; }
master='[local]'; how=(--environment_type=LOOPBACK)
if [ "$mode" = process ]; then
  mkdir -p conf
  cat >conf/config.yaml <<C
jobmanager.rpc.address: localhost
jobmanager.rpc.port: 6123
rest.address: localhost
rest.port: 8081
parallelism.default: 2
heartbeat.interval: 3000
heartbeat.timeout: 15000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 3
restart-strategy.fixed-delay.delay: 15 s
C
  start jobmanager -Xmx700m org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir conf \
    -D jobmanager.memory.heap.size=640m -D jobmanager.memory.off-heap.size=128m -D jobmanager.memory.jvm-metaspace.size=256m \
    -D jobmanager.memory.jvm-overhead.min=192m -D jobmanager.memory.jvm-overhead.max=192m
  for t in taskmanager1 taskmanager2; do
    start $t -Xmx768m -XX:MaxDirectMemorySize=384m org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir conf -D taskmanager.resource-id=$t \
      -D taskmanager.memory.network.min=64m -D taskmanager.memory.network.max=64m -D taskmanager.memory.managed.size=192m \
      -D taskmanager.memory.task.heap.size=512m -D taskmanager.memory.task.off-heap.size=0 -D taskmanager.memory.framework.heap.size=128m \
      -D taskmanager.memory.framework.off-heap.size=128m -D taskmanager.memory.jvm-metaspace.size=256m \
      -D taskmanager.memory.jvm-overhead.min=192m -D taskmanager.memory.jvm-overhead.max=192m -D taskmanager.cpu.cores=1 -D taskmanager.numberOfTaskSlots=2
  done
  upto "curl -s localhost:8081/overview | grep -q '\"taskmanagers\":2'"
  # shellcheck disable=SC2016 # it is expanded where it runs
  printf '#!/bin/bash\necho "$$" >>%q\nexec %q "$@" --semi_persist_dir=$(mktemp -d %q) >>%q 2>&1\n' "$work/workers.txt" "$work/boot" "$work/semi.XXXX" "$work/boot.log" >worker.sh
  chmod +x worker.sh; : >workers.txt; master=localhost:8081
  how=(--environment_type=PROCESS "--environment_config={\"command\":\"$work/worker.sh\"}" --worker_binary="$work/scale" --parallelism=2)
fi
start jobserver -Xmx2g org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master="$master" --job-host=localhost --job-port=8099 --artifact-port=8098 --expansion-port=0 --artifacts-dir="$work/art"
upto "grep -q 'JobService started' jobserver.log"
job=(-lt "$work/d$n/npu" -rt "$work/d$n/golden" -g "$work/d$n/ge_proto_00000001_graph_1_Build.txt")
rm -rf "ref$n" "out$n"
./precision compare -all -workers 2 "${job[@]}" -out "ref$n" >ref.log
version=$(sed -n 's/^ *"version": "\(.*\)",$/\1/p' "ref$n/job.json" | head -1)
submit() { exec ./scale "${job[@]}" -out "$work/out$n" -version "$version" --runner=universal --endpoint=localhost:8099 "${how[@]}"; }
# attempts are the units that are whole, of a job that runs
attempts() { find "out$n/stage" -mindepth 4 -name journal 2>/dev/null | wc -l; }
(submit) >submit.log 2>&1 & sub=$!; rc=0
case ${FAULT:-} in
'') ;;
*)
  upto "[ \$(attempts) -ge 2 ] || ! kill -0 $sub 2>/dev/null"
  echo "killed with $(attempts) units made"
  case $FAULT in
  worker) # the program that boot started last, from any of its threads
    # shellcheck disable=SC2046 # one word
    kill -9 $(cat "/proc/$(tail -1 workers.txt)"/task/*/children) ;;
  taskmanager) kill -9 "$(cat taskmanager1.pid)" ;;
  interrupt) kill -INT "$sub" ;;
  esac ;;
esac
wait "$sub" || rc=$?
if [ "${FAULT:-}" = interrupt ]; then
  if [ "$rc" != 1 ] || ! grep -q "cancelled the job" submit.log || [ -e "out$n/stage" ]; then tail -3 submit.log; echo "run.sh: it was not cancelled"; exit 1; fi
  grep 'scale:' submit.log
  rc=0; (submit) >submit.log 2>&1 || rc=$?; grep resuming submit.log || true
fi
[ "$rc" = 0 ] || { tail -5 submit.log; exit "$rc"; }
diff -r "ref$n" "out$n"
echo "${FAULT:-no fault}: the same $(find "out$n" -type f | wc -l) files"
