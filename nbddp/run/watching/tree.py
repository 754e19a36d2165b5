"""Hangs watch points into a script's syntax tree. Lines and columns keep their numbers; nothing else changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from nbddp.run.watching.exits import before_exits, surely_set
from nbddp.run.watching.places import found_in
from nbddp.run.watching.scopes import share_names
from nbddp.run.watching.setting_up import watch_process
from nbddp.run.watching.written import NAME, Blocks, dictionary, expression, known, statements, zero
from nbddp.watch_points import Kind, Watch, WatchPoint, drawn_from

Loop = ast.For | ast.While


def watched(text: str, file: str, points: Iterable[WatchPoint]) -> tuple[ast.Module, int]:
    """The tree to compile; and how many points have no place in it any more."""
    tree = ast.parse(text, file)
    found, lost = found_in(tree, text, points)
    share_names(tree, found)
    blocks = Blocks(tree)
    for statement, watches in found:
        by_kind = {watch.kind: watch for watch in watches}
        for watch in watches:
            _hang(blocks, statement, watch, by_kind)
    return tree, lost


def _hang(blocks: Blocks, at: ast.stmt, watch: Watch, beside: Mapping[Kind, Watch]) -> None:
    """`beside` is what else is watched at this statement: the numbers of an epoch are told where it ends."""
    numbers = beside["numbers"].values if "numbers" in beside else ()
    match watch.kind, at:
        case "step" | "trainer" | "left", _:
            for text in _behind(watch):
                blocks.after(at, text)
        case "start", _:
            blocks.before(at, f"{NAME}.start({dictionary(watch.state)})")
        case "epochs", ast.For():
            _epochs(blocks, at, watch, numbers)
        case "turns", ast.While():
            _turns(blocks, at, watch, numbers)
        case "batches", ast.For():
            _batches(blocks, at, watch)
        case "stop", ast.For():
            at.iter = expression(f"{NAME}.counted(0)", at.iter)
        case "numbers", ast.For() | ast.While() if not beside.keys() & {"epochs", "turns"}:
            at.body += statements(f"{NAME}.numbers({dictionary(numbers)})", at)
        case "process", ast.FunctionDef():
            watch_process(at)
        case "result", ast.FunctionDef() | ast.AsyncFunctionDef():
            scope = "{**globals(), **locals()}"
            at.body += statements(
                f"{NAME}.deliver({dictionary(watch.state)}, {watch.names!r}, {watch.means!r}, {scope})", at
            )


def _behind(watch: Watch) -> list[str]:
    if watch.kind == "trainer":
        return [f"{NAME}.trainer({kind!r}, {text})" for kind, text in watch.state]
    return [_step(watch)] if watch.kind == "step" else [_left(name) for name in watch.names]


def _step(watch: Watch) -> str:
    batch = "".join(f"{name}, " for name in watch.batch)
    return f"if {NAME}.step(): {NAME}.report_step({watch.batches or None}, {dictionary(watch.values)}, ({batch}))"


def _left(name: str) -> str:
    """As the kernel has it, where this run begins behind: a name may have no value without that."""
    unbound = f"try: {name}\n    except NameError: {name} = None"
    return f"if {NAME}.has_left({name!r}):\n    {unbound}\n    {name} = {NAME}.left({name!r}, {name})"


def _carry(watch: Watch) -> Iterator[str]:
    """What the loop goes on with, before it. A branch that was not taken may have left a name without a value."""
    branches = [*filter(str.isidentifier, watch.carried)]
    for name in branches:
        yield f"try: {name}\nexcept NameError: {name} = {NAME}.unbound({name!r})"
    if watch.carried or watch.things:
        names = tuple((text, text) for text in watch.carried)
        targets = f"[{', '.join(watch.carried)}] = " if watch.carried else ""
        yield f"{targets}{NAME}.carry({dictionary(names)}, {dictionary(watch.things)})"
    for name in branches:
        yield f"if {name} is {NAME}.nothing: del {name}"


def _batches(blocks: Blocks, loop: ast.For, watch: Watch) -> None:
    """They go on after those that were done before a checkpoint, with the numbers that they have come to by then.

    A name may have no value yet, where a loop before was skipped.
    """
    for text, how in watch.so_far:
        bound = f"try: {text}\nexcept NameError: pass\nelse: " if text.isidentifier() else ""
        blocks.before(loop, f"{bound}{text} = {NAME}.so_far({text!r}, {text}, {how or None!r})")
    loader, numbered = drawn_from(loop.iter)
    rest = expression(f"{NAME}.rest(0, lambda: {known(text for text, _ in watch.so_far)})", loader)
    around = next((n for n in ast.walk(loop.iter) if isinstance(n, ast.Call) and loader in n.args[:1]), None)
    if around is None:
        loop.iter = rest
    else:
        around.args[0] = rest
    if numbered is not None:
        _number(numbered)


def _number(call: ast.Call) -> None:
    """`enumerate(loader, 1)`: what it counts from, and the batches that were done before."""
    if call.keywords:
        call.keywords[0].value = expression(f"{NAME}.numbered(0)", call.keywords[0].value)
    elif call.args[1:]:
        call.args[1] = expression(f"{NAME}.numbered(0)", call.args[1])
    else:
        call.args.append(expression(f"{NAME}.numbered(0)", zero(call)))


def _over(watch: Watch) -> str:
    """What the loop is of; and where it can be left within an epoch, what it has carried so far."""
    carried = "" if watch.whole else f", lambda: {known(watch.carried)}"
    return f"{dictionary(watch.state)}{carried}"


def _epochs(blocks: Blocks, loop: ast.For, watch: Watch, numbers: Iterable[tuple[str, str]]) -> None:
    for text in _carry(watch):
        blocks.before(loop, text)
    _at_exits(loop, watch, numbers, left=True)
    loop.body += statements(_ends(watch, numbers), loop)
    loop.iter = expression(f"{NAME}.over(0, {_over(watch)})", loop.iter)


def _turns(blocks: Blocks, loop: ast.While, watch: Watch, numbers: Iterable[tuple[str, str]]) -> None:
    for text in _carry(watch):
        blocks.before(loop, text)
    blocks.before(loop, f"{watch.counter} += {NAME}.epochs_before({_over(watch)})")
    _at_exits(loop, watch, numbers, left=False)
    loop.body = [
        *statements(f"{NAME}.epoch_begins({watch.counter} - {watch.first})", loop),
        *loop.body,
        *statements(f"if {_ends(watch, numbers)}: break", loop),
    ]


def _at_exits(loop: Loop, watch: Watch, numbers: Iterable[tuple[str, str]], *, left: bool) -> None:
    """An epoch that the script leaves early has an end as well; of its numbers those that are known by then."""

    def write(leaving: ast.stmt, done: list[ast.stmt]) -> list[ast.stmt]:
        known = [(name, text) for name, text in numbers if surely_set(done, name)]
        goes = left and not isinstance(leaving, ast.Continue)
        return statements(_ends(watch, known, left=goes), leaving)

    before_exits(loop, write)


def _ends(watch: Watch, numbers: Iterable[tuple[str, str]], *, left: bool = False) -> str:
    return f"{NAME}.epoch_ends({dictionary(numbers)}, {known(watch.carried)}{', left=True' if left else ''})"
