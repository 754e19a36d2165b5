"""What the compiler makes of a case, in the words of its fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from itertools import takewhile

from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.edits.edit import Edit
from nbddp.export import Script, export
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from nbddp.script.assemble import LET_GO
from nbddp.watch_points import Watch
from tests.rules.case import Case

TITLE = re.compile(r"\s*# ── (?P<text>.+?) ─+$")
SIGNATURE = re.compile(r"^def \w+\(rank, world_size, \w+\):$", re.MULTILINE)
RUN = 3  # so many lines in a row that are as they were are left out
UNCHANGED = "# as in the notebook\n"


@dataclass(frozen=True)
class Outcome:
    script: str | None  # the cells of the case; None where it is refused
    whole: str  # the same cells without a line left out
    diagnostics: str
    declines: bool  # the rule of the case leaves the notebook alone, or the export is refused
    found: tuple[Diagnostic, ...] = ()
    watched: str = ""  # by this rule


@dataclass(frozen=True)
class Section:
    """What the script has under one of its titles."""

    title: str
    lines: tuple[tuple[str, int | None], ...]  # with the line of the notebook


@cache
def outcome(case: Case) -> Outcome:
    notebook = notebook_from_percent(case.notebook, "case.py")
    try:
        script = export(notebook, options(case.options))
    except CannotExport as refused:
        return Outcome(None, "", _rendered(refused.diagnostics), declines=True, found=refused.diagnostics)
    sections = [*_before_imports(script), *(s for s in _sections(script) if _number(s) in case.cells)]
    rule = import_module(f"nbddp.rules.{case.rule}")
    edits = [found for found in rule.rewrite(script.plan) if isinstance(found, Edit)]
    if edits and not sections:  # what they have taken away, `train` has as a parameter
        sections = [Section("train", ((SIGNATURE.findall(script.text)[0], None),))]
    shown = "".join(_shown(script, s, titled=len(sections) > 1) for s in sections)
    changed = any(not _is_as_it_was(script, s, i) for s in sections for i in range(len(s.lines)))
    whole = "".join(f"{text}\n" for s in sections for text, _ in s.lines)
    said = _rendered(script.diagnostics)
    watched = "".join(_watched(script, [edit.watch for edit in edits if edit.watch is not None]))
    return Outcome(shown if changed else UNCHANGED, whole, said, not edits, script.diagnostics, watched)


UNSAID = ("kind", "batch")  # the first is said before; the second is nearly always what the loop binds


def _watched(script: Script, own: list[Watch]) -> Iterator[str]:
    """A line for each point: what is watched, at which line of the script, and what is looked at."""
    for point in script.watch:
        if point.watch in own:
            given = {name: value for name, value in asdict(point.watch).items() if value and name not in UNSAID}
            texts = (f"{name}: {_listed(value)}" for name, value in given.items())
            yield f"{'; '.join((f'{point.watch.kind} at `{point.source}`', *texts))}\n"


def _listed(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    pairs = [item if isinstance(item, tuple) else (item, item) for item in value]
    return ", ".join(name if name == text else f"{name}={text}" for name, text in pairs)


def options(words: tuple[str, ...]) -> Options:
    """`--batch-per-rank --train 3` as the command line means it."""
    found, left = Options(), list(words)
    while left:
        name = left.pop(0).removeprefix("--").replace("-", "_")
        value = int(left.pop(0)) if left and left[0].isdigit() else True
        found = replace(found, **{name: value})
    return found


def _rendered(diagnostics: tuple[Diagnostic, ...]) -> str:
    return "\n".join(f"{d.render()}\n" for d in diagnostics)


def _sections(script: Script) -> Iterator[Section]:
    """The cells' parts of the script, without what the script puts around them."""
    section: Section | None = None
    for text, origin in zip(script.text.splitlines(), script.line_map, strict=False):
        title = TITLE.match(text)
        if title or (origin is None and (text.startswith("def ") or text.endswith(LET_GO))):
            if section:
                yield _trimmed(section)
            section = Section(title["text"], ()) if title else None
        elif section:
            section = Section(section.title, (*section.lines, (text, origin[1] if origin else None)))


def _before_imports(script: Script) -> Iterator[Section]:
    """What the script does to its surroundings, and the imports that wait for it: above all titles."""
    lines = list(zip(script.text.splitlines(), script.line_map, strict=False))
    top = list(takewhile(lambda line: not TITLE.match(line[0]) and not line[0].startswith("def "), lines))
    own = [
        i for i, (text, origin) in enumerate(top) if origin is not None and not text.startswith(("import ", "from "))
    ]
    late = [i for i, (text, _) in enumerate(top) if text.endswith("# noqa: E402")]
    if own:
        first = own[0] - top[own[0]][0].startswith(" ")  # the line above says where that is done
        yield Section("before the imports", tuple((text, None) for text, _ in top[first : max(own + late) + 1]))


def _trimmed(section: Section) -> Section:
    """Without blank lines around, and not indented as a whole."""
    lines = list(section.lines)
    while lines and not lines[-1][0].strip():
        lines.pop()
    indent = min((len(t) - len(t.lstrip()) for t, _ in lines if t.strip()), default=0)
    return Section(section.title, tuple((text[indent:], line) for text, line in lines))


def _number(section: Section) -> int | None:
    match = re.match(r"cell (\d+)", section.title)
    return int(match[1]) if match else None


def _shown(script: Script, section: Section, *, titled: bool) -> str:
    """With `...` for each long run of lines that are as they were."""
    parts: list[str] = [f"# {section.title}"] if titled else []
    run: list[str] = []
    last: int | None = None
    for i, (text, line) in enumerate(section.lines):
        same = _is_as_it_was(script, section, i)
        follows = line is None or last is None or line <= last + 1 or _blank_between(script, section, last, line)
        if run and (not same or not follows):
            parts += _collapsed(run)
            run = []
        (run if same else parts).append(text)
        last = line or (last + 1 if last and not text.strip() else last)
    return "".join(f"{text}\n" for text in [*parts, *_collapsed(run)])


def _source(script: Script, section: Section) -> list[str]:
    cell = script.plan.notebook.cells[(_number(section) or 1) - 1]
    return cell.source.split("\n")


def _is_as_it_was(script: Script, section: Section, index: int) -> bool:
    text, line = section.lines[index]
    if not text.strip():
        return index > 0 and _is_as_it_was(script, section, index - 1)
    return line is not None and text == _source(script, section)[line - 1]


def _blank_between(script: Script, section: Section, first: int, second: int) -> bool:
    return not any(text.strip() for text in _source(script, section)[first : second - 1])


def _collapsed(run: list[str]) -> list[str]:
    if sum(bool(text.strip()) for text in run) < RUN:
        return run
    indent = run[0][: len(run[0]) - len(run[0].lstrip())]
    return [f"{indent}...", *([""] if not run[-1].strip() else [])]
