"""What a call changes that it would leave alone with other arguments: `inplace=True`, `out=…`, `copy=False`."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def in_place(call: ast.Call, library: str | None) -> Iterator[ast.expr]:
    """The things changed; `library` is the dotted name of a function of a library, None for a method of a thing."""
    for keyword in call.keywords:
        value = keyword.value
        said = not isinstance(value, ast.Constant) or bool(value.value)  # `inplace=flag` may be True
        if keyword.arg in ("out", "output") and said:
            yield value
        elif keyword.arg == "inplace" and said:
            yield from _changed(call, library)
        elif keyword.arg == "copy" and not (isinstance(value, ast.Constant) and value.value) and library is not None:
            yield from _changed(call, library)
    if library == "next" and call.args and isinstance(call.args[0], ast.Name):
        yield call.args[0]  # which has one item less: a header that is skipped


def _changed(call: ast.Call, library: str | None) -> Iterator[ast.expr]:
    """`df.fillna(0, inplace=True)`, `F.relu(x, inplace=True)`; not a layer that is built, `nn.ReLU(inplace=True)`."""
    if library is None and isinstance(call.func, ast.Attribute):
        yield call.func.value
    elif library is not None and library.rsplit(".", 1)[-1][:1].islower():
        yield from call.args[:1]


def gone_through(*sources: ast.expr) -> Iterator[ast.expr]:
    """What a loop over `model.parameters()` or `zip(a, enumerate(b))` takes its things from."""
    for source in sources:
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name):
            yield from gone_through(*source.args)
        else:
            yield source
