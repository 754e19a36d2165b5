"""What cell markers say."""

from __future__ import annotations

import pytest

from nbddp.notebook.percentoptions import Options, marker_options


@pytest.mark.parametrize(
    ("comment", "kind", "tags"),
    [
        ("# %%", "code", ()),
        ("#%%", "code", ()),
        ("# %% Title", "code", ()),
        ("# %% [markdown]", "markdown", ()),
        ("# %% [md]", "markdown", ()),
        ("# %% Title [raw]", "raw", ()),
        ('# %% tags=["a", "b"]', "code", ("a", "b")),
        ("# %% tags=['a']", "code", ("a",)),
        ('# %% Title tags=["a"] id="x"', "code", ("a",)),
        ('# %% id="x" tags=["a"]', "code", ("a",)),
        ('# %% [markdown] tags=["a"] other', "markdown", ("a",)),
        ('# %% {"tags": ["a"], "x": 1}', "code", ("a",)),
        ("# %% {broken", "code", ()),
        ('# %% tags="a b"', "code", ("a", "b")),
        ("# %% tags=a", "code", ("a",)),
        ("# %% tags=", "code", ()),
        ("# %% tags=[", "code", ("[",)),
        ("# %%%% deeper", "code", ()),
        ("# In[12]:", "code", ()),
        ("# In[ ]", "code", ()),
        ("# <codecell>", "code", ()),
    ],
)
def test_markers(comment: str, kind: str, tags: tuple[str, ...]) -> None:
    options = marker_options(comment)
    assert options is not None
    assert (options.kind, options.tags) == (kind, tags)


@pytest.mark.parametrize("comment", ["#", "# text", "# %", "# %time", "# %%time", "# %%bash -x", "## %%", "# In [1]:"])
def test_other_comments(comment: str) -> None:
    assert marker_options(comment) is None


def test_values() -> None:
    options = marker_options('# %% a=1 b="x y" c=true d={"e": [1]} f.g=None h=bare')
    assert options == Options("code", {"a": 1, "b": "x y", "c": True, "d": {"e": [1]}, "f.g": None, "h": "bare"})


@pytest.mark.parametrize(
    ("values", "py", "ipynb"),
    [
        ({}, True, True),
        ({"active": "py"}, True, False),
        ({"active": "ipynb"}, False, True),
        ({"active": "ipynb,py"}, True, True),
        ({"active": ""}, False, False),
        ({"active": None}, True, True),
        ({"tags": ["active-ipynb-py"]}, True, True),
        ({"tags": ["active-ipynb"]}, False, True),
    ],
)
def test_activity(values: dict[str, object], py: bool, ipynb: bool) -> None:
    options = Options("code", values)
    assert (options.is_active_in("py"), options.is_active_in("ipynb")) == (py, ipynb)


@pytest.mark.parametrize(("language", "expected"), [("bash", "bash"), ("python", None), ("Python3", None), (5, None)])
def test_language(language: object, expected: str | None) -> None:
    assert Options("code", {"language": language}).language == expected
