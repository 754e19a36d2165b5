"""What names stand for in the abstract run: in the cells, and in the functions that are being run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from nbddp.analysis.values.contexts import Active, Context, Env, Frame
from nbddp.analysis.values.domain import Extent, Obj, Value, is_zero, spread
from nbddp.analysis.values.facts import Facts
from nbddp.analysis.values.tracking import note_change


@dataclass(eq=False, kw_only=True)
class Names:
    facts: Facts = field(default_factory=Facts)
    globals: Env = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=lambda: [Frame(None, {})])
    closures: dict[Obj, Frame] = field(default_factory=dict)  # what functions that stand in others see
    rebound: object = None  # another object since a name of the cells has got another value
    arrays: set[Obj] = field(default_factory=set)  # that have been made
    loops: list[Active] = field(default_factory=list)  # around the node that is looked at
    context: Context = field(default_factory=Context)

    def close_over(self, function: ast.AST, name: str = "") -> Value:
        """What the function finds outside of itself is what is bound here: another one for each call around."""
        made = Obj("function", function, name, None, self.frame.call)
        if self.frame.node is not None:
            if self.closures.get(made) is not self.frame:
                note_change()
            self.closures[made] = self.frame
        return Value(frozenset({made}))

    def around(self, function: Obj) -> Frame | None:
        """The frame in which a function, or a method of a class, was defined."""
        return self.closures.get(
            replace(function, kind="function", name=getattr(function.node, "name", ""), owner=None)
        )

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def lookup(self, name: str) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.local and name not in frame.global_names | frame.outer_names:
                return frame.local[name]
            frame.missed.add(name)
            frame = frame.outer
        return self.globals.get(name)

    def bind(self, name: str, value: Value) -> None:
        value = self.under_condition(value)
        self._note_choice(name)
        frame = self.frame
        while name in frame.outer_names and frame.outer is not None:
            frame = frame.outer
        if frame.node is None or name in frame.global_names:
            if self.globals.get(name) != value:
                self.rebound = object()
            self.globals[name] = value
        else:
            frame.local[name] = value

    def _note_choice(self, name: str) -> None:
        for active in self.loops if self.context.of_share else ():
            active.fact.chosen |= {name} if active.fact.function is self.frame.node else set()

    def under_condition(self, value: Value) -> Value:
        """What each rank comes by at batches of its own is no mean or sum over those of all."""
        whole = not value.varies and value.objs == value.of("foreign")
        chosen = self.context.of_share and value.number and value.varies
        if chosen or (whole and self.context.varying):
            return value.with_extent(Extent.VARYING)
        return value.with_extent(Extent.REPEATED) if whole and self.context.repeated else value

    def set_plain(self, name: str, value: Value) -> None:
        """Bind without asking under which condition."""
        with self.within(varying=False):
            self.bind(name, value)

    def change(self, name: str, value: Value) -> None:
        """What is done to an array in its place shows wherever it has a name."""
        frame: Frame | None = self.frame
        while frame is not None and (name not in frame.local or name in frame.global_names | frame.outer_names):
            frame = frame.outer
        self._note_choice(name)
        self._put_into(self.globals if frame is None else frame.local, name, value)
        self.change_arrays(value.arrays, spread(value))

    def change_arrays(self, arrays: frozenset[Obj], extent: Extent) -> None:
        for env in self._environments() if arrays else ():
            for name, value in list(env.items()):
                self._put_into(env, name, written_into(value, arrays, extent))
        for key, value in list(self.facts.fields.items()) if arrays else ():
            if (new := written_into(value, arrays, extent)) is not value:
                self.facts.fields[key] = new

    def make_array(self, node: ast.AST, value: Value) -> Value:
        """Another one each time: who has the one before has that, and this is none of it."""
        made = frozenset({Obj("array", node, site=self.frame.call)})
        for env in self._environments() if made <= self.arrays else ():
            for name in [name for name, old in env.items() if old.arrays & made]:
                self._put_into(env, name, replace(env[name], arrays=env[name].arrays - made))
        for key in [k for k, v in self.facts.fields.items() if v.arrays & made] if made <= self.arrays else ():
            self.facts.fields[key] = replace(self.facts.fields[key], arrays=self.facts.fields[key].arrays - made)
        self.arrays |= made
        return replace(value, arrays=made)

    def _environments(self) -> list[Env]:
        """Of all that is being run, and of functions around what is."""
        found = [self.globals]
        for frame in [*self.frames, *self.closures.values()]:
            found += [frame.local] if not any(env is frame.local for env in found) else []
        return found

    def _put_into(self, env: Env, name: str, value: Value) -> None:
        if env.get(name) == value:
            return
        if env is self.globals:
            self.rebound = object()
        elif env is not self.frame.local:
            note_change()
        env[name] = value

    def visible(self) -> Env:
        """All names that an expression here could use."""
        chain: list[Frame] = []
        frame: Frame | None = self.frame
        while frame is not None:
            chain.append(frame)
            frame = frame.outer
        names = dict(self.globals)
        for one in reversed(chain):
            names.update(one.local)
        return names

    @contextmanager
    def within(self, **changes: Any) -> Iterator[None]:
        around, self.context = self.context, replace(self.context, **changes)
        yield
        self.context = around


def from_afar(old: Value, extent: Extent) -> Extent:
    """What is added to a thing under another name: a sum where it began with zeros."""
    return Extent.VARYING if extent is Extent.SUM and not is_zero(old) and spread(old) is not Extent.SUM else extent


def written_into(value: Value, arrays: frozenset[Obj], extent: Extent) -> Value:
    """What a value is that has, or is, one of the arrays into which something was written."""
    items = [written_into(item, arrays, extent) for item in value.items or ()]
    if any(new is not old for new, old in zip(items, value.items or (), strict=True)):
        value = replace(value, items=tuple(items))
    return replace(value, extent=from_afar(value, extent), const=None) if value.arrays & arrays else value
