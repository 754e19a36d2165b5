"""What kind of thing a value is: `isinstance(batch, (list, tuple))`."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.libraries.things import made_with
from nbddp.analysis.values import ANYTHING, KNOWN, Args, Extent, Machine, Value

KINDS = {
    **dict.fromkeys(("list", "tuple", "collections.abc.Sequence", "typing.Sequence"), "list"),
    **dict.fromkeys(("dict", "collections.abc.Mapping", "typing.Mapping", "collections.OrderedDict"), "dict"),
}


def is_of_kind(m: Machine, args: Args) -> Value:
    """The same on all ranks; known of things that are no containers, and of the parts of a batch: they are tensors.

    Likewise `hasattr(numbers, "__len__")`.
    """
    value, asked = args
    alike = value.number or value.extent in (Extent.UNIFORM, Extent.REPEATED, Extent.MEAN, Extent.SUM)
    alike |= value.extent is Extent.SAMPLES and not m.context.varying
    part = not value.objs and sum(f.node is m.frame.node for f in m.frames) > 1  # a function that goes into containers
    no = bool(_kinds(asked)) and (part or bool(value.objs and value.objs == value.of(*KNOWN)))
    return Value(extent=Extent.UNIFORM if alike else Extent.VARYING, const=False if no else None, number=True)


def narrowed(m: Machine, test: ast.expr) -> None:
    """Where it holds, a batch of unknown make is a container of what one gets by going through it."""
    match test:
        case ast.Call(func=ast.Name("isinstance"), args=[ast.Name(name), asked]):
            value, kinds = m.lookup(name) or ANYTHING, _kinds(m.facts.value(asked))
            plain = not (value.objs or value.items) and value.extent in (Extent.SAMPLES, Extent.REPEATED)
            if plain and len(kinds) == 1:
                m.set_plain(name, made_with(m, m.make(kinds.pop(), test), {"[]": value}))


def _kinds(asked: Value) -> set[str]:
    """Of the containers that are asked for; none where something else is asked for too."""
    names = {o.name for part in (asked.items or (asked,)) for o in part.of("library")}
    return {KINDS[n] for n in names} if names <= KINDS.keys() else set()
