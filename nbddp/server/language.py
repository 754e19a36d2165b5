"""The language of the page, as JupyterLab's own server part knows it."""

from __future__ import annotations

from nbddp.sentence import Words, said, words_of

DOMAIN = "nbddp"


def in_its_language(text: str | Words) -> str:
    """Of a sentence or its words; English where no JupyterLab is beside the server, or no language pack has it."""
    words = text if isinstance(text, list) else words_of(text)
    try:
        from jupyterlab_server.translation_utils import translator
    except ImportError:
        return said(words, str)
    return said(words, translator.load(DOMAIN).gettext)
