"""Functions that keep numbers: closures, generators, decorators, partial applications, names of modules."""

from __future__ import annotations

from tests.spellings.things.thing import Thing

COUNTER = """def counter():
    total, count = 0.0, 0
    def add(value, n=1):
        nonlocal total, count
        total += value * n
        count += n
        return total
    def get():
        return total / max(1, count)
    return add, get"""
RUNNING = """def running():
    total, value = 0.0, 0.0
    while True:
        value = yield total
        total += value
def telling():
    total = steps = 0
    while True:
        total += yield
        steps += 1
        if steps % 2 == 0:
            print(total / steps)"""
PARTS = """def parts(loader, other):
    for a, b in loader:
        yield model(a).mean().item()
def shares():
    for v in a.sum(1).tolist():
        yield v"""
CALLED = """import functools
calls = []
def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        result = function(*args, **kwargs)
        calls.append(result)
        inner.total += result
        return result
    inner.total = 0.0
    return inner
@logged
def of(value):
    return value"""

FUNCTIONS = (
    Thing(
        "add, get = counter()",
        ("add(N)", "add(N, len(a))", "v = add(N)", "add(N, M)"),
        ("get()", "round(get(), 3)"),
        COUNTER,
    ),
    Thing(
        "sink = running()\nnext(sink)",
        ("sink.send(N)", "now = sink.send(N)"),
        ("sink.send(0.0)",),
        RUNNING,
    ),
    Thing("told = telling()\nnext(told)", ("told.send(N)", "told.send(M)"), ("0",), RUNNING),
    Thing(
        "got = []",
        ("got.extend(shares())", "got.append(sum(shares()))", "got += list(shares())", "got.append(max(shares()))",
         "for v in shares(): got.append(v)", "got.append(next(shares()))"),
        ("got", "sum(got)", "len(got)", "sorted(got)[:2]", "max(got)"),
        PARTS,
        "got",
    ),
    Thing(
        "calls.clear()\nof.total = 0.0",
        ("of(N)", "v = of(N)"),
        ("calls", "of.total", "sum(calls)", "len(calls)"),
        CALLED,
    ),
    Thing(
        "put = functools.partial(keep, store := [])",
        ("put(N)", "put(value=N)"),
        ("store", "sum(store)", "len(store)"),
        "import functools\ndef keep(place, value):\n    place.append(value)",
    ),
    Thing(
        "note.count, note.total = 0, 0.0",
        ("note(N)", "note.total += N", "note.count += 1", "note.last = N"),
        ("note.total", "note.count", "note.total / max(1, note.count)"),
        "def note(value):\n    note.count += 1\n    note.total += value",
    ),
    Thing(
        "default.__defaults__[0].clear()",
        ("default(N)",),
        ("default(0.0)", "len(default(1))"),
        "def default(value, held=[]):\n    held.append(value)\n    return held",
    ),
    Thing(
        "do = [lambda v: logs.append(v), lambda v: logs.append(v * 2)]\nlogs = []",
        ("do[0](N)", "for one in do: one(N)", "do[step % 2](N)"),
        ("logs", "sum(logs)"),
    ),
    Thing(
        "cache = {}",
        ("once(step)", "cache[step] = N", "once(0)"),
        ("cache", "len(cache)", "list(cache.values())"),
        "def once(key):\n    if key not in cache:\n        cache[key] = loss.item()\n    return cache[key]\ncache = {}",
    ),
    Thing(
        "memo.cache_clear()",
        ("got_once = memo(0)", "got_once = memo(step)"),
        ("got_once", "memo.cache_info().misses"),
        "import functools\n@functools.lru_cache(maxsize=None)\ndef memo(key):\n    return loss.item()",
        "got_once",
    ),
    Thing(
        "fold = 0.0",
        ("fold = functools.reduce(lambda s, v: s + v, [N, M], fold)", "fold = deep(N, 3)", "fold += deep(N, 2)",
         "fold = (lambda s: s + N)(fold)", "fold = max((fold, N), key=abs)", "(fold := fold + N)",
         "fold = fold + N if step < 3 else fold", "fold = [fold, N][step % 2]", "fold = {True: N, False: M}[N > 2]",
         "fold = N if N else fold", "fold = N and fold or M", "fold = sum([N, M, fold])", "fold = min(N, M, fold)",
         "fold = statistics.mean([N, M])", "fold += math.sqrt(abs(N))", "fold = math.exp(-N)"),
        ("fold", "round(fold, 2)", "fold / max(1, step)", "int(fold)", "f'{fold:.3f}'", "bool(fold)",
         "math.sqrt(abs(fold))"),
        "import functools, math, statistics\ndef deep(v, n):\n    return v if n == 0 else deep(v / 2, n - 1)",
        "fold",
    ),
)  # fmt: skip
