"""What a cell marker says: `# %% Title [markdown] tags=["ddp-train"]`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nbddp.notebook.marks import tag_words

_MARKER = re.compile(r"#\s*(?:%%%*(?:\s(?P<options>.*))?|<codecell>|In\[[0-9 ]*\]:?)\s*")
_KEY = re.compile(r"(?:^|\s)([A-Za-z0-9_.@/-]+)\s*=\s*")
_LOOSE_VALUE = re.compile(r"\[[^\]]*\]|'[^']*'|\S*")


@dataclass(frozen=True)
class Options:
    """One cell's options; the default is a marker without any."""

    kind: str = "code"
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def tags(self) -> tuple[str, ...]:
        return tag_words(self.values.get("tags"))

    @property
    def language(self) -> str | None:
        """Of a cell in another language, which jupytext writes as comments."""
        language = self.values.get("language")
        return language if isinstance(language, str) and not language.lower().startswith("python") else None

    def is_active_in(self, extension: str) -> bool:
        """jupytext's `active="py"` keeps a cell out of the notebook, `active="ipynb"` out of the script."""
        active = self.values.get("active")
        tagged = [tag for tag in self.tags if tag.startswith("active-")]
        if tagged:
            return extension in tagged[0].split("-")
        return not isinstance(active, str) or extension in re.split(r"[.,]", active)


def marker_options(comment: str) -> Options | None:
    """The options of a comment line that starts a cell; None for any other comment."""
    marker = _MARKER.fullmatch(comment)
    return marker and _options(marker["options"] or "")


def _options(text: str) -> Options:
    values, title_end = _values(text)
    title = text[:title_end]
    kinds = {"[markdown]": "markdown", "[md]": "markdown", "[raw]": "raw"}
    named = [kind for word, kind in kinds.items() if word in title]
    return Options(named[0] if named else "code", values)


def _values(text: str) -> tuple[dict[str, object], int]:
    """The `key=value` pairs, or one JSON object, and where they begin."""
    brace, equal = text.find("{"), text.find("=")
    if brace >= 0 and (equal < 0 or brace < equal):
        found, _ = _value(text, brace)
        return (found if isinstance(found, dict) else {}), brace
    values: dict[str, object] = {}
    first, at = len(text), 0
    while key := _KEY.search(text, at):
        first = min(first, key.start())
        values[key[1]], at = _value(text, key.end())
    return values, first


def _value(text: str, at: int) -> tuple[object, int]:
    """A JSON value, or one in Python's spelling, or bare text."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        loose = _LOOSE_VALUE.match(text, at)
    end = loose.end() if loose else len(text)
    try:
        return ast.literal_eval(text[at:end]), end
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text[at:end], end
