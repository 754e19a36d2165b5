"""A log that is still written, as a page reads on in it."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

from nbddp.run.folder.files import reading

MOST = 1 << 20  # bytes that a page gets at once
WITHIN = bytes(range(0x80, 0xC0))  # in UTF-8 no character begins with these


@dataclass(frozen=True)
class Piece:
    text: str
    start: int = 0  # where it stands in the file, in bytes
    end: int = 0


def read_on(path: Path, start: int | None) -> Piece:
    """What follows `start`; all that a page shows where that is too much, or the file is not the one it was."""
    with reading(path) as file:
        size = file.seek(0, os.SEEK_END)
        if start is None or not size - MOST <= start <= size:
            start = max(0, size - MOST)
        file.seek(start)
        data = file.read(size - start).removesuffix(b"\r")  # its \n may be on its way
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data.lstrip(WITHIN) if start == size - MOST else data)
    begun = len(decoder.getstate()[0])  # bytes of a character that is not complete yet
    return Piece(text.replace("\r\n", "\n").replace("\r", "\n"), start, start + len(data) - begun)
