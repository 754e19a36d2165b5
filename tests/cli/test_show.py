import io

from nbddp.cli.show import count, show
from nbddp.diagnostics import Diagnostic
from nbddp.documentation import page_of
from tests.cli.findings import ERROR, WARNING, shown

NOTE = Diagnostic("quiet", "note", "said once")


def test_plain_text_is_the_house_form():
    stream = io.StringIO()
    show([ERROR, NOTE], stream)
    assert stream.getvalue() == shown(ERROR, NOTE)


def test_colour_adds_nothing_but_escape_codes(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    show([ERROR, WARNING], stream)
    lines = stream.getvalue().split("\n")
    assert lines[0] == "\x1b[1;31merror[sampler]\x1b[0m:\x1b[1m no loader\x1b[0m"
    assert "\x1b[34m --> cell 2:1\x1b[0m" in lines
    assert "  1 | x = 1" in lines
    assert "\x1b[36mwhy\x1b[0m: nothing to shard" in lines
    assert "\x1b[36mhelp\x1b[0m: set one" in lines
    assert f"\x1b[36mmore\x1b[0m: {page_of('seed')}" in lines


def test_a_source_line_that_looks_like_a_label_is_left_alone(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    show([Diagnostic("r", "note", "m", cell=1, line=3, source="help: int = 3")], stream)
    assert "\n  3 | help: int = 3\n" in stream.getvalue()


def test_the_count_goes_from_grave_to_light():
    assert count([NOTE, WARNING, ERROR, WARNING]) == "1 error, 2 warnings, 1 note"
    assert count([]) == ""
