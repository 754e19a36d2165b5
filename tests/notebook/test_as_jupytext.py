"""The same cells as jupytext reads from the same file, so that the numbers of a paired notebook agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbddp.notebook import notebook_from_percent

jupytext = pytest.importorskip("jupytext", reason="the light environments have no jupytext")

HEADER = "# ---\n# {}jupyter:\n#   jupytext:\n#     text_representation:\n#       format_name: percent\n# ---\n"
HEADERS = ["", "#!/usr/bin/env python\n# coding: utf-8\n\n", HEADER.format(""), HEADER.format("title: a\n# ") + "\n"]
LINES = [
    "# %%",
    "#%%",
    "# %% Title",
    "# %%%% deeper",
    "  # %%",
    "# In[3]:",
    "# %% [markdown]",
    '# %% [markdown] tags=["x"]',
    "# %% [raw]",
    '# %% tags=["ddp-train", "b"]',
    '# %% {"tags": ["q"]}',
    '# %% active="ipynb" tags=["z"]',
    '# %% language="bash"',
    "# text",
    "#text",
    "#",
    "# it's",
    "",
    "",
    "",
    "  ",
    "x = 1",
    "x = 5 # %%",
    "s = '# %%'",
    "def f():",
    "    return 1",
    "'''",
    "# %matplotlib inline",
    "# !pip install \\",
    "#     y",
    "    # !ls",
    "# x = !ls",
    "# %%time",
    "# %%ddp_train --nproc 2",
    "# # %cd foo",
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(HEADERS), st.lists(st.sampled_from(LINES), max_size=9), st.sampled_from(["", "\n", "\n\n"]))
def test_jupytext_reads_the_same(header: str, lines: list[str], end: str) -> None:
    text = header + "\n".join(lines) + end
    expected = jupytext.reads(text, fmt="py:percent")
    found = notebook_from_percent(text, "a.py")
    assert [(c.kind, c.tags) for c in found.cells] == [
        (c.cell_type, tuple(c.metadata.get("tags", ()))) for c in expected.cells
    ]
    assert [c.source for c in found.cells if c.kind == "code"] == [
        c.source for c in expected.cells if c.cell_type == "code"
    ]
