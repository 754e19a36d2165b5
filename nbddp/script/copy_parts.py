"""Copy the parts that a script uses, and what they depend on, as source.

There are three ways to ask for one: `"share_of"`; `"sum_over_ranks:number"`, a shorter variant that is copied under the
plain name; `"DDP.__len__"`, with a method of `DDP` that only few scripts need.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from nbddp.script.names import names_in, words_of
from nbddp.script.part_library import ON_REQUEST, library, without_methods
from nbddp.script.rename import import_as, renamed


@dataclass(frozen=True)
class Parts:
    imports: tuple[str, ...]  # a line for each name, to be merged with those of the notebook
    sections: tuple[tuple[str, str], ...]  # title and definitions, two blank lines between them; no newline at the end
    mentioned: frozenset[str]  # names that stand in the definitions
    names: frozenset[str]  # all that the imports and the definitions bind at the top level of the script

    @property
    def source(self) -> str:
        return "\n\n\n".join(text for _, text in self.sections)


def parts_for(names: Iterable[str], *, renames: Mapping[str, str] | None = None, numpy: str | None = None) -> Parts:
    """The parts asked for and all that they name; `renames` has other names for those that the notebook has taken.

    `numpy` is what the script calls it, where it does.
    """
    requests = [name.replace(":", "__").partition(".") for name in names]
    chosen = _closure({name for name, _, _ in requests})
    texts = _texts(chosen, {(name, method) for name, _, method in requests})
    texts = {name: _with_numpy(text, numpy) for name, text in texts.items()} if numpy else texts
    used = frozenset[str]().union(*map(names_in, texts.values()))
    imports = imports_for(used, renames=renames)
    finals = {name: called(name, renames) for name in used | chosen}
    texts = {name: renamed(text, finals) for name, text in texts.items()}
    return Parts(
        tuple(imports.values()),
        _sections(texts),
        frozenset[str]().union(*map(words_of, texts.values())),
        frozenset(imports.keys() | {finals[name] for name in chosen}),
    )


def imports_for(used: Collection[str], *, renames: Mapping[str, str] | None = None) -> dict[str, str]:
    """The import lines for those of these names that parts import, by the names that they bind in the script."""
    lines = {called(name, renames): line for name, line in library().imports.items() if name in used}
    return {name: import_as(line, name) for name, line in lines.items()}


def called(name: str, renames: Mapping[str, str] | None) -> str:
    """What a part or an import is called in the script."""
    name = _plain(name) if name in library().parts else name
    return (renames or {}).get(name, name)


def _plain(name: str) -> str:
    """The name without its variant."""
    return name.partition("__")[0]


def _closure(wanted: Collection[str], whole: frozenset[str] = frozenset()) -> frozenset[str]:
    """All parts that are named, directly or not. A variant gives way where the whole part is needed as well."""
    parts = library().parts
    chosen: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        name = _plain(name) if _plain(name) in whole else name
        if name not in chosen:
            chosen.add(name)
            waiting += names_in(parts[name]) & parts.keys()
    twice = {name for name in map(_plain, chosen) if name in chosen and any(c != name == _plain(c) for c in chosen)}
    return _closure(wanted, whole | twice) if twice else frozenset(chosen)


def _texts(chosen: Collection[str], methods: Collection[tuple[str, str]]) -> dict[str, str]:
    """The sources in script order, classes without those methods that nobody has asked for."""
    texts = {}
    for name, text in library().parts.items():
        if name in chosen:
            left_out = {method for method in ON_REQUEST.get(name, ()) if (name, method) not in methods}
            texts[name] = without_methods(text, left_out) if left_out else text
    return texts


def _with_numpy(text: str, name: str) -> str:
    """Parts ask whether anybody has imported it: they must not do so themselves."""
    text = re.sub(r'^( *)if "numpy" in sys\.modules:\n    ', r"", text, flags=re.MULTILINE)
    return text.replace(' and "numpy" in sys.modules', "").replace('sys.modules["numpy"]', name)


def _sections(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    titles = library().sections
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        found.setdefault(titles[name], []).append(text)
    return tuple((title, "\n\n\n".join(parts)) for title, parts in found.items())
