"""A node that has died takes its ranks with it without a word; SLURM finds out about it only after some minutes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable

from nbddp.run.engines.slurm.asking import called
from nbddp.run.log.hearing import Hearing

WITHIN = 360.0  # seconds; SLURM's default for a node that does not answer is 300
EVERY = 3.0
SAID_BY_SRUN = re.compile(r"srun: error: ([^:\s]+): tasks? ")
BAD = re.compile(r"\*|down|fail|no_respond|unk", re.IGNORECASE)


def unheard_nodes(hearing: Hearing, printed: Iterable[str]) -> frozenset[str]:
    """Those with a rank that has not said why it ended, and of which srun has not said it either."""
    silent = {host for rank, host in hearing.met.items() if rank not in hearing.told | hearing.ended}
    said = {name for line in printed for match in SAID_BY_SRUN.findall(line) for name in _names(match)}
    return frozenset(host for host in silent if host not in said and host.partition(".")[0] not in said)


def _names(hosts: str) -> Collection[str]:
    """`nb[01-03],x` as several words."""
    said = called(["scontrol", "show", "hostnames", hosts], within=10.0)
    return said.text.split() or [hosts]


def wait_for_a_lost_node(nodes: frozenset[str], warn: Callable[[str], object], within: float = WITHIN) -> str:
    """The node that SLURM takes for lost, once it does; none where all of them answer it for so long."""
    if not nodes:
        return ""
    warn(f"Nothing was heard of {', '.join(sorted(nodes))} any more: waiting for what SLURM finds out.")
    until = time.monotonic() + within
    while time.monotonic() < until:
        for name, state in states(sorted(nodes)).items():
            if BAD.search(state):
                return name
        time.sleep(EVERY)
    return ""


def states(nodes: list[str]) -> dict[str, str]:
    """As `sinfo` has them: `alloc`, `down*`."""
    text = called(["sinfo", "--noheader", "--Node", "--nodes", ",".join(nodes), "--format", "%N %T"], within=20.0).text
    return dict(line.split(None, 1) for line in text.splitlines() if len(line.split()) == 2)
