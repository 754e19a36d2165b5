"""The summary lives through sanitisers, so it is read here as they read it: as a tree of elements."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nbddp.documentation import page_of
from nbddp.run.state.curve import Curve
from nbddp.run.state.fold import fold
from nbddp.run.state.state import RunState
from nbddp.widget.saved import portable
from nbddp.widget.subject import Subject
from nbddp.widget.summary import MIME, html, mimebundle, text
from nbddp.widget.svg import picture, ticks
from nbddp.widget.terminal import last_lines
from nbddp.widget.view import series
from tests.widget.runs import START, WARNING, ended, failed, running

HOSTILE = "<script>alert(1)</script> \x1b[31mred\x1b[0m"


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_finished_run():
    page = html(ended(running(300)), Subject("/runs/digits_ddp.py"), {0: ["the last line"]})
    assert "✓ Trained" in page
    assert "10 epochs · 300 steps · 2 ranks · 1:00" in page
    assert "accuracy <b>0.9552</b>" in page
    assert "the last line" in page
    assert "Script: <code>digits_ddp.py</code>" in page


@pytest.mark.parametrize("state", [RunState(), running(), ended(running(300)), failed()])
def test_it_has_only_elements_that_pass_a_sanitiser(state):
    elements = Elements(html(state, Subject("x.py", (WARNING,)), {0: last_lines(HOSTILE)}))
    assert set(elements.tags) <= {
        "div",
        "p",
        "a",
        "b",
        "code",
        "img",
        "details",
        "summary",
        "pre",
        "table",
        "tr",
        "th",
        "td",
    }
    assert elements.open == []


def test_a_finding_leads_to_its_page_unless_that_lies_on_this_machine(monkeypatch):
    link = f'<a href="{page_of(WARNING.rule)}" target="_blank" rel="noopener">More about this</a>'
    warned = Subject("x.py", (WARNING,))
    assert link in html(RunState(), warned)
    monkeypatch.setenv("NBDDP_DOCS", "/somewhere/docs")
    page = html(RunState(), warned)
    assert "is kept whole" in page
    assert "somewhere" not in page


def test_text_of_the_run_stays_text():
    page = html(failed(), Subject("a<b>.py"), {0: last_lines(HOSTILE)})
    assert "&lt;script&gt;alert(1)&lt;/script&gt; red" in page
    assert "sizes &lt;differ&gt;" in page
    assert "a&lt;b&gt;.py" in page
    assert "\x1b" not in page


def test_the_curves_are_a_picture_that_parses():
    page = html(ended(running(300)))
    source = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert source
    drawn = ET.fromstring(b64decode(source[1]))
    assert len(drawn) == 3  # panels: loss by step, losses by epoch, accuracy by epoch
    assert len(source[1]) < 20_000


def test_names_of_curves_stay_text_in_the_picture():
    drawn = picture(series({"a": Curve("<loss> & more", "step", "step").add(1, 2.0)}))
    assert "<loss> & more 2" in "".join(ET.fromstring(drawn).itertext())


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [-3.0, 1e-9], [1e30, -1e30], [5e-324, 1.0]])
def test_any_values_can_be_drawn(values):
    curve = Curve("loss", "step", "step")
    for x, y in enumerate(values):
        curve = curve.add(x, y)
    ET.fromstring(picture(series({"a": curve})))


@pytest.mark.parametrize(("low", "high", "expected"), [(0, 1, [0, 0.5, 1]), (0.12, 2.3, [1, 2]), (7, 7, [6.5, 7, 7.5])])
def test_ticks_are_round(low, high, expected):
    assert ticks(low, high, 3) == expected


def test_no_curves_no_picture():
    assert picture({}) == ""
    assert "<img" not in html(RunState())


def test_the_bundle_has_all_forms_and_is_small():
    bundle = mimebundle(ended(running(300)), Subject("x.py"), {0: [f"line {number}" for number in range(500)]})
    assert list(bundle) == ["text/plain", "text/html", MIME]
    assert bundle["text/plain"].startswith("digits · Done · epoch 10 of 10 · step 300 · train_loss 0.2046")
    assert bundle[MIME]["phase"] == "done"
    assert bundle[MIME]["logs"]["0"]["lines"][-1] == "line 499"
    assert len(json.dumps(bundle)) <= 15_000


@pytest.mark.parametrize("world", [2, 64])
def test_however_much_there_was_to_say_little_is_kept_and_nothing_of_this_machines_folders(
    world, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    state = failed_somewhere(world, tmp_path)
    logs = {
        rank: [f"{tmp_path}/data/{number}.pt is read " + "x" * 900 for number in range(500)] for rank in range(world)
    }
    subject = Subject(str(tmp_path / ".nbddp/runs/1-digits/script.py"), (WARNING,) * 60)
    bundle = mimebundle(state, subject, logs)
    kept = json.dumps(bundle, ensure_ascii=False)
    assert len(kept.encode()) <= 15_000
    assert str(tmp_path) not in kept
    assert "/usr/lib" not in kept
    assert bundle[MIME]["script"] == ".nbddp/runs/1-digits/script.py"
    assert "ValueError: …/torch/nn.py is odd" in bundle["text/plain"]
    assert bundle[MIME]["series"]["step:loss"]["points"][-1][0] == state.step


def failed_somewhere(world: int, folder: Path) -> RunState:
    text = (
        f'Traceback\n  File "{folder}/digits.py", line 3\n'
        + "  File x\n" * 3000
        + "ValueError: /usr/lib/torch/nn.py is odd"
    )
    error = {"event": "error", "rank": 1, "time": START + 5, "type": "ValueError", "message": "odd", "text": text}
    return ended(fold(running(900, world=world, epochs=30), error), 1)


def test_web_addresses_and_shares_are_no_paths():
    said = "see https://a.org/b/c/d, 3/4 of it, and/or s/step"
    assert portable(said) == said
    assert portable("open('/data/a/data.csv') failed") == "open('…/a/data.csv') failed"


def test_plain_text_of_a_failure_has_its_traceback():
    said = text(failed())
    assert "error: Rank 1 failed first in epoch 4, step 100: ValueError: sizes <differ>\nTraceback" in said
