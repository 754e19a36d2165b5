"""Cases of a rule, read from its Markdown file; the file is the documentation as well.

    # sampler                        the file may begin with a notebook that its cases share

    ```python around
    # %% data
    ...
    # %% train
    ...
    ```

    ## A loader that shuffles        a case: a heading, a sentence of why, the notebook, what becomes of it

    ```python notebook               its cells take the place of those around that have the same title; cells of
    # %% data                        a title that is new go before the next one; without titles it stands alone
    ...
    ```

    ```python script                 these cells in the script, long runs of unchanged lines as `...`
    ```

    ```watched                       what the rule has watched there, of which the script says nothing
    ```

    ```diagnostics                   all that is said about the notebook
    ```

Options of the command line may follow the word `notebook`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FENCE = re.compile(r"^```(?P<info>\S.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
MARKER = re.compile(r"^# %%(?: (?P<title>\w+))?(?= |$)(?P<rest>.*)$")


@dataclass(frozen=True)
class Cell:
    title: str | None
    lines: tuple[str, ...]  # its marker among them


@dataclass(frozen=True)
class Case:
    rule: str  # the module's name, which is that of the file, or of its folder
    heading: str
    why: str
    options: tuple[str, ...]
    own: str  # the cells as the case has them
    notebook: str  # together with those around, in percent format
    cells: frozenset[int]  # numbers of its own among all of them
    script: str | None
    diagnostics: str
    watched: str = ""


def files() -> list[Path]:
    """One for each rule, or a folder of them where a rule has many cases."""
    return sorted(HERE.rglob("*.md"))


def files_of(rule: str) -> list[Path]:
    return [file for file in files() if rule_of(file) == rule]


def rule_of(file: Path) -> str:
    return file.stem if file.parent == HERE else file.parent.name


def cases(file: Path) -> Iterator[Case]:
    head, *sections = re.split(r"^(?=## )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    around = _cells(_fences(head).get("python around", ""))
    for section in sections:
        if FENCE.search(section):
            yield _case(rule_of(file), section, around)


def _case(rule: str, section: str, around: list[Cell]) -> Case:
    heading, _, rest = section.partition("\n")
    fences = _fences(rest)
    info = next((i for i in fences if i.startswith("python notebook")), None)
    if info is None:
        raise ValueError(f"{rule}: the case '{heading}' has no notebook")
    own = _cells(fences[info])
    together = _together(around, own) if any(c.title for c in own) else own
    return Case(
        rule=rule,
        heading=heading.removeprefix("## ").strip(),
        why=rest.partition("```")[0].strip(),
        options=tuple(info.split()[2:]),
        own=fences[info],
        notebook="".join(f"{line}\n" for cell in together for line in cell.lines),
        cells=frozenset(number for number, cell in enumerate(together, 1) if cell in own),
        script=fences.get("python script"),
        diagnostics=fences.get("diagnostics", ""),
        watched=fences.get("watched", ""),
    )


def _fences(text: str) -> dict[str, str]:
    return {match["info"].strip(): match["text"] for match in FENCE.finditer(text)}


def _cells(text: str) -> list[Cell]:
    cells: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("# %%") or not cells:
            cells.append([])
        cells[-1].append(line)
    return [Cell(_title(lines[0]), _without_title(lines)) for lines in cells]


def _title(line: str) -> str | None:
    match = MARKER.match(line)
    return match["title"] if match else None


def _without_title(lines: list[str]) -> tuple[str, ...]:
    """The title is for the reader of the case; the notebook goes without."""
    match = MARKER.match(lines[0])
    return (f"# %%{match['rest']}", *lines[1:]) if match else tuple(lines)


def _together(around: list[Cell], own: list[Cell]) -> list[Cell]:
    """The cells of the case in the places of those around; new ones before the next that has a place."""
    found, waiting = list(around), []
    for cell in own:
        at = next((i for i, other in enumerate(found) if other.title == cell.title), None)
        waiting.append(cell)
        if at is not None:
            found[at : at + 1] = waiting
            waiting = []
    return [*found, *waiting]
