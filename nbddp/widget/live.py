"""The live widget: one anywidget whose traits hold all that a page needs, so that a reload loses nothing."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from nbddp.widget.news import EMPTY, news, next_whole
from nbddp.widget.saved import place_of
from nbddp.widget.summary import MIME

STATIC = Path(__file__).parent / "static"
GRADES = frozenset({"epoch", "now", "kill"})
BYTES_A_SECOND = 50_000  # of wholes: news are small, but one that is lost is only made good by the next whole


MODULES = (
    "words",
    "elements",
    "scale",
    "chart",
    "charts",
    "ranks",
    "progress",
    "notices",
    "run",
)  # each before those that import it
FROM_EACH_OTHER = re.compile(r'(?:import|export) .* from "\./\w+\.js";')


def _lean(text: str) -> str:
    """The page is sent, and may be saved, with each widget: comments and most of the white space need not travel."""
    lines = map(str.strip, text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//") and not FROM_EACH_OTHER.match(line))


def _script() -> str:
    """The modules as the one text that a widget has."""
    return "\n".join(_lean((STATIC / f"{name}.js").read_text("utf-8")) for name in MODULES)


def _style() -> str:
    text = _lean((STATIC / "run.css").read_text("utf-8"))
    return re.sub(r"\s*([{};,])\s*|: ", lambda found: found[1] or ":", text)


class RunWidget(anywidget.AnyWidget):
    """`facts` and `news` are sent at each update; `whole` rarely, but a page that asks the kernel gets the latest."""

    _esm = _script()
    _css = _style()
    facts = traitlets.Dict().tag(sync=True)
    whole = traitlets.Dict(dict(EMPTY)).tag(sync=True)
    news = traitlets.Dict().tag(sync=True)

    def __init__(self, on_stop: Callable[[str], object], facts: Mapping[str, Any], text: str = "") -> None:
        self._on_stop = on_stop
        self._text = text
        self._sends_whole = True
        self._next_whole = 0.0
        super().__init__(facts=dict(facts))
        self.on_msg(self._asked)
        _hear_while_a_cell_runs(self.comm)

    def show(
        self,
        facts: Mapping[str, Any],
        series: Mapping[str, Mapping[str, Any]],
        logs: Mapping[int, Sequence[str]] | None,
        now: float,
        *,
        last: bool = False,
    ) -> None:
        """Send what changed, as one message. The last one is complete, whatever it weighs."""
        before = self.whole
        after = next_whole(before, series, logs)
        with self.hold_sync():
            self.facts = dict(facts)
            self.news = news(before, after)
            self._sends_whole = last or now >= self._next_whole
            self.whole = after
            if self._sends_whole:
                self._next_whole = now + _weight(after) / BYTES_A_SECOND

    def _should_send_property(self, key: str, value: Any) -> bool:
        if key == "whole" and not self._sends_whole:
            return False
        return bool(super()._should_send_property(key, value))

    def _asked(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        """A button. What it asks for may take seconds, and the thread that brought it has other messages to read."""
        grade = content.get("grade")
        if content.get("type") == "stop" and grade in GRADES:
            threading.Thread(target=self._on_stop, args=(grade,), name="nbddp-stop", daemon=True).start()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Beside the widget, what shows where there is none: our own kind for the extension, and a line of text."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {
            **data,
            "text/plain": self._text,
            MIME: {**self.facts, **self.whole, "script": place_of(self.facts["script"])},
        }, metadata


def _weight(whole: Mapping[str, Any]) -> int:
    """About how many bytes it is as a message."""
    points = sum(len(one["points"]) for one in whole["series"].values())
    lines = sum(sum(map(len, log["lines"])) + 4 * len(log["lines"]) for log in whole["logs"].values())
    return 20 * points + lines


def _hear_while_a_cell_runs(comm: Any) -> None:
    """Some versions of ipykernel send a page's message to the shell that last published, which a running cell blocks.

    The page has sent it to a shell that is free; there it shall stay.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _data, default: default  # noqa: SLF001  there is no public name for it
