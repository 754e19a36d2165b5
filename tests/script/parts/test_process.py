"""A process among others: random numbers, and values from the command line."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.script.parts.process import (
    check_address,
    drawn_alike,
    literal,
    own_random_numbers,
    own_random_numbers__numpy,
    same_random_numbers,
    same_seed,
    seed_everything,
    shared_random_numbers,
)
from tests.script.parts.ranks import on_ranks


def draw(rank: int) -> list[Any]:
    torch.rand(rank)
    seed_everything(3)
    same = (random.random(), float(np.random.rand()), torch.rand(1).item(), same_seed(), same_seed())
    state = torch.get_rng_state()
    own_random_numbers()
    untouched = torch.equal(state, torch.get_rng_state())
    first = torch.rand(1).item()
    own_random_numbers()
    drawn = [same, untouched, first, torch.rand(1).item()]
    random.random()
    shared_random_numbers()
    return [*drawn, (random.random(), float(np.random.rand()), torch.rand(1).item())]


def test_all_begin_alike_and_go_on_by_themselves():
    results = on_ranks(3, draw)
    assert results == on_ranks(3, draw)
    assert len({result[0] for result in results}) == 1
    assert results[0][0][3] != results[0][0][4]
    assert [result[1] for result in results] == [True, False, False]
    assert len({value for result in results for value in result[2:4]}) == 6
    assert len({result[4] for result in results}) == 1
    assert results[0][4] != results[0][0]


def draw_with_numpy(rank: int) -> list[float]:
    seed_everything(3)
    own_random_numbers__numpy()
    own = [float(np.random.rand()), torch.rand(1).item()]
    shared_random_numbers()
    return [*own, float(np.random.rand())]


def test_noise_of_numpy_is_each_rank_s_own():
    seed_everything(3)
    alone = float(np.random.rand())
    results = on_ranks(3, draw_with_numpy)
    assert results[0][0] == alone
    assert len({value for result in results for value in result[:2]}) == 6
    assert len({result[2] for result in results}) == 1


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("[1, 2]", [1, 2]), ("None", None), ("adam", "adam"), ("1e-3", 0.001), ("a b", "a b")]
)
def test_a_value_from_the_command_line(text, value):
    assert literal(text) == value


def drawn_beside_noise(rank: int) -> tuple[list[float], list[float]]:
    seed_everything(3)
    own_random_numbers()
    together, own = [], []
    for _ in range(3):
        with same_random_numbers():
            together += [torch.rand(1).item(), random.random()]
        own.append(torch.rand(1 + rank)[0].item())
    together += [torch.stack(batch).sum().item() for batch in drawn_alike([torch.rand(2)] for _ in range(2))]
    return together, own


def test_some_numbers_alike_and_the_others_apart():
    (first, noise), (second, other) = on_ranks(2, drawn_beside_noise)
    assert first == second
    assert len(set(first)) == len(first)
    assert not set(noise) & set(other)
    assert not set(first) & {*noise, *other}


def test_one_process_draws_as_without_them():
    ((together, noise),) = on_ranks(1, drawn_beside_noise)
    seed_everything(3)
    assert (together[0], together[1], noise[0]) == (torch.rand(1).item(), random.random(), torch.rand(1).item())


@pytest.mark.parametrize(
    ("address", "rank", "world", "said"),
    [
        ("no-such-machine.invalid", 0, 2, "cannot resolve"),
        ("127.0.0.1", 0, 2, "each machine itself"),
        ("localhost", 1, 2, "each machine itself"),
        ("127.0.0.1", 0, 1, ""),
        ("10.1.2.3", 1, 2, ""),
    ],
)
def test_an_address_at_which_nobody_is_found_is_said(monkeypatch, address, rank, world, said):
    for name, value in {"MASTER_ADDR": address, "RANK": rank, "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": 1}.items():
        monkeypatch.setenv(name, str(value))
    if not said:
        check_address()
        return
    with pytest.raises(SystemExit, match=said):
        check_address()
