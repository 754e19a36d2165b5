#!/bin/bash
# A SLURM cluster of two nodes on this host, each slurmd in a network namespace with a host name of its own (machines.sh
# first), slurmctld in that of nbA: names resolve and gloo goes from "machine" to "machine", as on a real cluster.
#   apt-get install -y --no-install-recommends slurm-wlm munge      (Debian 12: 22.05.8)
#   DIR=FOLDER bash slurm.sh up | down       then:  bash machines.sh on nbA env SLURM_CONF=FOLDER/slurm.conf sbatch ...
# Everything is in the folder; munge has a key and a socket of its own there. There is no accounting, hence no sacct.
set -e
DIR=${DIR:?}; CPUS=${CPUS:-4}
case ${1:-up} in
up)
  mkdir -p $DIR/{state,spool.nbA,spool.nbB,log,munge}; chmod 755 $DIR
  [ -f $DIR/munge/key ] || { dd if=/dev/urandom of=$DIR/munge/key bs=1024 count=1 2>/dev/null; chmod 400 $DIR/munge/key; }
  chmod 711 $DIR/munge
  munged --force --key-file=$DIR/munge/key --socket=$DIR/munge/socket --pid-file=$DIR/munge/pid --log-file=$DIR/munge/log --seed-file=$DIR/munge/seed
  cat > $DIR/slurm.conf <<EOC
ClusterName=nbddp
SlurmctldHost=nbA(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket
CredType=cred/munge
SlurmctldPort=16817
SlurmctldPidFile=$DIR/slurmctld.pid
SlurmdPidFile=$DIR/slurmd.%n.pid
SlurmdSpoolDir=$DIR/spool.%n
StateSaveLocation=$DIR/state
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
MinJobAge=3600
KillWait=20
SlurmctldTimeout=20
SlurmdTimeout=20
InactiveLimit=0
ReturnToService=2
SlurmdParameters=config_overrides
JobCompType=jobcomp/filetxt
JobCompLoc=$DIR/jobcomp.log
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
SchedulerParameters=batch_sched_delay=1,sched_interval=5,bf_interval=5,requeue_delay=1
NodeName=nbA NodeAddr=10.77.0.1 Port=16821 CPUs=$CPUS RealMemory=4000 State=UNKNOWN
NodeName=nbB NodeAddr=10.77.0.2 Port=16821 CPUs=$CPUS RealMemory=4000 State=UNKNOWN
PartitionName=low Nodes=nbA,nbB Default=YES MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=15 OverSubscribe=NO
PartitionName=high Nodes=nbA,nbB MaxTime=60 State=UP PriorityTier=10 PreemptMode=OFF
EOC
  export SLURM_CONF=$DIR/slurm.conf
  HERE=$(dirname $(readlink -f $0)); on() { bash $HERE/machines.sh on "$@"; }
  on nbA slurmctld -c; sleep 1
  export CGROUP=1
  on nbA slurmd -N nbA; on nbB slurmd -N nbB; sleep 2
  on nbA sinfo ;;
down)
  for f in $DIR/slurmd.nbA.pid $DIR/slurmd.nbB.pid $DIR/slurmctld.pid $DIR/munge/pid; do
    [ -f $f ] && kill $(cat $f) 2>/dev/null || true
  done ;;
esac
