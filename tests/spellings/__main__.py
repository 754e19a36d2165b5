"""Writes the table of spellings into the documentation."""

from tests.spellings.table import DOCUMENT, document

DOCUMENT.write_text(document(), encoding="utf-8")
