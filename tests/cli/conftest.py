"""The verbs are thin: here the compiler behind them answers what a test tells it to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbddp.diagnostics import Diagnostic
from nbddp.fingerprint import BLANK, sealed
from nbddp.notebook import Cell, Notebook
from nbddp.options import Options


@dataclass
class Compiler:
    """Stands in for `export` and `check`; a test sets what they give, or the exception that they raise."""

    text: str = sealed(f'"""Exported from x.ipynb by nbddp 0.1.0 ({BLANK})."""\n\nx = 1\n')
    diagnostics: tuple[Diagnostic, ...] = ()
    line_map: tuple[tuple[int, int] | None, ...] = (None, None, (2, 1))
    watch: tuple[Any, ...] = ()
    refusal: Exception | None = None
    plan: Any = field(default_factory=lambda: SimpleNamespace(options=Options(), training_cell=2, handed_over=()))
    report: Any = None
    asked: list[Any] = field(default_factory=list)

    def export(self, notebook: Notebook, options: Any) -> Compiler:
        self.asked.append((notebook, options))
        if self.refusal:
            raise self.refusal
        self.plan.options = options
        return self

    def check(self, notebook: Notebook, options: Any) -> Any:
        self.asked.append((notebook, options))
        if self.refusal:
            raise self.refusal
        return self.report


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    stand_in = Compiler()
    monkeypatch.setattr("nbddp.cli.export.export", stand_in.export)
    monkeypatch.setattr("nbddp.cli.run.export", stand_in.export)
    monkeypatch.setattr("nbddp.cli.check.check", stand_in.check)
    return stand_in


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file x.ipynb in the current folder, read as a heading and a cell of five lines."""
    monkeypatch.chdir(tmp_path)
    path = Path("x.ipynb")
    path.write_text("{}")
    cells = (
        Cell(1, "markdown", "# Title", ""),
        Cell(2, "code", "x = 1\nx.shape\n%time\na(\n)", "x = 1\nx.shape\npass\na(\n)"),
    )
    read = Notebook("x.ipynb", cells, path=path)
    monkeypatch.setattr("nbddp.cli.export.read_notebook", lambda _: read)
    monkeypatch.setattr("nbddp.cli.run.read_notebook", lambda _: read)
    monkeypatch.setattr("nbddp.cli.check.read_notebook", lambda _: read)
    return path


@pytest.fixture(autouse=True)
def no_colour_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
