"""Loaders that draw in order: only of these may each rank take every so-manieth batch without asking the others."""

from __future__ import annotations

import pytest

from nbddp.script.in_order import draws_in_order
from tests.analysis.cells import DATA, IMPORTS, MODEL, evaluation, plan

LOADER = "test_loader = DataLoader(test_set, batch_size=10)"
GATHER = evaluation("n = []", "n.append(model(x).argmax(1))", "print(torch.cat(n))")
FUNCTION = """
def loader_of(data, shuffle=False):
    return DataLoader(data, batch_size=10, shuffle=shuffle)
"""
SETS = FUNCTION.replace("    return", "    shuffle = True\n    return")


def in_order(loader: str) -> bool:
    data = DATA.replace(LOADER, f"other = torch.utils.data.RandomSampler(test_set)\n{loader}")
    made = plan(IMPORTS, data, MODEL, GATHER)
    found = [obj for fact in made.roles.evaluation_loops for obj in fact.loaders]
    return bool(found) and all(draws_in_order(made, obj) for obj in found)


@pytest.mark.parametrize(
    ("loader", "expected"),
    [
        (LOADER, True),
        ("test_loader = DataLoader(test_set, batch_size=10, shuffle=False)", True),
        ("test_loader = DataLoader(test_set, batch_size=10, shuffle=True)", False),
        ("test_loader = DataLoader(test_set, batch_size=10, shuffle=len(test_set) > 3)", False),
        ("test_loader = DataLoader(test_set, batch_size=10, sampler=other)", False),
        ("test_loader = DataLoader(test_set, batch_sampler=[[1, 2], [3]])", False),
    ],
)
def test_what_the_call_itself_says(loader, expected):
    assert in_order(loader) is expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("k = {'batch_size': 10}", True),
        ("k = {'batch_size': 10}\nk.update({'num_workers': 0})", True),
        ("m = {'num_workers': 0}\nk = {'batch_size': 10}\nk.update(m)", True),
        ("k = {'batch_size': 10, 'shuffle': True}", False),
        ("k = {'batch_size': 10}\nk['shuffle'] = True", False),
        ("k = {'batch_size': 10}\nk.update({'shuffle': True})", False),
        ("k = {'batch_size': 10}\nk.update(shuffle=True)", False),
        ("k = {'batch_size': 10}\nk.update(m)", False),
        ("k = {'batch_size': 10}\nfor word in ['num_workers', 'shuffle']:\n    k[word] = 0", False),
        ("k = dict(batch_size=10)", False),
    ],
)
def test_what_is_hidden_in_a_dictionary(lines, expected):
    assert in_order(f"{lines}\ntest_loader = DataLoader(test_set, **k)") is expected


@pytest.mark.parametrize(
    ("loader", "expected"),
    [
        (f"{FUNCTION}\ntest_loader = loader_of(test_set)", True),
        (f"{FUNCTION}\ntest_loader = loader_of(test_set, shuffle=False)", True),
        (f"{FUNCTION}\ntest_loader = loader_of(test_set, True)", False),
        (f"{FUNCTION}\ntest_loader = loader_of(*[test_set, True])", False),
        (f"{FUNCTION.replace('=shuffle', '=not shuffle')}\ntest_loader = loader_of(test_set)", False),
        (f"{SETS}\ntest_loader = loader_of(test_set)", False),
    ],
)
def test_what_is_told_to_the_function_that_builds_it(loader, expected):
    assert in_order(loader) is expected
