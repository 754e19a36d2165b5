"""Which names a text has. Parts of scripts are texts that many scripts share, so what is found out once is kept."""

from __future__ import annotations

import ast
import functools
import io
import tokenize

from nbddp.analysis.syntax import walk


@functools.lru_cache(maxsize=1024)
def names_in(source: str) -> frozenset[str]:
    """All names that the source reads or binds, attributes and keywords aside."""
    return frozenset(node.id for node in walk(ast.parse(source)) if isinstance(node, ast.Name))


@functools.lru_cache(maxsize=1024)
def words_of(source: str) -> frozenset[str]:
    """Those, attributes, keywords and definitions: more than is read, so that no import is missed."""
    found: set[str] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            found.add(token.string)
        elif token.type == tokenize.STRING and token.string.lstrip("rbRBuU")[:1] in "fF":
            found |= names_in(token.string)
    return frozenset(found)
