"""The language of the page, as JupyterLab's own server part knows it."""

from __future__ import annotations

from nbddp.sentence import said, words_of

DOMAIN = "nbddp"


def in_its_language(text: str) -> str:
    """English where no JupyterLab is installed beside the server, or no language pack has the sentence."""
    try:
        from jupyterlab_server.translation_utils import translator
    except ImportError:
        return text
    return said(words_of(text), translator.load(DOMAIN).gettext)
