"""Percent-format files, the .py that jupytext, Spyder, VS Code and nbconvert write, as notebooks.

Cells are told apart as jupytext tells them apart, so that a paired .ipynb and .py have the same cell numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nbddp.notebook.cells import cell_from_source
from nbddp.notebook.layout import unix_newlines
from nbddp.notebook.lexing import comment_lines
from nbddp.notebook.model import CannotRead, Cell, Notebook
from nbddp.notebook.percentheader import Header, read_header
from nbddp.notebook.percentmagics import cell_magic_restored, uncomment, uncomment_magics
from nbddp.notebook.percentoptions import Options, marker_options
from nbddp.notebook.requirements import requirements


@dataclass(frozen=True)
class _Block:
    """The lines of one cell, its marker taken off."""

    lines: list[str]
    first: int  # index of the first of them in the file
    options: Options


def notebook_from_percent(text: str, name: str) -> Notebook:
    """The notebook in a .py file; a file without a marker is one cell.

    Raises CannotRead for jupytext's other formats, whose cells begin elsewhere.
    """
    text = unix_newlines(text.removeprefix("\ufeff"))
    lines = text.removesuffix("\n").split("\n") if text else []
    header = read_header(lines)
    if header.format_name not in {None, "percent", "hydrogen"}:
        raise CannotRead(
            f"{name} is in jupytext's {header.format_name} format, which nbddp cannot read; convert it with `jupytext "
            f"--to py:percent {name}`."
        )
    cells = [cell_from_source(header.raw_cell, 1, "raw")] if header.raw_cell else []
    for block in _blocks(lines, header.end):
        cells.append(_cell(block, len(cells) + 1, header))
    return Notebook(name, tuple(cells), "python", requirements(cells))


def _blocks(lines: list[str], start: int) -> Iterator[_Block]:
    markers = _markers(lines, start)
    if start not in markers and start < len(lines):
        markers = {start - 1: Options(), **markers}
    starts = [*markers, len(lines)]
    for (at, options), end in zip(markers.items(), starts[1:], strict=True):
        yield _Block(_trimmed(lines[at + 1 : end], at >= start), at + 1, options)


def _markers(lines: list[str], start: int) -> dict[int, Options]:
    """The options of each marker, by the index of its line."""
    comments = comment_lines("\n".join(lines[start:]))
    found = ((start + index, marker_options(comment)) for index, comment in comments)
    return {index: options for index, options in found if options is not None}


def _trimmed(lines: list[str], marked: bool) -> list[str]:
    """Without the blank lines that separate cells: two after a definition, else one."""
    blank = [not line.strip() for line in lines[-3:]]
    before = blank[-3] if len(blank) == 3 else not marked
    if len(blank) >= 2 and blank[-1] and blank[-2] and not before:
        return lines[:-2]
    return lines[:-1] if lines and not lines[-1] else lines


def _cell(block: _Block, number: int, header: Header) -> Cell:
    options, lines = block.options, block.lines
    kind = options.kind if options.kind != "code" or options.is_active_in("ipynb") else "raw"
    first = block.first + 1
    if kind != "code":
        source = _prose(lines)
    elif options.language:
        arguments = options.values.get("magic_args")
        words = [f"%%{options.language}", *([arguments] if isinstance(arguments, str) else [])]
        source = " ".join(words) + "\n" + "\n".join(map(uncomment, lines))
        first -= 1
    else:
        source = _code(lines, options, header)
    identity = options.values.get("id")
    cell = cell_from_source(source, number, kind, options.tags)
    return replace(cell, id=identity if isinstance(identity, str) else None, file_line=first)


def _code(lines: list[str], options: Options, header: Header) -> str:
    if not options.is_active_in("py"):
        return _prose(lines)
    text = cell_magic_restored("\n".join(lines))
    return text if header.format_name == "hydrogen" else uncomment_magics(text, header.format_name == "percent")


def _prose(lines: list[str]) -> str:
    """What is no code of the file, markdown above all, stands in comments or in one string."""
    text = "\n".join(lines).strip()
    for quotes in ('"""', "'''"):
        body = text[1:] if text[:1] in {"r", "R"} else text
        if body.startswith(quotes) and body.endswith(quotes) and len(body) >= 6:
            return body[3:-3].removeprefix("\n").removesuffix("\n")
    return "\n".join(map(uncomment, lines))
