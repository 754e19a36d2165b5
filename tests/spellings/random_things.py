"""Random programs that keep numbers in things of all kinds, in loops that stand in functions or in cells, as text."""

from __future__ import annotations

import re
from textwrap import indent

from hypothesis import strategies as st

from tests.spellings.program import CELLS, STEP, filled
from tests.spellings.things import THINGS, Thing

NUMBERS = ("loss.item()", "loss.item()", "(model(a) > b).sum().item()", "(model(a) > b).sum().item()", "len(a)", "1",
           "step", "loss.item() * len(a)", "(model(a) > b).float().mean().item()", "a.sum().item()", "a.max().item()",
           "float(loss.detach())", "loss.item() ** 0.5", "round(loss.item(), 3)", "b[0].item()", "a.shape[0]",
           "np.sqrt(loss.item())", "(loss.item() if step > 1 else 0.0)", "(loss.item() - 1)", "abs(a.mean().item())",
           "(a[b[:, 0] > 0].sum().item())")  # fmt: skip
NEXT = "batches = iter(train_loader)\nwhile (batch := next(batches, None)) is not None:\n    a, b = batch\n"
WITHOUT = "model.eval()\nwith torch.no_grad():\n    for a, b in test_loader:\n        loss = criterion(model(a), b)\n"
LOOPS = {
    "for": STEP + "@each@",
    "evaluation": STEP + WITHOUT + "    @each@\nmodel.train()",
    "next": STEP.replace("for a, b in train_loader:\n", NEXT) + "@each@",
    "enumerate": STEP.replace("for a, b in train_loader", "for i, (a, b) in enumerate(train_loader)") + "@each@",
    "try": "try:\n" + indent(STEP, "    ") + "    @each@\nfinally:\n    model.train()",
    "with": "with torch.enable_grad():\n" + indent(STEP, "    ") + "    @each@",
}
SHOWN = ("print('v', V)", 'print(f"v {V}")', "history.append(V)", "logger.info('%s', V)", "print('v ' + str(V))",
         'with open("log.csv", "a") as f:\n    f.write(f"{epoch},{V}\\n")', "if str(V) > '2':\n    print('much')",
         "history.append({'e': epoch, 'v': V})", "history += [(epoch, V)]", "print('%s' % (V,))", "tell(V)",
         "record['v'].append(V)", "print(json.dumps({'v': repr(V)}))", "print('v', V, sep=': ', end='!\\n')",
         'sys.stdout.write(f"{V}\\n")')  # fmt: skip
ONCE = """import csv, json, logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(message)s', force=True)
logger = logging.getLogger('t')
def tell(*values):
    print('told', *values)
history, record = [], {'v': []}
"""
END = "print('history', history, record)"


def _with(text: str, **names: str) -> str:
    """Where a letter stands alone."""
    return re.sub(r"\b[NMV]\b", lambda found: names.get(found[0], found[0]), text)


def _changes(thing: Thing) -> st.SearchStrategy[str]:
    number = st.sampled_from(NUMBERS)
    drawn = st.tuples(st.sampled_from(thing.changes), number, number)
    return drawn.map(lambda p: _with(p[0], N=p[1], M=p[2]))


def _in_function(text: str) -> str:
    leaves = "continue" in text or "break" in text
    return text if leaves else f"def act():\n    GLOBAL\n{indent(text, '    ')}\nact()"


def _statements(thing: Thing) -> st.SearchStrategy[str]:
    change = _changes(thing)
    test = st.tuples(st.sampled_from(NUMBERS), st.sampled_from((0, 2, 5)))
    block = change.map(lambda text: indent(text, "    "))
    return st.one_of(
        *[change] * 4,
        st.tuples(test, block).map(lambda p: f"if {p[0][0]} > {p[0][1]}:\n{p[1]}"),
        st.tuples(test, block, block).map(lambda p: f"if {p[0][0]} > {p[0][1]}:\n{p[1]}\nelse:\n{p[2]}"),
        block.map(lambda text: f"if step % 2 == 0:\n{text}"),
        st.tuples(test, change).map(lambda p: f"if {p[0][0]} > {p[0][1] + 2}:\n    break\n{p[1]}"),
        st.tuples(test, change).map(lambda p: f"if {p[0][0]} < {p[0][1]}:\n    continue\n{p[1]}"),
        block.map(lambda text: f"for _ in range(2):\n{text}"),
        change.map(_in_function),
    )


@st.composite
def programs(draw: st.DrawFn) -> str:
    """One thing or two, changed in one loop, looked at behind it: in the cell, or returned by a function."""
    things = draw(st.lists(st.sampled_from(THINGS), min_size=1, max_size=2, unique=True))
    shows = [draw(st.sampled_from(thing.shows)) for thing in things]
    start = "\n".join((*(thing.start for thing in things), "step = 0"))
    once = "\n".join((ONCE, *(thing.once for thing in things if thing.once)))
    names = ", ".join(name for name in ("step", *(thing.names for thing in things)) if name)
    loop = _loop(draw, things)
    where = draw(st.sampled_from(("cell", "cell", "returned", "function")))
    body = loop if where != "returned" and draw(st.booleans()) else f"{start}\n{loop}"
    if where == "returned":
        how = draw(st.sampled_from(("tuple", "dict", "list")))
        once += f"\ndef run(epoch):\n{indent(body, '    ')}\n    {_returned(shows, how)}"
        shows = [f"result['v{i}']" if how == "dict" else f"result[{i}]" for i in range(len(shows))]
    elif where == "function":
        once += f"\ndef run():\n    global {names}\n{indent(body, '    ')}\n{start}"
    else:
        once += f"\n{start}"
    training = {"cell": body, "returned": "result = run(epoch)", "function": "run()"}[where]
    show = "\n".join(_with(draw(st.sampled_from(SHOWN)), V=f"({shown})") for shown in shows)
    end = END if "history" in show or "record" in show else "pass"
    text = filled(CELLS, once=once, training=indent(training, "    "), show=indent(show, "    "), end=end)
    return text.replace("GLOBAL", f"{'nonlocal' if where == 'returned' else 'global'} {names}").replace("@LIMIT@", "5")


def _loop(draw: st.DrawFn, things: list[Thing]) -> str:
    each = ["step += 1", *(draw(_statements(thing)) for thing in things)]
    if draw(st.booleans()):
        each.append(draw(_statements(things[0])))
    return filled(LOOPS[draw(st.sampled_from(sorted(LOOPS)))], each=indent("\n".join(each), "    "))


def _returned(shows: list[str], how: str) -> str:
    if how == "dict":
        return "return {" + ", ".join(f"'v{i}': {shown}" for i, shown in enumerate(shows)) + "}"
    text = ", ".join(shows)
    return f"return [{text}]" if how == "list" else f"return {text},"
