"""Names of a module's top level, and no others."""

from __future__ import annotations

from textwrap import dedent

import pytest

from nbddp.modules.renaming import Fixed, renamed
from nbddp.notebook import parse

TEXT = """
device = "é"; other = device
def f(x, device=device):
    return device
def g(x) -> device:
    y = [d for d in x.device]
    return x.to(device, device=device), lambda device: device
class Net(object):
    def h(self):
        return self.device, "device", device
"""


def test_where_the_name_is_that_of_the_top_level() -> None:
    found = renamed(TEXT, parse(TEXT).body, {"device": "d", "g": "gg"})
    assert found == dedent("""
        d = "é"; other = d
        def f(x, device=d):
            return device
        def gg(x) -> d:
            y = [d for d in x.device]
            return x.to(d, device=d), lambda device: device
        class Net(object):
            def h(self):
                return self.device, "device", d
    """)


@pytest.mark.parametrize(
    "text",
    [
        "import device",
        "def f():\n    global device\n    device = 1",
        "print(f'{device}')",
        "class A:\n    device = device",
        "x = [device for device in range(3)]",
    ],
)
def test_where_it_cannot_be_told_or_changed(text: str) -> None:
    with pytest.raises(Fixed):
        renamed(text, parse(text).body, {"device": "d"})
