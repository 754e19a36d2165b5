"""A widget in a page of a browser, fed with what the kernel's side really sends."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Page

from nbddp.run.state.state import RunState
from nbddp.widget.live import RunWidget
from nbddp.widget.subject import Subject
from nbddp.widget.view import facts
from tests.widget.sent import SUBJECT, update

ORIGIN = "http://page.test/"
MODEL = """(state) => {
    const listeners = {};
    window.sent = [];
    window.model = {
        get: (name) => state[name],
        set: (name, value) => model.receive({[name]: value}),
        on: (name, callback) => (listeners[name] ??= []).push(callback),
        send: (message) => sent.push(message),
        save_changes: () => { throw Error("nothing is ever sent back as state"); },
        receive: (update) => {
            Object.assign(state, update);
            for (const name of Object.keys(update)) listeners[`change:${name}`]?.forEach((callback) => callback());
        },
    };
}"""
MOUNT = """async () => {
    const {default: widget} = await import("/run.js");
    widget.initialize({model});
    window.unmount = widget.render({model, el: document.getElementById("place")});
}"""


class Mounted:
    """A widget whose messages reach the page."""

    def __init__(self, page: Page, state: RunState, subject: Subject = SUBJECT) -> None:
        self.page = page
        self.subject = subject
        self.widget = RunWidget(lambda _: None, facts(state, subject, state.updated))
        page.evaluate(MODEL, self.widget.comm.published[0][1]["state"])
        page.evaluate(MOUNT)

    def show(self, state: RunState, lines: Sequence[str] = ("a",), *, lose: bool = False, now: float = 0.0) -> None:
        message = update(self.widget, state, lines, now=now, subject=self.subject)
        if not lose:
            self.page.evaluate("async (m) => { model.receive(m); await new Promise(requestAnimationFrame); }", message)
