"""Notebook files as JSON: nbformat 4, and 3 (and 2) with its worksheets, read as tolerantly as is safe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nbddp.notebook.cells import cell_from_source
from nbddp.notebook.marks import tag_words
from nbddp.notebook.model import CannotRead, Cell, Notebook
from nbddp.notebook.requirements import requirements
from nbddp.sentence import sentence

_OLDEST, _NEWEST = 2, 4
_KINDS = {"code": "code", "markdown": "markdown", "heading": "markdown"}  # all others show and run nothing


@dataclass(frozen=True)
class _Raw:
    """One cell of the file, with the keys of format 3 and 4 told apart."""

    fields: dict[str, Any]
    source: str
    kind: str


def notebook_from_json(data: object, name: str) -> Notebook:
    """The notebook in a decoded .ipynb file; raises CannotRead with one sentence where there is none."""
    if not isinstance(data, dict) or not _cell_lists(data):
        raise CannotRead(sentence("%1 is not a notebook: it is JSON, but has no list of cells.", name))
    _check_format(data, name)
    _check_language(data, name)
    raws = [_raw(cell, number, name) for number, cell in enumerate(_all_cells(data), 1)]
    cells = tuple(_cell(raw, number) for number, raw in enumerate(raws, 1))
    return Notebook(name, cells, "python", requirements(cells))


def _cell_lists(data: dict[str, Any]) -> list[list[object]]:
    sheets = data.get("worksheets")
    holders = [data, *(sheets if isinstance(sheets, list) else [])]
    lists = [holder.get("cells") for holder in holders if isinstance(holder, dict)]
    return [cells for cells in lists if isinstance(cells, list)]


def _all_cells(data: dict[str, Any]) -> Iterator[object]:
    for cells in _cell_lists(data):
        yield from cells


def _check_format(data: dict[str, Any], name: str) -> None:
    version = data.get("nbformat")
    if not isinstance(version, int) or isinstance(version, bool) or _OLDEST <= version <= _NEWEST:
        return
    if version > _NEWEST:
        text = sentence("%1 is in notebook format %2, which is newer than this nbddp can read (4).", name, version)
    else:
        text = sentence(
            "%1 is in notebook format %2; open and save it in Jupyter to convert it to format 4.", name, version
        )
    raise CannotRead(text)


def _check_language(data: dict[str, Any], name: str) -> None:
    metadata = _dict(data.get("metadata"))
    stated = [_dict(metadata.get("language_info")).get("name"), _dict(metadata.get("kernelspec")).get("language")]
    for language in stated:
        if isinstance(language, str) and language.strip() and not _is_python(language):
            raise CannotRead(sentence("%1 is a notebook in %2, not in Python.", name, language))


def _is_python(language: str) -> bool:
    return language.strip().lower().startswith(("python", "ipython"))


def _raw(cell: object, number: int, name: str) -> _Raw:
    fields = _dict(cell)
    kind = fields.get("cell_type")
    source = _text(fields.get("source", fields.get("input")))
    if not isinstance(kind, str) or source is None:
        no_text, no_type = (
            sentence("%1 is damaged: cell %2 has no text.", name, number),
            sentence("%1 is damaged: cell %2 has no type.", name, number),
        )
        raise CannotRead(no_text if isinstance(kind, str) else no_type)
    if kind == "heading" and isinstance(level := fields.get("level", 1), int):
        source = f"{'#' * min(max(level, 1), 6)} {source}"
    if kind == "code" and isinstance(language := fields.get("language", "python"), str) and not _is_python(language):
        kind = "raw"  # format 3 could mix languages in one file
    return _Raw(fields, source, _KINDS.get(kind, "raw"))


def _cell(raw: _Raw, number: int) -> Cell:
    count = raw.fields.get("execution_count", raw.fields.get("prompt_number"))
    identity = raw.fields.get("id")
    tags = tag_words(_dict(raw.fields.get("metadata")).get("tags"))
    return replace(
        cell_from_source(raw.source, number, raw.kind, tags),
        id=identity if isinstance(identity, str) else None,
        execution_count=count if isinstance(count, int) and not isinstance(count, bool) else None,
    )


def _text(source: object) -> str | None:
    """Text is one string or a list of lines; a cell without any is empty."""
    if source is None:
        return ""
    parts = source if isinstance(source, list) else [source]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
