"""Which files are modules beside a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.modules.files import LARGEST, find, imports_of, reached
from nbddp.notebook import parse
from tests.modules.beside import written


def test_a_file_and_a_package(tmp_path: Path) -> None:
    written(tmp_path, {"losses.py": "a = 1\n", "models/__init__.py": "", "models/unet.py": "b = 2\n"})
    assert [find([tmp_path], name, tmp_path).file for name in ("losses", "models", "models.unet")] == [  # type: ignore[union-attr]
        "losses.py", "models/__init__.py", "models/unet.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere", None),
        ("json", "a = 1\n"),  # Python's own comes first, as a rule
        ("torch", "a = 1\n"),
        ("old", "print 'Python 2'\n"),
        ("long", "a = 1\n" + "#" * LARGEST),
        ("latin", b"a = '\xe9'\n"),
    ],
)
def test_what_is_none_or_cannot_be_read(tmp_path: Path, name: str, text: str | bytes | None) -> None:
    if text is not None:
        (tmp_path / f"{name}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert find([tmp_path], name, tmp_path) is None


@pytest.mark.parametrize(
    ("module", "line", "name"),
    [
        ("models.unet", "from .blocks import Block", "models.blocks"),
        ("models.unet", "from . import blocks", "models"),
        ("models.unet", "from ..losses import pairs", "losses"),
        ("models", "from .unet import UNet", "models.unet"),
        ("models.unet", "from losses import pairs", "losses"),
    ],
)
def test_the_full_name_of_what_a_module_imports_from(tmp_path: Path, module: str, line: str, name: str) -> None:
    written(tmp_path, {"models/__init__.py": "", "models/unet.py": ""})
    found = find([tmp_path], module, tmp_path)
    assert found is not None
    assert found.named(parse(line).body[0]) == name  # type: ignore[arg-type]


def test_in_another_folder_the_first_comes_first(tmp_path: Path) -> None:
    written(tmp_path, {"src/losses.py": "", "lib/losses.py": "", "lib/nets.py": "", "notes/x.ipynb": ""})
    places = [tmp_path / "src", tmp_path / "lib"]
    found = [find(places, name, tmp_path / "notes") for name in ("losses", "nets")]
    assert [one.file for one in found if one] == ["../src/losses.py", "../lib/nets.py"]


def test_what_modules_import_and_so_on(tmp_path: Path) -> None:
    files = {"losses.py": "import torch\nfrom nets import pairs\n", "nets/__init__.py": "from .pairs import near\n",
             "nets/pairs.py": "import losses, missing\n", "others.py": ""}  # fmt: skip
    written(tmp_path, files)
    found = reached([tmp_path], ["losses", "json"], tmp_path)
    assert {name: one.file for name, one in found.items()} == {
        "losses": "losses.py", "nets": "nets/__init__.py", "nets.pairs": "nets/pairs.py"
    }  # fmt: skip
    assert [*imports_of(found["nets"])] == ["nets.pairs", "nets.pairs.near"]
