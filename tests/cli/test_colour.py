import io

import pytest

from nbddp.cli.colour import coloured, paint


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "settings", "on"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_only_a_terminal_gets_colour_unless_told(monkeypatch, stream, settings, on):
    monkeypatch.setenv("TERM", "xterm")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert coloured(stream) is on


def test_paint_joins_styles_and_leaves_plain_text_alone():
    assert paint("x", "bold red", on=True) == "\x1b[1;31mx\x1b[0m"
    assert paint("x", "bold red", on=False) == "x"
    assert paint("", "bold", on=True) == ""
