"""What a cluster has: its partitions, as `sinfo` prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    """What `sinfo` says of one."""

    name: str
    nodes: int
    cpus: int  # of a node that has most
    gpus: int
    default: bool = False


SINFO = "%P|%D|%c|%G"


def read_partitions(text: str) -> dict[str, Partition]:
    """Of `sinfo --noheader --format SINFO`: a line for each kind of node in each partition."""
    found: dict[str, Partition] = {}
    for name, nodes, cpus, gpus, default in _rows(text):
        before = found.get(name, Partition(name, 0, 0, 0, default))
        most = max(before.cpus, cpus), max(before.gpus, gpus)
        found[name] = Partition(name, before.nodes + nodes, *most, default)
    return found


def _rows(text: str) -> Iterator[tuple[str, int, int, int, bool]]:
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) == 4 and parts[1].isdecimal():
            cpus = re.match(r"\d+", parts[2])
            yield parts[0].rstrip("*"), int(parts[1]), int(cpus[0]) if cpus else 0, gpus_in(parts[3]), "*" in parts[0]


def gpus_in(gres: str) -> int:
    """`gpu:a100:4(S:0-1),gpu:2` are 6."""
    return sum(int(count) for count in re.findall(r"(?:^|,)gpu(?::[^:,(]+)??:(\d+)(?=[(,]|$)", gres))
