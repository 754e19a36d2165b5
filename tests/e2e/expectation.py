"""What a notebook's header comment says about how its exported script must compare with one plain process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FIELD = re.compile(r"^# (?P<key>[a-z]+): (?P<value>.+)$")


@dataclass(frozen=True)
class Expectation:
    """One header, read. Every field has a meaning in both the oracle and the comparison."""

    equal_on: frozenset[int] | None = None  # None: equal on any number of processes
    atol: float = 1e-6  # where equal: of each weight; Adam turns rounding of the smallest gradients into 1e-5
    tolerance: float = 0.0  # where not equal: relative, on the last line of metrics
    nproc: tuple[int, ...] = (1, 2, 3)
    metrics: str = "(?i)epoch"  # lines of output that match are compared, the others are free
    saves: tuple[str, ...] | None = None  # files that the script must write; None: all that one process wrote
    values: tuple[str, ...] = ()  # results that must come back by name
    rebuilt: bool = False  # loaders are built more than once: each has an order of its own
    order: tuple[int, ...] = ()  # epoch numbers of the training passes where they are not 0, 1, 2, ...

    def must_be_equal(self, nproc: int) -> bool:
        return self.equal_on is None or nproc in self.equal_on


def header(notebook: Path) -> dict[str, str]:
    """The `# key: value` lines above the first cell."""
    fields = {}
    for line in notebook.read_text(encoding="utf-8").splitlines():
        if line.startswith("# %%"):
            break
        if match := FIELD.match(line):
            fields[match["key"]] = match["value"].strip()
    return fields


def expectation(notebook: Path) -> Expectation:
    fields = header(notebook)
    equal_on, tolerance = _agreement(fields["oracle"])
    within = re.search(r"within ([\d.e-]+)", fields["oracle"])
    saves = fields.get("saves")
    return Expectation(
        equal_on=equal_on,
        atol=float(within[1]) if within else 1e-6,
        tolerance=tolerance,
        nproc=tuple(int(n) for n in fields.get("nproc", "1 2 3").split()),
        metrics=fields.get("metrics", "(?i)epoch"),
        saves=None if saves is None else tuple(name for name in saves.split() if name != "nothing"),
        values=tuple(fields.get("values", "").split()),
        rebuilt=fields.get("loaders") == "rebuilt",
        order=tuple(int(n) for n in fields.get("order", "").split()),
    )


def _agreement(text: str) -> tuple[frozenset[int] | None, float]:
    """`equal`, `equal within 1e-4`, `alike 0.2`, or `equal 1, alike 0.2`: equal on one process only."""
    if re.fullmatch(r"equal( within \S+)?", text):
        return None, 0.0
    equal = re.search(r"equal ([\d ]+)", text)
    alike = re.search(r"alike ([\d.]+)", text)
    if alike is None:
        raise ValueError(f"'{text}' says neither equal nor alike")
    return frozenset(int(n) for n in equal[1].split()) if equal else frozenset(), float(alike[1])


def notebooks() -> list[Path]:
    return sorted((HERE / "notebooks").glob("*.py"))


def refused() -> list[Path]:
    return sorted((HERE / "refused").glob("*.py"))
