"""The reference of what Python code uses, of events and of states: from signatures, docstrings and comments."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass

import nbddp
from nbddp.checking import Dropped, Kept, Role
from nbddp.magics.runs.cell_run import CellRun
from nbddp.magics.runs.kernel_run import KernelRun
from nbddp.run.state import endings, progress, values
from nbddp.run.state.fold import FOLDS
from nbddp.run.state.state import Failure, Rank, RunState
from nbddp.run.summaries import Runs, Summary
from nbddp.widget.live import GRADES, STATIC, RunWidget
from nbddp.widget.view import LABELS
from tools.documentation.markdown import block, code, plain, table, together

BESIDE = (Kept, Dropped, Role, Runs, Summary)  # what the public functions give, without a name in `nbddp` itself


def pages() -> Iterator[tuple[str, str]]:
    yield "_made/python", together(part for one in (*public(), *BESIDE) for part in _thing(one))
    for cls, name in ((CellRun, "run"), (KernelRun, "kernelrun")):
        yield f"_made/{name}", together(_members(cls))
    yield "_made/events", _events()
    for cls in (RunState, Rank, Failure):
        yield f"_made/{cls.__name__.lower()}", fields_of(cls)
    yield "_made/phases", table(["phase", "shown as"], [(code(phase), label) for phase, (label, _) in LABELS.items()])
    yield "_made/stops", _stops()
    yield "_made/traits", _traits()


def public() -> list[Callable[..., object]]:
    """All that `nbddp` offers, functions before classes."""
    names = [name for name in nbddp.__all__ if not name.startswith("_")]
    return sorted((getattr(nbddp, name) for name in names), key=lambda one: (inspect.isclass(one), one.__name__))


def _thing(thing: Callable[..., object]) -> Iterator[str]:
    yield f"## {thing.__name__}"
    if inspect.isclass(thing) and is_dataclass(thing):
        yield _doc(thing)
        yield fields_of(thing)
    else:
        yield block(f"{_called(thing)}{_signature(thing)}", "python")
        yield _doc(thing)
        yield from _members(thing) if inspect.isclass(thing) else ()


def _called(thing: Callable[..., object]) -> str:
    return f"nbddp.{thing.__name__}" if thing.__name__ in nbddp.__all__ else thing.__name__


def _signature(thing: object) -> str:
    if inspect.isclass(thing):
        return ""
    signature = inspect.signature(thing)  # type: ignore[arg-type]
    kept = [p for p in signature.parameters.values() if p.name != "self"]
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature.replace(parameters=kept)))


def _doc(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    return "" if inspect.isclass(thing) and text.startswith(f"{thing.__name__}(") else text


def _members(cls: type) -> Iterator[str]:
    """Public methods and properties, those of the class before those that it inherits."""
    own = {
        name: one
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("nbddp")
        for name, one in vars(base).items()
        if name[0] != "_"
    }
    for name, one in own.items():
        if isinstance(one, property):
            yield f"### .{name}\n\n{inspect.getdoc(one)}"
        elif callable(one):
            yield f"### .{name}()\n\n{block(f'{name}{_signature(one)}', 'python')}\n\n{inspect.getdoc(one)}"


def fields_of(cls: type) -> str:
    """Each field of a dataclass with its type, its default, and the comment beside it."""
    source = textwrap.dedent(inspect.getsource(cls))
    lines = source.split("\n")
    body = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)).body
    rows = []
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            comment = lines[node.lineno - 1].partition("  # ")[2]
            default = code(ast.unparse(node.value)) if node.value and "field(" not in ast.unparse(node.value) else ""
            rows.append((code(node.target.id), code(ast.unparse(node.annotation)), default, plain(comment)))
    return table(["field", "type", "default", "meaning"], rows)


def _events() -> str:
    rows = [
        (code(name), plain(inspect.getdoc(fold) or "").split("\n")[0], ", ".join(map(code, fields_read(fold))))
        for name, fold in FOLDS.items()
    ]
    return table(["event", "meaning", "fields"], rows)


def fields_read(fold: Callable[..., object]) -> list[str]:
    """What the function, and those of its module that it hands the event to, read of the event."""
    modules = (progress, values, endings)
    functions = {name: one for each in modules for name, one in vars(each).items() if inspect.isfunction(one)}
    found: dict[str, None] = {}
    waiting, seen = [fold], set()
    while waiting:
        one = waiting.pop(0)
        seen.add(one)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(one)))):
            match node:
                case ast.Subscript(value=ast.Name("event"), slice=ast.Constant(str(name))):
                    found[name] = None
                case ast.Call(func=ast.Attribute(ast.Name("event"), "get"), args=[ast.Constant(str(name)), *_]):
                    found[name] = None
                case ast.Call(func=ast.Name(name), args=arguments) if name in functions:
                    handed = any(isinstance(one, ast.Name) and one.id == "event" for one in arguments)
                    waiting += [functions[name]] if handed and functions[name] not in seen else []
    return [name for name in found if name not in {"time", "rank"}]


def _stops() -> str:
    """As the widget names them."""
    text = (STATIC / "words.js").read_text(encoding="utf-8")
    buttons = re.findall(r'^ +(\w+): \[trans.__\("(.+?)"\), trans.__\("(.+?)"\)\]', text, re.MULTILINE)
    rows = [(label, code(grade), meaning) for grade, label, meaning in buttons if grade in GRADES]
    return table(["button", "grade", "what it does"], rows)


def _traits() -> str:
    own = [name for name in vars(RunWidget) if name in RunWidget.class_traits(sync=True) and name[0] != "_"]
    return together([_doc(RunWidget), table(["trait"], [(code(name),) for name in own])])
