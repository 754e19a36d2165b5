"""Percent files as notebooks."""

from __future__ import annotations

import pytest

from nbddp.notebook import CannotRead, Cell, notebook_from_percent

HEADER = """\
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     name: python3
# ---

"""


def cells(text: str) -> tuple[Cell, ...]:
    return notebook_from_percent(text, "a.py").cells


def test_a_whole_file() -> None:
    text = HEADER + (
        "# %% [markdown]\n# # Title\n#\n# text\n\n"
        "# %%\n# %matplotlib inline\n# !pip install a \\\n#     b\nimport torch\n\n"
        '# %% Training tags=["ddp-train"]\n# %%ddp_train --nproc 2\nfor x in y:\n    # %cd z\n    f(x)\n\n\n'
        "# %% [raw]\n# <b>\n"
    )
    notebook = notebook_from_percent(text, "a.py")
    markdown, first, train, raw = notebook.cells
    assert (markdown.kind, markdown.source) == ("markdown", "# Title\n\ntext")
    assert first.source == "%matplotlib inline\n!pip install a \\\n    b\nimport torch"
    assert first.code == "pass\npass\n\nimport torch"
    assert (train.mark, train.mode, train.magic_line, train.tags) == ("train", "ddp", "--nproc 2", ("ddp-train",))
    assert train.source == "%%ddp_train --nproc 2\nfor x in y:\n    %cd z\n    f(x)"
    assert (raw.kind, raw.source) == ("raw", "<b>")
    assert [c.number for c in notebook.cells] == [1, 2, 3, 4]
    assert notebook.requires == ("a", "b")


def test_cells_know_their_line_in_the_file() -> None:
    text = HEADER + "x = 1\n\n# %%\n\ny = 2\n# %% [markdown]\n# z\n"
    lines = text.split("\n")
    for cell in cells(text):
        assert cell.file_line is not None
        assert lines[cell.file_line - 1] in {cell.source.split("\n")[0], "# " + cell.source}


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("", []),
        ("x = 1", ["x = 1"]),
        ("x = 1\n# %%\ny", ["x = 1", "y"]),
        ("# %%\n# %%\n", ["", ""]),
        ("#%%\nx\n#%% Title\ny", ["x", "y"]),
        ("# %%\nx\n\n# %%%% deeper\ny", ["x", "y"]),
        ("# In[1]:\n\n\nx\n\n\n# In[ ]:\n\n\ny\n", ["\n\nx", "\n\ny"]),
        ("# <codecell>\nx\n# <codecell>\ny", ["x", "y"]),
        ("#!/usr/bin/env python\n# coding: utf-8\n# %%\nx", ["x"]),
        ("# %%\ndef f():\n    pass\n\n\n# %%\ny", ["def f():\n    pass", "y"]),
        ("# %%\nx\n  \n# %%\ny", ["x\n  ", "y"]),
        ("# %%\ns = '''\n# %%\n'''\n# %%\ny", ["s = '''\n# %%\n'''", "y"]),
        ("# %%\nf(\n# %%\n)", ["f(", ")"]),
        ("# %%\nx = 1  # %%\n# %%y", ["x = 1  # %%\n# %%y"]),
        ("\ufeff# %%\r\nx\r\ny\r\n", ["x\ny"]),
        ("# ---\n# no header, a rule\nx", ["# ---\n# no header, a rule\nx"]),
    ],
)
def test_where_cells_begin(text: str, sources: list[str]) -> None:
    assert [c.source for c in cells(text)] == sources


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("# %% [markdown]\n# a\n#\n#b", "a\n\nb"),
        ('# %% [md]\n"""\n# Title\n\ntext\n"""', "# Title\n\ntext"),
        ("# %% [markdown]\nr'''a'''", "a"),
        ("# %% [markdown]", ""),
    ],
)
def test_markdown(text: str, source: str) -> None:
    assert [(c.kind, c.source) for c in cells(text)] == [("markdown", source)]


def test_yaml_that_is_not_jupytexts_is_a_cell() -> None:
    head = "# ---\n# title: Digits\n# jupyter:\n#   kernelspec:\n#     name: python3\n# author: me\n# ---\n# %%\nx"
    assert [(c.kind, c.source) for c in cells(head)] == [("raw", "---\ntitle: Digits\nauthor: me\n---"), ("code", "x")]


@pytest.mark.parametrize("name", ["light", "nomarker", "sphinx", "marimo"])
def test_other_formats_of_jupytext_are_refused(name: str) -> None:
    with pytest.raises(CannotRead, match=rf"^a\.py is in jupytext's {name} format, .* py:percent a\.py`"):
        cells(HEADER.replace("percent", name) + "x = 1\n")


def test_cells_in_other_languages() -> None:
    text = '# %% language="bash" magic_args="--out x"\n# ls\n#\n# pwd\n\n# %% language="python"\nx\n'
    bash, python = cells(text)
    assert (bash.source, bash.code, bash.escapes[0].name) == ("%%bash --out x\nls\n\npwd", "", "bash")
    assert bash.file_line == 1
    assert python.code == "x"


def test_active_cells() -> None:
    text = (
        '# %% active="ipynb"\n# x = 1\n# %% active="py"\ny\n# %% tags=["active-py"]\nz\n# %% tags=["active-ipynb"]\n# u'
    )
    assert [(c.kind, c.source) for c in cells(text)] == [("code", "x = 1"), ("raw", "y"), ("raw", "z"), ("code", "u")]


def test_hydrogen_writes_magics_as_they_are() -> None:
    text = HEADER.replace("percent", "hydrogen") + "# %%\n%cd x\n# %cd y\n"
    assert cells(text)[0].code == 'os.chdir("x")\n# %cd y'


def test_cell_magics_as_nbconvert_writes_them() -> None:
    text = "# In[2]:\n\n\nget_ipython().run_cell_magic('time', '', 'x = 1\\nif x:\\n    y = \"a\"\\n')\n"
    (cell,) = cells(text)
    assert cell.source == '%%time\nx = 1\nif x:\n    y = "a"\n'
    assert cell.code == '\nx = 1\nif x:\n    y = "a"\n'
