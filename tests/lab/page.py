"""What a user does in JupyterLab, as a test says it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

# What JupyterLab and the browser say of themselves, whatever is installed.
NOT_OURS = (
    "favicon",
    "Failed to load resource",
    "ResizeObserver loop",
    "DEPRECATED",
    "No provider for",
    "plugins/rtc",
)


class Lab:
    def __init__(self, page: Page, address: str, root: Path) -> None:
        self.page, self.root = page, root
        self.complaints: list[str] = []
        self._address = address
        self._without_kernel: set[str] = set()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(known in message.text for known in NOT_OURS):
            self.complaints.append(message.text)

    def write(self, name: str, content: dict[str, Any], kernel: str = "python3") -> Path:
        """A notebook; where there is no kernel for its Python, the page asks for one and gets none."""
        language = "python" if kernel != "none" else "python-of-nobody"
        if kernel == "none":
            self._without_kernel.add(name)
        spec = {"name": kernel, "display_name": "Python 3", "language": language}
        content = {**content, "metadata": {"kernelspec": spec, "language_info": {"name": language}}}
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    def open(self, name: str, *, kernel: bool = False) -> None:
        self.page.goto(self._address.format(name=name, workspace=uuid4().hex))
        self.cells.first.wait_for()
        if name in self._without_kernel:
            self.page.locator(".jp-Dialog .jp-mod-reject").click()
        if kernel:
            self.js("() => jupyterapp.shell.currentWidget.sessionContext.ready")

    def js(self, script: str, argument: object = None) -> Any:
        return self.page.evaluate(script, argument)

    def command(self, name: str, **arguments: object) -> None:
        """As the palette executes it; the answer is not waited for."""
        self.js("([name, given]) => { void jupyterapp.commands.execute(name, given); }", [name, arguments])

    def from_palette(self, label: str) -> None:
        """By keys alone."""
        self.page.keyboard.press("Control+Shift+C")
        expect(self.page.locator(".lm-CommandPalette-input, .jp-modal-command-palette input").first).to_be_focused()
        self.page.keyboard.insert_text(label)
        expect(self.page.locator(".lm-CommandPalette-item.lm-mod-active")).to_contain_text(label)
        self.page.keyboard.press("Enter")

    def tab_to(self, name: str, most: int = 30) -> None:
        """Presses Tab until the button of this name has the focus."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if self.js("() => document.activeElement?.textContent") == name:
                return
        raise AssertionError(f"{most} times Tab did not lead to {name}")

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell")

    @property
    def chips(self) -> Locator:
        return self.page.locator(".nbddp-chip")

    def type_into(self, number: int, text: str) -> None:
        """At the end of a cell, as with the keyboard."""
        self.cells.nth(number - 1).locator(".cm-content").click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.insert_text(text)

    def expect_chips(self, *texts: str) -> None:
        expect(self.chips).to_have_text(list(texts))

    def tags(self, number: int) -> list[str]:
        """Of a cell, as the page has it."""
        found: list[str] = self.js(
            "(at) => jupyterapp.shell.currentWidget.content.widgets[at].model.getMetadata('tags') ?? []", number - 1
        )
        return found

    def set_source(self, number: int, source: str) -> None:
        """As if typed."""
        self.js(
            "([at, text]) => jupyterapp.shell.currentWidget.content.widgets[at].model.sharedModel.setSource(text)",
            [number - 1, source],
        )

    def source(self, number: int) -> str:
        text: str = self.js(
            "(at) => jupyterapp.shell.currentWidget.content.widgets[at].model.sharedModel.getSource()", number - 1
        )
        return text

    def run_cell(self, number: int) -> None:
        """Started; its end is not waited for."""
        self.js("(at) => { jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", number - 1)
        self.command("notebook:run-cell")
        expect(self.cells.nth(number - 1).locator(".jp-InputPrompt")).to_have_text("[*]:")

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """What the page itself does not show; looked at again and again, up to a deadline."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(50)
