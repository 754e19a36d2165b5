"""Methods of lists and dictionaries."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent, is_uneven
from tests.analysis.cells import BEFORE, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


@pytest.mark.parametrize(
    ("before", "lines", "source", "expected"),
    [
        ("log = []", ["log.append(loss.item())", "n = log[0]"], "log[0]", M),
        ("log = []", ["log.append(epoch)", "n = log[0]"], "log[0]", U),
        ("log = []", ["log.extend(y.tolist())", "n = log[0]"], "log[0]", S),
        ("log = {}", ["log.update(a=loss.item())", "n = log['a']"], "log['a']", M),
        ("log = {}", ["log.update({'a': loss.item()})", "n = log['a']"], "log['a']", M),
        ("log = {'a': 0.0}", ["log.setdefault('b', loss.item())", "n = log['b']"], "log['b']", M),
        ("log = {'a': 0.0, 'b': []}", ["log['b'].append(loss.item())", "n = log['b'][0]"], "log['b'][0]", M),
        ("log = {'a': 1}", ["log['b'] = loss.item()", "n = log.get('b')"], "log.get('b')", M),
        ("log = {'a': 1}", ["log['b'] = loss.item()", "n = log.get('a')"], "log.get('a')", U),
        ("log = [1]", ["log.append(loss.item())", "n = log.pop()"], "log.pop()", M),
        ("log = {'a': 1}", ["n = list(log.values())[0]"], "list(log.values())[0]", U),
    ],
)
def test_containers_hold_what_was_put_in(before, lines, source, expected):
    assert seen(source, *lines, before=before) is expected


def uneven(before: str, *lines: str) -> bool:
    made = plan(*BEFORE, before, batch(*lines, "n = log"))
    return is_uneven(made.facts, made.facts.value(node(made, ast.Name, "log")))


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("log = []", ["if x.max() > 2:", "    log.append(loss.item())"]),
        ("log = []", ["for v in y:", "    if v > 0:", "        log.append(v)"]),
        ("log = []", ["if x.max() > 2:", "    log.extend([loss.item()])"]),
        ("log = [1]", ["if x.max() > 2:", "    log.pop()"]),
        ("log = [1]", ["if x.max() > 2:", "    log.clear()"]),
        ("log = [1]", ["if x.max() > 2:", "    log.remove(1)"]),
        ("log = {1}", ["if x.max() > 2:", "    log.discard(1)"]),
        ("log = {'a': 1}", ["if x.max() > 2:", "    log.popitem()"]),
        ("log = [1]", ["if x.max() > 2:", "    del log[0]"]),
        ("log = {}", ["del log[y[0].item()]"]),
        ("log = {}", ["log.setdefault(y[0].item(), []).append(1)"]),
        ("log = {}", ["log[y[0].item()] = 1"]),
    ],
)
def test_containers_that_may_be_longer_on_one_rank(before, lines):
    assert uneven(before, *lines)


@pytest.mark.parametrize(
    ("before", "lines"),
    [
        ("log = []", ["log.append(loss.item())"]),
        ("log = []", ["if epoch > 1:", "    log.append(loss.item())"]),
        ("log = {}", ["log[epoch] = loss.item()"]),
        ("log = {}", ["log.setdefault(epoch, []).append(loss.item())"]),
        ("log = [1]", ["log.pop()"]),
        ("log = [1]", ["log.clear()"]),
        ("log = [1]", ["log.remove(1)"]),
        ("log = [1]", ["if epoch > 1:", "    log.clear()"]),
        ("log = [1]", ["del log[0]"]),
        ("log = {}", ["del log[epoch]"]),
    ],
)
def test_containers_that_are_as_long_on_all(before, lines):
    assert not uneven(before, *lines)
