"""The file of proofs, and the one place where a line of it is written: when a test has trained and passed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("proofs.json")
TRAINED, KNOWN = "has trained", "was proved before"  # properties of a test's report: (one of these, [name, hash])


def read(file: Path) -> dict[str, str]:
    """Names and hashes; none where there is no file."""
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def write(file: Path, proofs: dict[str, str]) -> None:
    """A line for each, sorted; whole at any time, so that who is interrupted goes on where he was."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(proofs, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(file)


@dataclass
class Ledger:
    """Hears the reports of all tests, in the one process that has them all."""

    file: Path
    writes: bool
    trained: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)  # tests whose call has passed; their teardown is still to come

    def heard(self, report: pytest.TestReport) -> list[str]:
        """The names of what this report proves: nothing before the test is over, and nothing where any of it failed."""
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed.add(report.nodeid)
        if report.when != "teardown" or not report.passed or report.nodeid not in self.passed:
            return []
        said = dict(report.user_properties)
        self.known += [said[KNOWN][0]] if KNOWN in said else []
        if TRAINED not in said:
            return []
        name, digest = said[TRAINED]
        self.trained.append(name)
        if self.writes:
            write(self.file, {**read(self.file), name: digest})
        return [name]

    def drop_others(self) -> list[str]:
        """The names of trainings that are no longer there; to be called when all that there are were heard."""
        proofs = read(self.file)
        stale = proofs.keys() - {*self.trained, *self.known}
        if stale:
            write(self.file, {name: digest for name, digest in proofs.items() if name not in stale})
        return sorted(stale)
