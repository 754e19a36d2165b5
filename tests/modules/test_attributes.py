"""What is read of modules that are imported whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.modules.attributes import imported, named
from nbddp.notebook import parse
from tests.modules.beside import codes, read

LOSSES = {"losses.py": "device = 'cpu'\ndef pairs(a):\n    return a, device\n"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import losses\nlosses.pairs(losses.a.b)", [("losses", "losses", {"pairs", "a"})]),
        ("import losses as L\nlosses.x, L.pairs", [("L", "losses", {"pairs"})]),
        ("import a.b\na.b.c", []),
        ("import losses\nlosses.device = 'cuda'", []),
        ("import losses\nlosses = 3", []),
        ("import losses\nf = lambda losses: losses.pairs", []),
        ("import losses\ndef f(x, losses):\n    losses.pairs", []),
        ("import losses\nclass losses:\n    pass", []),
        ("import losses\nfrom other import losses", []),
        ("from other import losses\nlosses.pairs", [("losses", "other.losses", {"pairs"})]),
        ("from other import losses as L\nL.pairs(L.x)", [("L", "other.losses", {"pairs", "x"})]),
        ("from other import losses\nlosses.device = 'cuda'", []),
        ("from . import losses\nlosses.pairs", []),
        ("def f():\n    import losses\n    losses.pairs", []),
    ],
)
def test_where_a_name_is_that_of_a_module_alone(text: str, found: list[tuple[str, str, set[str]]]) -> None:
    assert list(imported([parse(text)])) == found


def test_the_text_by_the_names_of_the_cells() -> None:
    text = 'é = "é", losses.pairs(losses.a.b, other.pairs)'
    assert named(text, parse(text), {"losses": {"pairs": "p", "a": "aa"}}) == 'é = "é", p(aa.b, other.pairs)'


def test_a_notebook_that_imports_a_module_whole(tmp_path: Path) -> None:
    found = read(tmp_path, LOSSES, "import losses as L\nL.pairs(1)", "device = 3")
    assert codes(found)["losses.py"].split("\n")[0] == "device_of_losses = 'cpu'"
    assert codes(found)["1"] == "import losses as L\nL.pairs(1)"
    assert (found.attributes, [one.text for one in found.brought]) == (
        {"L": {"pairs": "pairs"}}, ["import losses as L"],
    )  # fmt: skip


def test_a_notebook_that_imports_a_module_from_its_package(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    files = {"package/__init__.py": "", "package/losses.py": LOSSES["losses.py"]}
    found = read(tmp_path, files, "from package import losses\nlosses.pairs(1)")
    assert codes(found)["1"] == "from package import losses\nlosses.pairs(1)"
    assert found.attributes == {"losses": {"pairs": "pairs"}}
    assert [one.text for one in found.brought] == ["from package import losses"]


def test_what_a_package_calls_as_its_module(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    files = {"package/__init__.py": "losses = []", "package/losses.py": LOSSES["losses.py"]}
    assert not read(tmp_path, files, "from package import losses\nlosses.append(1)").attributes
