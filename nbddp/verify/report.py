"""The outcome of a verification as a notebook and a prompt show it."""

from __future__ import annotations

from dataclasses import dataclass

from nbddp.verify.outcome import Outcome
from nbddp.verify.page import html
from nbddp.verify.table import text


@dataclass(frozen=True, repr=False)
class Report(Outcome):
    def _repr_html_(self) -> str:
        return html(self)

    def __repr__(self) -> str:
        return text(self)
