"""Where the notebook says which device to use, and whether that is a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Literal

from nbddp.analysis.library import MOVES
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import qualified, walk

GPU = re.compile(r"(cuda|mps|xpu|hip)(:\d+)?$")
INDEXED = re.compile(r"(cuda|xpu|hip):(\d+|%[ds]|\{\w*\})?$")  # also what a number is still to be put into
ASKS = ("is_available", "device_count", "is_built")
PLACES = re.compile(r"Tensor$|^(current_)?(device|accelerator)$")  # of `torch.cuda`: the rest asks, counts and seeds
Written = Literal["device", "string"]


def uses_gpu(plan: Reading) -> bool:
    """Does the notebook move anything to a GPU? One that never does trains on the CPU, in processes too."""
    return any(_names_a_gpu(plan, node) for node in plan.nodes())


def _names_a_gpu(plan: Reading, node: ast.AST) -> bool:
    """As a place: not where it asks whether there is one, shows that, or seeds it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"(cuda|mps)(:|$)", node.value):
        return _is_a_place(plan, node)
    if isinstance(node, ast.Attribute) and node.attr in ("cuda", "accelerator"):
        of_torch = f"torch.{node.attr}" == qualified(node, plan.flow.imports)
        user = plan.program.parents.get(node)
        return not of_torch or not isinstance(user, ast.Attribute) or bool(PLACES.search(user.attr))
    return isinstance(node, ast.expr) and next(numbers(plan, node), None) is not None


def _is_a_place(plan: Reading, node: ast.expr) -> bool:
    """Not what is compared or shown, and no name for it that is only shown."""
    if _is_shown(plan, node):
        return False
    match plan.program.statement_of(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            read = (n for n in plan.nodes() if isinstance(getattr(n, "ctx", None), ast.Load))
            return any(not _is_shown(plan, n) for n in read if name in (getattr(n, "id", ""), getattr(n, "attr", "")))
    return True


def _is_shown(plan: Reading, node: ast.AST) -> bool:
    around = [*takewhile(lambda n: not isinstance(n, ast.stmt), plan.program.ancestors(node))]
    return any(isinstance(n, ast.Compare) or (isinstance(n, ast.Call) and _only_names_it(plan, n)) for n in around)


def _only_names_it(plan: Reading, call: ast.Call) -> bool:
    """Mixed precision of a kind of device moves nothing to it."""
    name = qualified(call.func, plan.flow.imports) or ""
    return name == "print" or name.rpartition(".")[2] in ("autocast", "GradScaler")


def chosen(plan: Reading, node: ast.expr) -> Written | None:
    """A GPU by the notebook's words, or one where there is one: `"cuda" if torch.cuda.is_available() else "cpu"`."""
    match node:
        case ast.Constant(value=str(value)):
            return "string" if GPU.match(value) else None
        case ast.IfExp():
            parts = [p for p in (chosen(plan, node.body), chosen(plan, node.orelse)) if p]
            return parts[0] if parts and _asks(plan, node.test) else None
        case ast.Call(args=[first, *_]) if _is_device(plan, node):
            return "device" if chosen(plan, first) or indexed_name(first) or _is_number(plan, first) else None
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return "string" if chosen(plan, inner) else None
    return "string" if indexed_name(node) else None


def device_name(plan: Reading) -> str | None:
    """What the notebook calls its device, where one line alone chooses it: `train` gets it by that name.

    Not where a function of the module reads it, nor where a comment belongs to the line.
    """
    choices = [s for s in plan.kept if isinstance(s.node, ast.Assign) and chosen(plan, s.node.value)]
    match [s.node for s in choices]:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value) as line] if chosen(plan, value) == "device":
            others = [plan.flow.effects[s.index] for s in plan.kept if s not in choices]
            shared = any(name in e.may_bind | e.deferred | e.deferred_mutates or e.uses_globals for e in others)
            return name if not shared and _alone(plan, line) else None
    return None


def _alone(plan: Reading, node: ast.stmt) -> bool:
    """On its line, and below no comment."""
    before, *lines = ["", *plan.program.text.split("\n")][node.lineno - 1 :][: (node.end_lineno or 0) - node.lineno + 2]
    return not before.lstrip().startswith("#") and "\n".join(lines).strip() == plan.program.source(node)


def _is_device(plan: Reading, node: ast.Call) -> bool:
    return qualified(node.func, plan.flow.imports) == "torch.device"


def _asks(plan: Reading, test: ast.expr) -> bool:
    """Does a condition ask whether there is a GPU, itself or through a variable?"""
    for node in walk(test):
        if isinstance(node, ast.Attribute) and node.attr in ASKS:
            return True
        if isinstance(node, ast.Name) and any(_is_answer(s.node, node.id) for s in plan.kept):
            return True
    return False


def _is_answer(node: ast.stmt, name: str) -> bool:
    """`use_cuda = torch.cuda.is_available()`"""
    if not isinstance(node, ast.Assign) or not any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
        return False
    return isinstance(node.value, ast.Call | ast.Compare) and any(
        isinstance(n, ast.Attribute) and n.attr in ASKS for n in walk(node.value)
    )


def indexed_name(node: ast.expr) -> str | None:
    """The kind of device in `"cuda:0"`, `f"cuda:{i}"`, `"cuda:%d" % i`, `"cuda:{}".format(i)`, `"cuda:" + str(i)`."""
    match node:
        case ast.JoinedStr(values=[written, ast.FormattedValue()]) | ast.BinOp(left=written, op=ast.Mod() | ast.Add()):
            pass
        case ast.Call(func=ast.Attribute(value=written, attr="format")):
            pass
        case _:
            written = node
    text = written.value if isinstance(written, ast.Constant) and isinstance(written.value, str) else ""
    found = INDEXED.match(text)
    complete = found is not None and (not isinstance(node, ast.Constant) or bool(re.search(r"\d$", text)))
    return found[1] if found and complete else None


def numbers(plan: Reading, node: ast.expr) -> Iterator[ast.expr]:
    """Where a call takes the number of a GPU: `x.to(0)`, `x.cuda(gpu_id)`, `zeros(3, device=0)`, `torch.device(1)`."""
    if not isinstance(node, ast.Call):
        return
    attr = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    first = node.args[0] if node.args else None
    if first is not None and (attr in MOVES or _is_device(plan, node)) and _is_number(plan, first):
        yield first
    yield from (k.value for k in node.keywords if k.arg == "device" and _is_number(plan, k.value))


def _is_number(plan: Reading, node: ast.expr) -> bool:
    """An index, written or in a variable; -1 stands for the CPU in some libraries."""
    value = plan.facts.value(node)
    const = node.value if isinstance(node, ast.Constant) else value.const
    if isinstance(const, bool) or value.varies:
        return False
    return isinstance(const, int) and const >= 0
