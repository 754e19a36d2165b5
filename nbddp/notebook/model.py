"""The values that reading a notebook yields; nothing here reads, parses or decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Escape:
    """One magic, shell line or help line: something that IPython runs and Python does not."""

    line: int  # 1-based, in the cell
    kind: str  # "line magic" | "cell magic" | "shell" | "help"
    name: str  # "matplotlib", "time", "bash"; for a shell line its first word, for help what is asked about
    text: str  # as written, without the % or ! or ?
    target: str | None = None  # what `x = !cmd`, `x = %magic` or `%%capture x` assigns


@dataclass(frozen=True)
class SyntaxProblem:
    """Why a cell is no Python, at its place in the cell's source."""

    message: str
    line: int  # 1-based
    column: int  # 1-based, in characters


@dataclass(frozen=True)
class Cell:
    """One cell. `code` has as many lines as `source`, so that a line number means the same in both."""

    number: int  # 1-based position among all cells of the file, markdown included, as ruff counts
    kind: str  # "code" | "markdown" | "raw"
    source: str  # as in the file, with newlines as \n
    code: str  # Python, magics replaced; "" for what is no Python at all (%%bash, markdown)
    tags: tuple[str, ...] = ()
    directive: str | None = None  # the word after `#| ddp:`, as written, also when it is none of ROLES
    mark: str | None = None  # "train" | "setup" | "rank0" | "skip" | "parameters" | "wrap" | "connect"
    mode: str | None = None  # "ddp" | "dp" | "single": which %%..._train magic stands there
    magic_line: str = ""  # what follows %%ddp_train on its line
    escapes: tuple[Escape, ...] = ()
    error: SyntaxProblem | None = None
    id: str | None = None
    execution_count: int | None = None
    needs_imports: tuple[str, ...] = ()  # modules that replaced magics use and the cell does not import before them
    has_await: bool = False  # awaits at top level, as IPython allows and a script does not
    marks: tuple[str, ...] = ()  # every role that magic, directive and tags claim; more than one is a contradiction
    file_line: int | None = None  # line of the cell's first line in a percent file; None for .ipynb
    file: str = ""  # "models/unet.py": what is needed of a module beside the notebook, which has no cell of its own
    module: str = ""  # "models.unet"

    def source_column(self, line: int, column: int) -> int:
        """The column in `source` of a column in `code`; they differ where a dedent or a `%time` was taken off.

        All escaping cuts at the left and keeps what it keeps up to the end of the line: the difference is the answer.
        """
        source, code = self.source.split("\n"), self.code.split("\n")
        if not 0 < line <= min(len(source), len(code)) or not source[line - 1].endswith(code[line - 1].lstrip()):
            return column
        return column + len(source[line - 1]) - len(code[line - 1])


@dataclass(frozen=True)
class Brought:
    """An import of a name that stands in a cell with a `file` now."""

    cell: int
    line: int
    name: str  # by which the notebook has it
    text: str  # "from losses import TripletLoss"


@dataclass(frozen=True)
class Notebook:
    """All cells of one file."""

    name: str  # "digits.ipynb"
    cells: tuple[Cell, ...]
    language: str = "python"
    requires: tuple[str, ...] = ()  # what !pip install and %pip install lines name, options dropped
    path: Path | None = None
    folder: Path | None = None  # where modules beside it are looked for; None: nowhere
    brought: tuple[Brought, ...] = ()
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # `L.pairs`: its name there


class CannotRead(ValueError):
    """The file is no Python notebook that can be read; `sentence` says why."""

    def __init__(self, sentence: str, path: Path | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path
