"""However the batches of an evaluation are counted, and whatever is kept for each: right, when a rank has a part."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.spellings.judge import outcome
from tests.spellings.program import CELLS, EVALUATED, filled

# Before the loop over the batches, in it, and what is printed behind it.
WAYS = (
    ("k = 0", "for i in range(3): k = k + 1", "k"),
    ("d = {'n': 0}", "d.update(n=d['n'] + 1)", "d"),
    ("d = {'n': 0}", "d['n'] = 1 + d['n']", "d"),
    ("d = {}", "n = d.get('n', 0); d['n'] = n + 1", "d"),
    ("d = {'n': 0}", "d['n'] += 1", "d"),
    ("d = {'n': 0}", "d['n'] = d['n'] + 1", "d"),
    ("k = 0", "k += 1", "k"),
    ("rate = 1.0", "rate *= 0.9", "rate"),
    ("t = torch.zeros(1)", "t += 1", "t"),
    ("t = torch.zeros(1)", "t.add_(1)", "t"),
    ("t = torch.zeros(1)", "torch.add(t, 1, out=t)", "t"),
    ("c = Counter()", "c['a'] += 1", "c"),
    ("c = Counter()", "c.update(['a'])", "c"),
    ("log = []", "log.append(1)", "len(log)"),
    ("log = []", "log.append(loss.item())", "len(log), sum(log)"),
    ("log = [0]", "log[0] += 1", "log"),
    ("a_ = np.zeros(3)", "a_[1] += 1", "a_"),
    ("a_ = np.zeros(3)", "a_ += 1", "a_"),
    ("first = {'x': True}", "if first['x']: seen = loss.item(); first['x'] = False", "seen"),
    ("d = defaultdict(int)", "d['k'] += 1; d['s'] += loss.item()", "dict(d)"),
    ("k = 0; m = 0", "k += 1; m = max(m, k)", "m"),
    ("k = 0; total = 0.", "k += 1; total += loss.item() / k", "total"),
    ("n = 1", "n = n * 2", "n"),
    ("s = ''", "s += 'x'", "s"),
    ("s = ''", "s = s + 'x'", "s"),
    ("k = []", "k += [1]", "k"),
    ("k = ()", "k += (1,)", "k"),
    ("k = 10", "k -= 1", "k"),
    ("k = 10", "k = k - 1", "k"),
    ("d = {'r': 1.0}", "d['r'] *= .5", "d"),
    ("log = []", "log.append(1)", "log"),
    ("log = []", "log.extend([1, 2])", "log"),
    ("log = []", "log.extend([1, 2])", "len(log)"),
    ("log = []", "log.insert(0, 1)", "log"),
    ("log = []", "log += [1, 2]", "len(log)"),
    ("log = []", "log = log + [1]", "log"),
    ("c = Counter()", "c.update({'a': 1})", "c"),
    ("c = Counter()", "c += Counter(a=1)", "c"),
    ("c = Counter()", "c.subtract(['a'])", "c"),
    ("d = {'l': []}", "d['l'].append(1)", "d"),
    ("d = defaultdict(list)", "d['l'].append(1)", "dict(d)"),
    ("d = defaultdict(list)", "d['l'] += [1]", "dict(d)"),
    ("q = deque(maxlen=2)", "q.append(1)", "q"),
    ("s = set()", "s.add(len(s))", "s"),
    ("d = {}", "d[len(d)] = 1", "d"),
    ("d = {}", "d[len(d)] = loss.item()", "d"),
    ("d = {}", "d.setdefault('l', []).append(1)", "d"),
    ("numbers = count(); log = []", "log.append(next(numbers))", "log"),
    ("numbers = iter([3, 1, 2]); k = 0", "k += next(numbers, 0)", "k"),
    # begun anew under a condition, which only the run knows
    ("k = 0; flag = False", "if flag: k = 0\nk += 1", "k"),
    ("k = 0; flag = False", "k += 1\nif flag: k = 0", "k"),
    ("k = 1.0; flag = False", "if flag: k = 0.0\nk *= 0.5", "k"),
    ("k = 0", "for i in range(2):\n    k = 0\n    k += 1", "k"),
    ("k = 0", "k = 0\nk += 1", "k"),
)


@pytest.mark.parametrize(("before", "each", "shown"), WAYS)
def test_what_is_counted_for_each_batch(before: str, each: str, shown: str, tmp_path: Path) -> None:
    body = filled(EVALUATED, before=before, each=indent(each, "    "), after=f"print({shown})")
    once = "from collections import Counter, defaultdict, deque\nfrom itertools import count"
    text = filled(CELLS, once=once, training=indent(body, "    "), show="", end="").replace("@LIMIT@", "0")
    found = outcome(text, (2, 3), tmp_path, cell=2)
    assert found.verdict != "WRONG", found.why
