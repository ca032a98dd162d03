#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.sh [ANALYZER]: does docs/guide/archive/archive give what one run gives, on a Slurm of one node and two processors that this
# starts for itself, also after a task was killed in the middle and began anew? Needs root, and slurm-wlm and munge.
set -euo pipefail
tree=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
analyzer=$(realpath "${1:-$tree/build/rpcrdma-analyzer}")
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 2; }
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || { echo "needs $program (apt-get install slurm-wlm munge)" >&2; exit 2; }
done
room=$(mktemp -d)
chmod 755 "$room"
daemons=()
leave() {
  local status=$?
  if [ "$status" -ne 0 ]; then tail -n 15 "$room"/*.log 2>/dev/null || true; fi
  [ ${#daemons[@]} -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$room"
}
trap leave EXIT

# --- a cluster of this machine
name=$(hostname -s)
mkdir -m 700 "$room/munge"
mkdir "$room/state" "$room/spool"
dd if=/dev/urandom of="$room/munge/key" bs=1024 count=1 status=none
chmod 600 "$room/munge/key"
chmod 755 "$room/munge"
munged --foreground --force --key-file="$room/munge/key" --socket="$room/munge/socket" --pid-file="$room/munge/pid" \
  --log-file="$room/munge/log" --seed-file="$room/munge/seed" >"$room/munged.log" 2>&1 &
daemons+=($!)
cat >"$room/slurm.conf" <<CONF
ClusterName=archive
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
AuthType=auth/munge
AuthInfo=socket=$room/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmctldPidFile=$room/slurmctld.pid
SlurmdPidFile=$room/slurmd.pid
StateSaveLocation=$room/state
SlurmdSpoolDir=$room/spool
SlurmctldLogFile=$room/slurmctld.log
SlurmdLogFile=$room/slurmd.log
NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$room/slurm.conf
for _ in $(seq 50); do [ -S "$room/munge/socket" ] && break; sleep 0.2; done
slurmctld -D >/dev/null 2>&1 &
daemons+=($!)
slurmd -D >/dev/null 2>&1 &
daemons+=($!)
for _ in $(seq 100); do [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break; sleep 0.3; done
echo "cluster: $(sinfo -V), $(sinfo -h -o '%N %c processors, %T')"

# --- an archive: all bundled captures, many times
mkdir "$room/archive"
for n in $(seq 12); do
  mkdir "$room/archive/$n"
  ln -s "$tree"/captures/kernel/*.pcap "$tree"/captures/peers/*.pcap "$room/archive/$n/" 2>/dev/null
done
find -L "$room/archive" -name '*.pcap' | LC_ALL=C sort >"$room/captures.list"
echo "archive: $(wc -l <"$room/captures.list") captures"
xargs -d '\n' -a "$room/captures.list" "$analyzer" --each --format ndjson --no-progress -- >"$room/single.ndjson" 2>/dev/null || true

archive=$tree/docs/guide/archive/archive
export RPCRDMA_ANALYZER=$analyzer
job=$("$archive" submit "$room/captures.list" "$room/job" 2 --cpus-per-task=1)
echo "$job"
job=$(sed -n 's/^job \([0-9]*\):.*/\1/p' <<<"$job")

# --- the second task is killed in its middle
rows=$room/job/rows/00001.ndjson
done_now() { grep -cF '"type":"capture"' "$rows" 2>/dev/null || true; }
for _ in $(seq 600); do [ "$(done_now)" -ge 100 ] 2>/dev/null && break; sleep 0.1; done
before=$(done_now)
wanted=$(wc -l <"$room/job/list/00001")
[ "$before" -ge 100 ] && [ "$before" -lt "$wanted" ] || { echo "no middle to be killed in: $before of $wanted" >&2; exit 1; }
scontrol requeue "${job}_1"
for _ in $(seq 100); do squeue -h -j "${job}_1" -o %T | grep -q PENDING && break; sleep 0.1; done
killed=$(done_now)
echo "task 1: killed and requeued with $killed of $wanted captures done"
[ "$killed" -lt "$wanted" ] || { echo "it was over before it was killed" >&2; exit 1; }
for _ in $(seq 3000); do [ -z "$(squeue -h -o %i 2>/dev/null)" ] && break; sleep 0.1; done
grep -E "JobId=|requeue" "$room/slurmctld.log" | grep -iE "requeue|_complete|Allocate" | sed 's/^\[[^]]*\] /slurmctld: /' | head -n 20
[ -f "$room/job/all.ndjson" ] || { echo "nothing was merged" >&2; exit 1; }
cmp "$room/single.ndjson" "$room/job/all.ndjson"
echo "merged: $(wc -l <"$room/job/all.ndjson") rows, the same octets as one run's"
[ "$(cat "$room/job/summary.log")" = "$("$archive" summary "$room/job")" ] || { echo "another summary" >&2; exit 1; }
head -n 8 "$room/job/summary.log"
