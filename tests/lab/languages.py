"""A language pack as JupyterLab finds it, as if it were in Esperanto: each text stands in brackets."""

from __future__ import annotations

import json
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from tests.lab.installed import ROOT

LOCALE = "eo"
TEMPLATE = ROOT / "labextension" / "messages.pot"
SETTING = "@jupyterlab/translation-extension/plugin.jupyterlab-settings"


def write_pack(folder: Path) -> None:
    """Packages that are on the path of the server's Python: no installation is needed."""
    module = f"jupyterlab_language_pack_{LOCALE}"
    messages = folder / module / "locale" / LOCALE / "LC_MESSAGES"
    messages.mkdir(parents=True)
    (folder / module / "__init__.py").touch()
    about = folder / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[jupyterlab.languagepack]\n{LOCALE} = {module}\n")
    with TEMPLATE.open("rb") as file:
        template = read_po(file)
    texts = [message for message in template if message.id]
    header = {"domain": "nbddp", "language": LOCALE, "plural_forms": "nplurals=2; plural=(n != 1);", "version": "1.0"}
    (messages / "nbddp.json").write_text(json.dumps({"": header, **dict(map(_entry, texts))}))
    pack = Catalog(locale="en", domain="nbddp")
    for message in texts:
        pack.add(
            message.id,
            tuple(_translated(message)) if message.pluralizable else _translated(message)[0],
            context=message.context,
        )
    with (messages / "nbddp.mo").open("wb") as file:
        write_mo(file, pack)


def _entry(message: Message) -> tuple[str, list[str]]:
    """As jupyterlab-translate writes it: the context before the text."""
    text = message.id[0] if message.pluralizable else message.id
    return (f"{message.context}\x04{text}" if message.context else text), _translated(message)


def _translated(message: Message) -> list[str]:
    return [f"⟦{text}⟧" for text in (message.id if message.pluralizable else [message.id])]
