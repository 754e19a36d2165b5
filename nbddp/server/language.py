"""The language of the page, as JupyterLab's own server part knows it."""

from __future__ import annotations

from nbddp.sentence import said, words_of

DOMAIN = "nbddp"


def in_its_language(text: object) -> str:
    """Of a sentence or its words; English where no JupyterLab is beside the server, or no language pack has it."""
    try:
        from jupyterlab_server.translation_utils import translator
    except ImportError:
        return said(words_of(text), str)
    return said(words_of(text), translator.load(DOMAIN).gettext)
