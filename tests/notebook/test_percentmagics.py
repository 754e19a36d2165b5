"""Magics that stand in comments."""

from __future__ import annotations

import pytest

from nbddp.notebook.percentmagics import cell_magic_restored, uncomment_magics


@pytest.mark.parametrize(
    ("text", "uncommented"),
    [
        ("# %matplotlib inline", "%matplotlib inline"),
        ("#%matplotlib inline", "%matplotlib inline"),
        ("#!%matplotlib inline", "%matplotlib inline"),
        ("#!!ls", "!ls"),
        ("    # !pip install x", "    !pip install x"),
        ("# !ls \\\n#   -l \\\n#   -a\n# text", "!ls \\\n  -l \\\n  -a\n# text"),
        ("# ?print", "?print"),
        ("# %%time\nf()", "%%time\nf()"),
        ("# x = !ls", "x = !ls"),
        ("# x = %pwd", "x = %pwd"),
        ("# # %cd x", "# %cd x"),
        ("s = '''\n# %cd x\n'''", "s = '''\n# %cd x\n'''"),
        ("x = 1  # %cd y", "x = 1  # %cd y"),
        ("# plain text", "# plain text"),
        ("# 5 % x", "# 5 % x"),
        ("# x = 5", "# x = 5"),
        ("# cp the weights", "# cp the weights"),
        ("# why?", "# why?"),
    ],
)
@pytest.mark.parametrize("jupytext", [True, False])
def test_of_any_tool(text: str, uncommented: str, jupytext: bool) -> None:
    assert uncomment_magics(text, jupytext) == uncommented


@pytest.mark.parametrize("text", ["# %d items", "# %no_such_magic", "# x = %d"])
def test_unknown_magics_of_jupytext_only(text: str) -> None:
    assert uncomment_magics(text, jupytext=True) == text[2:]
    assert uncomment_magics(text, jupytext=False) == text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("get_ipython().run_cell_magic('time', '', 'f()\\n')\n", "%%time\nf()\n"),
        ("\n\nget_ipython().run_cell_magic('timeit', '-n 1', 'f()')", "%%timeit -n 1\nf()"),
        ("get_ipython().run_cell_magic(name, '', 'f()')", None),
        ("get_ipython().run_cell_magic('time')", None),
        ("get_ipython().run_cell_magic()", None),
        ("get_ipython().run_cell_magic('a', '', 'b')\nx", None),
        ("x = 1", None),
    ],
)
def test_cell_magics_of_nbconvert(text: str, cell: str | None) -> None:
    assert cell_magic_restored(text) == (text if cell is None else cell)
