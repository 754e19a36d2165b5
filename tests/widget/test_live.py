"""The kernel's side of the widget, with a comm that keeps what is published."""

from __future__ import annotations

import json
import queue
import re
from typing import Any

import comm
import pytest

from nbddp.widget.live import BYTES_A_SECOND, MODULES, STATIC, RunWidget
from nbddp.widget.summary import MIME
from nbddp.widget.view import facts
from tests.widget.runs import ended, running
from tests.widget.sent import SUBJECT, Recorded, update


@pytest.fixture
def stops() -> queue.Queue[str]:
    return queue.Queue()


@pytest.fixture
def widget(monkeypatch: pytest.MonkeyPatch, stops: queue.Queue[str]) -> RunWidget:
    monkeypatch.setattr(comm, "create_comm", Recorded)
    return RunWidget(stops.put, facts(running(0), SUBJECT), "a run")


def send(widget: RunWidget, content: dict[str, Any]) -> None:
    """As the page does."""
    widget.comm.handle_msg({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})


def test_it_opens_with_what_is_known(widget):
    kind, data = widget.comm.published[0]
    assert kind == "comm_open"
    assert data["state"]["facts"]["label"] == "Starting"
    assert data["state"]["whole"] == {"n": 0, "series": {}, "logs": {}}


def test_an_update_is_one_message(widget):
    update(widget, running(1))
    (sent,) = widget.comm.updates()
    assert set(sent) == {"facts", "news", "whole"}


def test_the_whole_travels_rarely_and_is_always_there_to_ask_for(widget):
    lines = tuple("x" * 99 for _ in range(500))
    for turn in range(20):
        update(widget, running(1 + turn), lines, now=turn * 0.1)
    sent = ["whole" in message for message in widget.comm.updates()]
    assert sent[0]
    assert 1 <= sum(sent) <= 1 + 2.0 * BYTES_A_SECOND / 50_000
    assert widget.get_state("whole")["whole"]["n"] == 20
    assert len(json.dumps(widget.comm.updates()[-1])) < 4000


def test_the_last_state_is_sent_whole_whatever_it_weighs(widget):
    lines = tuple("x" * 99 for _ in range(500))
    assert "whole" in update(widget, running(1), lines)
    assert "whole" not in update(widget, running(2), lines, now=0.1)
    assert update(widget, ended(running(2)), lines, now=0.1)["whole"]["n"] == 3


@pytest.mark.parametrize("grade", ["epoch", "now", "kill"])
def test_a_button_reaches_who_can_stop(widget, stops, grade):
    send(widget, {"type": "stop", "grade": grade})
    assert stops.get(timeout=5) == grade


def test_other_messages_stop_nothing(widget, stops):
    for content in ({}, {"type": "stop"}, {"type": "stop", "grade": "all"}, {"type": "go", "grade": "now"}):
        send(widget, content)
    send(widget, {"type": "stop", "grade": "kill"})
    assert stops.get(timeout=5) == "kill"
    assert stops.empty()


def test_messages_stay_with_the_shell_that_the_page_chose(widget):
    assert widget.comm._reply_subshell_for({}, "free") == "free"


def test_where_there_is_no_widget_there_is_text_and_our_own_kind(widget):
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == "a run"
    assert data[MIME]["label"] == "Starting"
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id


def test_the_page_is_small_and_says_the_same_as_its_source(widget):
    assert len(widget._esm) + len(widget._css) < 40_000
    source = "\n".join((STATIC / f"{name}.js").read_text("utf-8") for name in MODULES)
    lines = [line.strip() for line in source.splitlines() if line.strip() and not line.strip().startswith("//")]
    between = [line for line in lines if re.match(r"(import|export) .* from ", line)]
    assert widget._esm.split("\n") == [line for line in lines if line not in between]
    assert {path.stem for path in STATIC.glob("*.js")} == set(MODULES)
