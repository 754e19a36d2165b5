"""Writes labextension/messages.pot anew: every text of the page that a language pack for JupyterLab may translate.

`python tools/messages.py`. The texts stand where they are used: trans.__("…") in TypeScript and in the drawing,
sentence("…") in Python, titles and labels in the schemas. The domain is "nbddp".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import write_po
from jupyterlab_server.translation_utils import DEFAULT_SCHEMA_SELECTORS

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "labextension" / "messages.pot"
# As jupyterlab-translate looks for them.
KEYWORDS: dict[str, Any] = {
    f"{bundle}.{function}": arguments
    for bundle in ("trans", "this.trans", "this._trans")
    for function, arguments in (("__", None), ("_n", (1, 2)))
}


def messages() -> Catalog:
    found = Catalog(domain="nbddp", fuzzy=False)
    for path in sorted([*(ROOT / "labextension" / "src").glob("*.ts"), *(ROOT / "nbddp/widget/static").glob("*.js")]):
        options = {"template_string": "False", "jsx": "False"}
        for _, message, _, _ in extract_from_file("javascript", path, KEYWORDS, options=options):
            found.add(message)
    for path in sorted((ROOT / "nbddp").rglob("*.py")):
        if "sentence(" in path.read_text(encoding="utf-8"):
            for _, message, _, _ in extract_from_file("python", path, {"sentence": None}):
                found.add(message)
    for path in sorted((ROOT / "labextension" / "schema").glob("*.json")):
        for context, message in of_schema(json.loads(path.read_text(encoding="utf-8"))):
            found.add(message, context=context)
    return found


def of_schema(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What JupyterLab's server translates in a schema, with the context in which it looks the text up."""
    own = dict.fromkeys(schema.get("jupyter.lab.internationalization", {}).get("selectors", []), "schema")
    selectors = {re.compile(f"/{pattern}"): context for pattern, context in {**DEFAULT_SCHEMA_SELECTORS, **own}.items()}
    for path, text in strings(schema):
        for pattern, context in selectors.items():
            if text and pattern.fullmatch(path):
                yield context, text


def strings(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    if isinstance(value, dict):
        for key, one in value.items():
            yield from strings(one, f"{path}/{key}")
    if isinstance(value, list):
        for at, one in enumerate(value):
            yield from strings(one, f"{path}[{at}]")


def write(file: IO[bytes]) -> None:
    write_po(file, messages(), no_location=True, omit_header=True, sort_output=True, width=0)


if __name__ == "__main__":
    with TEMPLATE.open("wb") as template:
        write(template)
