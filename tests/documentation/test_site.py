"""The site as `make docs` builds it: without a warning, and with no link that leads nowhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from nbddp.documentation import page_of
from tools.documentation.diagnosed import all_diagnosed

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("documentation")]
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ADDRESS = re.compile(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w.~/%+-]*)?(#[\w.-]+)?")


@dataclass
class Page(HTMLParser):
    """Where a page leads, and the places in it to which others may lead."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        self.links += [value for name in ("href", "src") if (value := given.get(name)) and tag != "base"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: pages are written beside those that are read."""
    pytest.importorskip("myst_nb", reason="`make docs` installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    conf = (folder / "docs" / "conf.py").read_text(encoding="utf-8")
    conf = conf.replace("Path(__file__).parents[1]", f"Path({str(ROOT)!r})")
    (folder / "docs" / "conf.py").write_text(conf, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(folder / "docs"), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    found = {path: Page() for path in sorted(site.rglob("*.html"))}
    for path, page in found.items():
        page.feed(path.read_text(encoding="utf-8"))
    return found


def internal(pages: dict[Path, Page]) -> Iterator[tuple[Path, str, Path, str]]:
    """Each link with the file and the place in it to which it leads."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if not parts.scheme and not parts.netloc:
                yield path, link, (path.parent / unquote(parts.path)).resolve() if parts.path else path, parts.fragment


def test_no_link_leads_nowhere(pages):
    dead = [(path.name, link) for path, link, target, _ in internal(pages) if not target.is_file()]
    assert not dead
    lost = [
        (path.name, link)
        for path, link, target, place in internal(pages)
        if place and target in pages and unquote(place) not in pages[target].anchors
    ]
    assert not lost


def test_other_sites_are_those_that_are_listed(pages):
    listed = (DOCS / "_parts" / "external.txt").read_text(encoding="utf-8").split()
    found = {link for page in pages.values() for link in page.links if urlsplit(link).scheme in ("http", "https")}
    assert found == set(listed)
    assert all(ADDRESS.fullmatch(link) for link in listed)


def test_a_diagnostic_links_to_a_page_that_is_there(site, monkeypatch):
    monkeypatch.setenv("NBDDP_DOCS", str(site))
    for one in all_diagnosed():
        assert Path(unquote(urlsplit(page_of(one.name)).path)).is_file()


def test_the_quickstart_is_shown_with_its_run(site):
    text = (site / "examples" / "quickstart.html").read_text(encoding="utf-8")
    assert "10 epochs · 120 steps" in text
    assert "validation accuracy <b>0.9" in text
    assert "data:image/svg+xml" in text
