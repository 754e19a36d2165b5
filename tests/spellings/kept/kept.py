"""One way to keep a number of each batch, and what is read of it afterwards.

In the lines NUMBER is the number of a batch. What is kept is made anew before each pass; `once` stands before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "list"]


@dataclass(frozen=True)
class Kept:
    title: str
    before: str
    each: str
    result: str
    once: str = ""
    after: str = ""
    kind: Kind = "number"
