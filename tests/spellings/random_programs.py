"""Random programs of accumulations, conditions and calls over a loader, as text."""

from __future__ import annotations

from textwrap import indent

from hypothesis import strategies as st

from tests.spellings.program import CELLS, EVALUATED, TRAINED, filled

SUMS, LISTS, DICTS = ("s", "t", "u"), ("log", "rows"), ("d",)
NUMBERS = ("loss.item()", "(model(a) > b).sum().item()", "len(a)", "1", "0.5", "loss.item() * len(a)",
           "(model(a) > b).float().mean().item()", "a.sum().item()", "b[0].item()", "step")  # fmt: skip
HELPERS = """def half(value):
    return value / 2

def low(value, limit=5):
    return value if value < limit else limit

def keep(place, value):
    place.append(value)

def note(function):
    def inner(value):
        log.append(function(value))
    return inner

@note
def noted(value):
    return value * 2

def add(value):
    global u
    u += value

class Meter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n
        return self.sum
"""
START = """s, t, u = 0.0, 0, 0.0
log, rows, d = [], [], {'a': 0.0, 'b': 0}
meter = Meter()
table = np.zeros((2, 2))
step = 0"""


def _numbers(depth: int = 2) -> st.SearchStrategy[str]:
    plain = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS[:2]), st.sampled_from(SUMS))
    if depth == 0:
        return plain
    inner = _numbers(depth - 1)
    pairs = st.tuples(inner, st.sampled_from("+ - * /".split()), inner)
    return st.one_of(
        plain,
        plain,
        pairs.map(lambda p: f"({p[0]} {p[1]} ({p[2]} + 9))" if p[1] == "/" else f"({p[0]} {p[1]} {p[2]})"),
        inner.map("half({})".format),
        inner.map("low({})".format),
        inner.map("round({}, 2)".format),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} if {p[1]} > 3 else 1)"),
    )


def _changes() -> st.SearchStrategy[str]:
    number, name = _numbers(1), st.sampled_from(SUMS)
    return st.one_of(
        st.tuples(name, number).map(lambda p: f"{p[0]} += {p[1]}"),
        st.tuples(name, number).map(lambda p: f"{p[0]} = {p[0]} + {p[1]}"),
        st.tuples(name, number).map(lambda p: f"{p[0]} = {p[1]}"),
        st.tuples(st.sampled_from(LISTS), number).map(lambda p: f"{p[0]}.append({p[1]})"),
        number.map("rows.append((step, {}))".format),
        number.map("rows.append({{'v': {}}})".format),
        st.tuples(st.sampled_from("ab"), number).map(lambda p: f"d['{p[0]}'] += {p[1]}"),
        number.map("add({})".format),
        number.map("keep(log, {})".format),
        number.map("meter.update({})".format),
        st.tuples(number, number).map(lambda p: f"t = meter.update({p[0]}, {p[1]})"),
        number.map("s, t = {}, s".format),
        number.map("for row in table: row += {}".format),
        number.map("table[0][step % 2] += {}".format),
        number.map("d |= {{'b': {}}}".format),
        number.map("noted({})".format),
        number.map("vars(meter)['sum'] += {}".format),
    )


def _statements(depth: int = 1) -> st.SearchStrategy[str]:
    changes = _changes()
    if depth == 0:
        return changes
    block = st.lists(_statements(depth - 1), min_size=1, max_size=2).map("\n".join)
    conditions = st.tuples(_numbers(1), st.sampled_from((0, 2, 5)), block)
    return st.one_of(
        changes,
        changes,
        changes,
        conditions.map(lambda p: f"if {p[0]} > {p[1]}:\n{indent(p[2], '    ')}"),
        st.tuples(_numbers(1), changes).map(lambda p: f"if {p[0]} > 20:\n    break\n{p[1]}"),
        st.tuples(_numbers(1), changes).map(lambda p: f"if {p[0]} < 1:\n    continue\n{p[1]}"),
        block.map(lambda text: f"for i in range(2):\n{indent(text, '    ')}"),
    )


SHOWS = ("print('s', s)", "print('t', t / 3)", "print('u', u)", "print(f'{s:.3f} {t} {u:.2f}')", "print('log', log)",
         "print('rows', rows)", "print('d', d)", "print('mean', sum(log) / max(1, len(log)))",
         "print('most', max(log, default=0))", "print('steps', step, len(log))", "print('last', log[-1:])",
         "print('meter', meter.sum, meter.count)", "print('average', meter.sum / max(1, meter.count))",
         "print('table', table.tolist())",
         "history.append(s)", "if s > 9:\n    print('much')", "best = max(best, s)\nprint('best', best)",
         "print('a' if d['a'] > 5 else 'b')", "print('each', [v for v in log if v > 1])")  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> str:
    loop = draw(st.sampled_from((TRAINED, EVALUATED)))
    each = "step += 1\n" + "\n".join(draw(st.lists(_statements(), min_size=1, max_size=3)))
    shows = "\n".join(draw(st.lists(st.sampled_from(SHOWS), min_size=1, max_size=3, unique=True)))
    anew = draw(st.booleans())
    body = filled(loop, before=START if anew else "pass", each=indent(each, "    "), after="")
    once = HELPERS + START + "\nhistory, best = [], 0.0"
    end = "print('history', history)" if "history" in shows else ""
    text = filled(CELLS, once=once, training=indent(body, "    "), show=indent(shows, "    "), end=end)
    return text.replace("@LIMIT@", "5")
