#!/usr/bin/env bash
# slurm_test.sh BUILD SOURCE: an array of 4 reads an archive on a Slurm of one node that the test
# starts. One task is requeued in the middle, one runs out of time, one is killed with -9; an array
# of 3 does the rest. Then every page has been read once, and the files are those of one run. With
# PLATEN_LONG_TESTS=1 alone, as root; exit code 77 without Slurm: skipped.
set -euo pipefail
build=$1 source=$2
if [ "${PLATEN_LONG_TESTS:-}" != 1 ]; then
  echo "skipped: PLATEN_LONG_TESTS=1 runs it"
  exit 77
fi
for program in slurmctld slurmd sbatch; do
  if ! command -v $program > /dev/null; then
    echo "skipped: $program is not installed (slurmctld slurmd slurm-client slurm-wlm-basic-plugins)"
    exit 77
  fi
done
if [ "$(id -u)" != 0 ]; then
  echo "skipped: slurmd starts tasks as root alone"
  exit 77
fi

work=$(mktemp -d)
daemons=()
stop() {
  for pid in "${daemons[@]}"; do kill "$pid" 2> /dev/null || true; done
  wait || true
  rm -rf "$work"
}
trap stop EXIT
export SLURM_CONF=$work/slurm.conf PATH=$build/bin:$PATH

fail() {
  echo "FAILED: $*" >&2
  tail -n 20 "$work"/*.log >&2
  exit 1
}

# until_true SECONDS WHAT COMMAND…
until_true() {
  local seconds=$1 what=$2
  shift 2
  for ((i = 0; i < seconds * 10; ++i)); do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "waited $seconds s: $what"
}

start_slurm() {
  local node
  node=$(hostname -s)
  mkdir "$work/state" "$work/spool"
  cat > "$SLURM_CONF" << END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$((20000 + $$ % 20000))
SlurmdPort=$((40000 + $$ % 20000))
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
KillWait=30
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
  slurmctld -D > /dev/null 2>&1 &
  daemons+=($!)
  slurmd -D -N "$node" > /dev/null 2>&1 &
  daemons+=($!)
  until_true 180 "the node is idle" node_is_idle
}
node_is_idle() { [ "$(sinfo -h -o %t 2> /dev/null)" = idle ]; }

# submit ARRAY: its job number.
submit() {
  (cd "$work" && sbatch --parsable --array="$1" --cpus-per-task=1 --mem=0 \
    "$source/packaging/slurm/platen.sbatch" "$work/in" "$work/out")
}
# The states of the job's tasks.
states() { scontrol -o show job "$1" | grep -o 'JobState=[A-Z]*' | cut -d= -f2; }
all_ended() { ! states "$1" | grep -qE 'PENDING|RUNNING|COMPLETING|CONFIGURING'; }
state_is() { states "$1" | grep -qE "^($2)\$"; }

# A requeued task waits two minutes, and some seconds it needs: slurmd refuses one that starts within
# the second in which it was stopped.
start_again() {
  until_true 60 "task $1 is back in the queue" state_is "$1" PENDING
  scontrol update jobid="$1" StartTime=now+3
}

has_read_a_document() {
  grep -qs '"record":"document"' "$work/out/.platen/shards/$1/ledger.jsonl"
}

# The process of platen for a task of the array.
platen_of_task() {
  for pid in $(pgrep -x platen); do
    if tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "SLURM_ARRAY_TASK_ID=$1" &&
      tr '\0' '\n' < "/proc/$pid/cmdline" | grep -qx "$work/out"; then
      echo "$pid"
      return
    fi
  done
}

mkdir -p "$work/in"
for ((i = 1; i <= 240; ++i)); do
  cp "$source/assets/samples/pages/phototest.tif" "$work/in/page$i.tif"
  echo "$i" >> "$work/in/page$i.tif" # each its own content; readers of TIFF do not look there
done
echo "== one run"
platen ocr "$work/in" -o "$work/whole" --quiet

echo "== a Slurm of one node"
start_slurm

echo "== an array of 4: task 1 runs out of time, 2 is requeued, 3 is killed"
job=$(submit 1-4)
until_true 120 "task 3 reads" has_read_a_document 3-of-4
kill -9 "$(platen_of_task 3)"
until_true 120 "task 1 reads" has_read_a_document 1-of-4
scancel --batch --signal=USR1 "${job}_1"
until_true 120 "task 2 reads" has_read_a_document 2-of-4
scontrol requeue "${job}_2"
start_again "${job}_1"
start_again "${job}_2"
until_true 60 "task 3 has failed" state_is "${job}_3" FAILED
until_true 300 "the tasks have ended" all_ended "$job"
for task in 1 2 4; do state_is "${job}_$task" COMPLETED || fail "task $task: $(states "${job}_$task")"; done
grep -q "time is up; back into the queue" "$work/platen-${job}_1.log" || fail "task 1 was not out of time"
for task in 1 2; do
  [ "$(grep -c '"record":"run"' "$work/out/.platen/shards/$task-of-4/ledger.jsonl")" = 2 ] ||
    fail "task $task did not start twice"
  grep -q '"interrupted":true' "$work/out/.platen/shards/$task-of-4/ledger.jsonl" ||
    fail "task $task was not stopped in the middle"
done
code=0
platen status "$work/out" > "$work/status.log" || code=$?
cat "$work/status.log"
[ "$code" = 130 ] || fail "status: exit code $code, though shard 3 was killed"

echo "== an array of 3 does the rest"
job=$(submit 1-3)
until_true 300 "the tasks have ended" all_ended "$job"
for task in 1 2 3; do state_is "${job}_$task" COMPLETED || fail "task $task: $(states "${job}_$task")"; done
platen status "$work/out"

echo "== a run over everything"
platen ocr "$work/in" -o "$work/out" | tee "$work/last.log"
grep -q "nothing to do: all 240 documents were finished before" "$work/last.log" ||
  fail "something was left"
diff -r -x .platen -x run.json -x failures.jsonl "$work/whole" "$work/out"

# Every page once. The killed task may have noted a page and not stored it.
pages=$(cat "$work"/out/.platen/shards/*/ledger.jsonl | grep -o '"record":"page".*"page":[0-9]*' |
  grep -o '"name":.*' | sort)
[ "$(uniq <<< "$pages" | wc -l)" = 240 ] || fail "not every page was read"
[ "$(uniq -d <<< "$pages" | wc -l)" -le 1 ] || fail "pages were read twice: $(uniq -d <<< "$pages")"

echo "== a task that is cancelled does not come back"
rm -rf "$work/out"
job=$(submit 1-1)
until_true 120 "the task reads" has_read_a_document 1-of-1
scancel "$job"
until_true 60 "the task is cancelled" all_ended "$job"
sleep 2
state_is "${job}_1" CANCELLED || fail "the task is $(states "${job}_1")"
echo "ok"
