"""The fixture `proved` for tests that train, and the option `--proofs`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .claim import Claim
from .ledger import FILE, KNOWN, TRAINED, Ledger, read

MODES = """what becomes of trainings that were proved before: `use` trains only the others; `write` does so too, keeps
what that proves, and runs no other test; `ignore` trains all"""
Judge = Callable[[], object]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proofs", choices=("use", "write", "ignore"), default="use", help=MODES)
    parser.addoption("--proofs-file", type=Path, default=FILE, help="where the proofs are")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # where the reports of all processes come together
        config.pluginmanager.register(Clerk(config), "proofs-clerk")


@pytest.fixture
def proved(request: pytest.FixtureRequest) -> Callable[[Claim, Judge], None]:
    """Call the judge, who trains and raises where that goes wrong, unless exactly this claim was proved before."""
    mode, file = request.config.option.proofs, request.config.option.proofs_file

    def proved(claim: Claim, judge: Judge) -> None:
        digest = claim.digest(judge)
        known = mode != "ignore" and read(file).get(claim.name) == digest
        if not known:
            judge()
        request.node.user_properties.append((KNOWN if known else TRAINED, [claim.name, digest]))

    return proved


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.proofs == "write":
        others = [item for item in items if "proved" not in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if "proved" in getattr(item, "fixturenames", ())]


class Clerk:
    """Gives the reports to the ledger, and tells what comes of it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.writes = config.option.proofs == "write"
        self.ledger = Ledger(config.option.proofs_file, self.writes)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name in self.ledger.heard(report):
            if self.writes:
                self._say(f"proved, as number {len(self.ledger.trained)}: {name}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """A line a training, and no dots between them."""
        return ("passed", "", "") if self.writes and report.when == "call" and report.passed else None

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        whole = self.config.args_source is self.config.ArgsSource.TESTPATHS and not self.config.option.keyword
        if self.writes and whole and exitstatus == pytest.ExitCode.OK:
            for name in self.ledger.drop_others():
                self._say(f"dropped, since there is no such training any more: {name}")

    def pytest_terminal_summary(self) -> None:
        trained, known = len(self.ledger.trained), len(self.ledger.known)
        if trained or known:
            keep = "" if self.config.option.proofs != "use" or not trained else "; `make prove` keeps what they prove"
            self._say(f"trainings: {known} proved before, {trained} trained now{keep}")

    def _say(self, line: str) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)
