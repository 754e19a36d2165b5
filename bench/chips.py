"""How long after a key the chips on the cells say what it changed, in a real JupyterLab with a real browser.

A pause without keys is waited for first, as the page does; the rest is the way to the server and back, the analysis in
its process, and the drawing. Beside it stands what of that the page was held up by.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, cast
from uuid import uuid4

import pytest
from playwright.sync_api import sync_playwright

from bench.notebooks import notebook
from tests.browsers import CHROMIUM, FLAGS
from tests.lab.conftest import serve
from tests.lab.installed import install
from tests.lab.page import Lab

CELLS = 100
TIMES = 20
# The training cell is told to be skipped, and told not to be, by turns: each time all chips change.
TYPE = """async ([at, text]) => {
    const cell = jupyterapp.shell.currentWidget.content.widgets[at];
    const chip = () => cell.node.querySelector(".nbddp-chip")?.textContent ?? "";
    const before = chip();
    let held = 0;
    const watch = new PerformanceObserver(list => list.getEntries().forEach(one => { held += one.duration; }));
    watch.observe({entryTypes: ["longtask"]});
    performance.clearResourceTimings();
    const began = performance.now();
    cell.model.sharedModel.setSource(text);
    await new Promise(done => {
        const look = () => chip() === before ? requestAnimationFrame(look) : done();
        look();
    });
    const ended = performance.now();
    watch.disconnect();
    const [asked] = performance.getEntriesByType("resource").filter(one => one.name.includes("nbddp/api/check"));
    return {seen: ended - began, answer: asked?.duration ?? 0, held};
}"""


class Folders:
    """As the tests' fixtures ask for them."""

    def __init__(self, root: str) -> None:
        self._root = root

    def mktemp(self, name: str) -> Path:
        return Path(mkdtemp(prefix=f"{name}-{uuid4().hex[:4]}", dir=self._root))


def main() -> None:
    with TemporaryDirectory() as root, ExitStack() as stack:
        folders = cast("pytest.TempPathFactory", Folders(root))
        server = serve(
            install(folders.mktemp("installed")), folders, "jupyterlab", "--LabApp.expose_app_in_browser=True"
        )
        stack.enter_context(closing(server))
        address, notebooks = next(server)
        playwright = stack.enter_context(sync_playwright())
        browser = stack.enter_context(playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS)))
        found = measured(Lab(browser.new_page(viewport={"width": 1400, "height": 900}), address, notebooks))
    print(f"\nfrom a key to the chips of {CELLS} code cells (limit 300)     median     worst")
    for key, words in WORDS.items():
        values = sorted(one[key] for one in found)
        print(f"{words:<52} {statistics.median(values):7.0f} ms {values[-1]:7.0f} ms")
    print()


WORDS = {
    "seen": "the chips have changed",
    "answer": "  of that: the server's answer",
    "held": "  of that: the page could not react",
}


def measured(lab: Lab) -> list[dict[str, Any]]:
    content = notebook(CELLS)
    sources = [cell["source"] for cell in content["cells"]]
    training = next(at for at, source in enumerate(sources) if source.startswith("%%ddp_train"))
    plain = sources[training].partition("\n")[2]
    content["cells"][training]["source"] = plain
    lab.write("hundred.ipynb", content, kernel="none")
    lab.open("hundred.ipynb")
    lab.page.locator(".nbddp-chip").first.wait_for()
    texts = (f"#| ddp: skip\n{plain}", plain)
    return [lab.js(TYPE, [training, texts[number % 2]]) for number in range(TIMES)]


if __name__ == "__main__":
    main()
