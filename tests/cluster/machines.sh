#!/bin/bash
# Two "machines": network namespaces with host names of their own, joined by a veth pair; nothing else is reachable.
#   bash machines.sh up | down          then:  bash machines.sh on nbA COMMAND...
# /etc/netns/NAME/hosts gives each its own /etc/hosts (ip netns exec binds it), unshare --uts its own host name:
# torchrun's c10d rendezvous decides by the host name who is the store's host, and names MASTER_ADDR by it.
set -e
A=nbA B=nbB
case ${1:-up} in
up)
  for n in $A $B; do
    ip netns add $n; mkdir -p /etc/netns/$n
    printf '127.0.0.1 localhost\n10.77.0.1 nbA\n10.77.0.2 nbB\n' > /etc/netns/$n/hosts
  done
  ip link add ve$A type veth peer name ve$B
  ip link set ve$A netns $A; ip link set ve$B netns $B
  for pair in "$A 10.77.0.1" "$B 10.77.0.2"; do
    set -- $pair
    ip -n $1 addr add $2/24 dev ve$1; ip -n $1 link set ve$1 up; ip -n $1 link set lo up
  done ;;
on)
  n=$2; shift 2
  exec ip netns exec $n unshare --uts sh -c '
    hostname '$n'; c=/sys/fs/cgroup
    if [ -n "$CGROUP" ]; then  # ip netns exec mounts a /sys anew, without cgroups, and slurmd wants them
      if grep -q freezer /proc/self/cgroup; then
        mount -t tmpfs none $c; for k in freezer cpuset memory cpu devices; do mkdir $c/$k; mount -t cgroup -o $k none $c/$k; done
        mkdir $c/systemd; mount -t cgroup -o none,name=systemd none $c/systemd
      else mount -t cgroup2 none $c; fi
    fi
    exec "$@"' sh "$@" ;;
down)
  for n in $A $B; do
    for p in $(ip netns pids $n 2>/dev/null); do kill -9 $p 2>/dev/null || true; done
    ip netns del $n 2>/dev/null || true; rm -rf /etc/netns/$n
  done ;;
esac
