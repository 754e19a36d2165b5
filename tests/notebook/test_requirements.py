"""What a notebook's install lines ask for."""

from __future__ import annotations

import pytest

from nbddp.notebook import cell_from_source
from nbddp.notebook.requirements import required, requirements


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("pip install torch", ["torch"]),
        ("pip3 install -q -U torch torchvision==0.20", ["torch", "torchvision==0.20"]),
        ("python -m pip install --upgrade x", ["x"]),
        ("{sys.executable} -m pip install x", ["x"]),
        ("/usr/bin/python3.11 -m pip install x", ["x"]),
        ("sudo pip install x", ["x"]),
        ("uv pip install x", ["x"]),
        ('pip install "x>=1,<2" y[a,b]', ["x>=1,<2", "y[a,b]"]),
        ("pip install torch>=2.0", ["torch>=2.0"]),
        ("pip install -r requirements.txt x", ["x"]),
        ("pip install x -f https://a/b.html", ["x"]),
        ("pip install --index-url https://a x", ["x"]),
        ("pip install --index-url=https://a x", ["x"]),
        ("pip install git+https://a/b.git", ["git+https://a/b.git"]),
        ("pip install -e . ./y /z ~/u", []),
        ("pip install x{version} $y z", ["z"]),
        ("pip install x > /dev/null", ["x"]),
        ("pip install x >/dev/null 2>&1", ["x"]),
        ("pip install x | tail -1", ["x"]),
        ("pip install x # for plots", ["x"]),
        ("pip install x; pip install y", ["x", "y"]),
        ("pip install x && pip install y", ["x", "y"]),
        ("apt-get install z && pip install y", ["y"]),
        ("pip install x, y", ["x", "y"]),
        ("pip install 'x", ["'x"]),
        ("pip uninstall x", []),
        ("pip freeze", []),
        ("conda install x", []),
        ("pip", []),
    ],
)
def test_required(command: str, words: list[str]) -> None:
    assert list(required(command)) == words


def test_of_all_cells_in_order_each_once() -> None:
    sources = [
        "%%capture\n!pip install b",
        "x = 1\nif x:\n    %pip install a b",
        "%%bash\ncd x\npip install c \\\n  d",
        "pip install e",
        "%uv pip install f",
        "# !pip install no\ns = '!pip install no'",
        "%%writefile setup.sh\npip install no",
    ]
    cells = [cell_from_source(source, number) for number, source in enumerate(sources, 1)]
    assert requirements(cells) == ("b", "a", "c", "d", "e", "f")
