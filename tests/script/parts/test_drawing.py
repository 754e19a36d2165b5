"""What is drawn for the samples of one process is what one process draws for them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nbddp.script.parts.batches import my_part__exact
from nbddp.script.parts.drawing import drawn_for_all, padded_to_longest
from tests.script.parts.ranks import on_ranks

TOTALS = (13, 5, 4)


class Drawing(nn.Module):
    """Dropout in a row for each sample, for each word, with time first, within layers of torch; noise."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
        self.rnn = nn.LSTM(8, 8, 2, dropout=0.3, batch_first=True)

    def forward(self, x: Any) -> Any:
        x = x + torch.randn_like(x) * torch.rand(len(x), 1, 1) * torch.bernoulli(torch.full((len(x), 1, 8), 0.5))
        h, _ = self.rnn(self.layer(F.dropout1d(x, 0.2)))
        flat = F.dropout(h.reshape(-1, 8), 0.25)
        return flat.view(len(x), -1, 8) + F.gumbel_softmax(x)


def drawn(rank: int, split: bool = True) -> list[Any]:
    torch.manual_seed(3)
    model, found = Drawing(), []
    for total in TOTALS:
        x = torch.randn(total, 11, 8)
        mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
        found.append(model(x[mine]).detach())
        if split:
            drawn_for_all.end()
    return [*found, torch.rand(3)]


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_rows_are_those_of_one_process(ranks):
    *expected, after = drawn(0, split=False)
    *found, ends = zip(*on_ranks(ranks, drawn), strict=True)
    for whole, parts in zip(expected, found, strict=True):
        assert torch.allclose(torch.cat(parts), whole, atol=1e-6)
    assert all(torch.equal(end, after) for end in ends)


class Alike(nn.Module):
    """As many places of time as a rank has samples, and as many heads as there are ranks."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(8, 8, 2, dropout=0.3, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, dropout=0.3, batch_first=True)

    def forward(self, x: Any) -> Any:
        h, _ = self.rnn(x)
        return self.attention(h, h, h)[0]


def alike(rank: int, split: bool = True) -> Any:
    torch.manual_seed(3)
    model, x = Alike(), torch.randn(8, 4, 8)
    mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
    made = model(x[mine]).detach()
    drawn_for_all.end()
    return made


def test_layers_that_draw_in_a_layout_of_their_own():
    assert torch.allclose(torch.cat(on_ranks(2, alike)), alike(0, split=False), atol=1e-6)


def weighed(rank: int, split: bool = True) -> list[Any]:
    torch.manual_seed(3)
    x, found = torch.randn(8, 4), []
    mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
    for _ in range(2):
        found.append(drawn_for_all.of_no_sample(lambda: torch.normal(0.0, 1.0, size=(4, 4))))
        found.append(torch.multinomial(torch.ones(4), 3 * len(x[mine]), replacement=True))
    if split:
        drawn_for_all.end()
    return found


def test_noise_of_weights_is_no_samples_and_words_are():
    """Two ranks have four of the samples each: as many as the weights have rows."""
    expected, (first, second) = weighed(0, split=False), on_ranks(2, weighed)
    for whole, one, other in zip(expected[::2], first[::2], second[::2], strict=True):
        assert torch.equal(one, whole)
        assert torch.equal(other, whole)
    for whole, one, other in zip(expected[1::2], first[1::2], second[1::2], strict=True):
        assert torch.equal(torch.cat((one, other)), whole)


def layered(rank: int) -> Any:
    """States of as many layers as a rank has samples."""
    torch.manual_seed(3)
    mine, _ = my_part__exact(torch.zeros(4, 1))
    size = len(range(*mine.indices(4)))
    states = drawn_for_all.along(1, lambda: torch.randn(2, size, 3))
    drawn_for_all.end()
    return states


def test_a_draw_whose_samples_are_named_has_them_there():
    torch.manual_seed(3)
    assert torch.equal(torch.cat(on_ranks(2, layered), 1), torch.randn(2, 4, 3))


def of_two_batches(rank: int, split: bool = True) -> Any:
    """The second is drawn for behind the first, and cut before it."""
    torch.manual_seed(3)
    x, y = torch.ones(8, 3), torch.ones(4, 3)
    mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
    other, _ = my_part__exact(y) if split else (slice(None), 1.0)
    found = [F.dropout(part, 0.5) for part in (x[mine], y[other], x[mine])]
    found += [torch.randn(len(y[other]), 2), torch.randn_like(x[mine])]
    weights = drawn_for_all.of_no_sample(lambda: torch.randn(4, 4))
    states = drawn_for_all.along(1, lambda: torch.randn(2, len(x[mine]), 3)).transpose(0, 1)
    drawn_for_all.end()
    return weights, [*found, states]


def test_batches_of_unlike_sizes_in_one_step_are_drawn_for_each_by_its_own_size():
    expected, (first, second) = of_two_batches(0, split=False), on_ranks(2, of_two_batches)
    assert torch.equal(first[0], expected[0])
    assert torch.equal(second[0], expected[0])
    for whole, one, other in zip(expected[1], first[1], second[1], strict=True):
        assert torch.equal(torch.cat((one, other)), whole)


def of_alike_parts(rank: int) -> Any:
    """Of batches of 4 and 5 the first of two ranks has two samples each."""
    mine, _ = my_part__exact(torch.ones(4, 3))
    my_part__exact(torch.ones(5, 3))
    try:
        return F.dropout(torch.ones(4, 3)[mine], 0.5) is None
    except RuntimeError as error:
        return "does not show for which batch" in str(error)
    finally:
        drawn_for_all.end()


def test_where_their_parts_are_as_large_the_run_stops():
    assert on_ranks(2, of_alike_parts) == [True, False]


def attending(rank: int) -> Any:
    torch.manual_seed(3)
    x = torch.randn(8, 2, 7, 4)
    mine, _ = my_part__exact(x)
    out = F.scaled_dot_product_attention(x[mine], x[mine], x[mine], dropout_p=0.0, is_causal=True)
    drawn_for_all.end()
    return out


def attending_whole() -> Any:
    torch.manual_seed(3)
    x = torch.randn(8, 2, 7, 4)
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


def test_attention_without_dropout_draws_nothing():
    """It is marked as drawing all the same."""
    assert torch.equal(torch.cat(on_ranks(2, attending)), attending_whole())


def time_first(rank: int, split: bool = True) -> Any:
    torch.manual_seed(3)
    x = torch.randn(11, 7, 8)
    mine, _ = my_part__exact(x, dim=1) if split else (slice(None), 1.0)
    h = F.dropout(x[:, mine], 0.3)
    flat = F.dropout(h.reshape(-1, 8), 0.3)
    drawn_for_all.end()
    return flat.view(11, -1, 8)


def test_samples_in_the_second_dimension():
    parts = on_ranks(2, time_first)
    assert torch.equal(torch.cat(parts, 1), time_first(0, split=False))


def apart(rank: int) -> str:
    my_part__exact(range(4))
    torch.rand(3 + rank)
    with pytest.raises(RuntimeError, match="have drawn unlike random numbers") as caught:
        my_part__exact(range(4))
    drawn_for_all.end()
    return str(caught.value)


def test_ranks_that_have_come_apart_do_not_go_on():
    assert len({*on_ranks(2, apart)}) == 1


@pytest.mark.parametrize(
    ("size", "turns"), [((2, 2, 8), True), ((6, 2, 8), False), ((8, 4), False), ((4, 2, 8), True)], ids=str
)
def test_a_size_that_does_not_show_the_samples_stops_the_run(monkeypatch, size, turns):
    """A part of 2 of 4 samples, beside 2, 4 or 6 steps in time."""
    monkeypatch.setattr(drawn_for_all, "turns", turns)
    monkeypatch.setattr(drawn_for_all, "samples", (0, 2, 4, 0))
    with pytest.raises(RuntimeError, match="does not show which dimension counts the samples"):
        drawn_for_all.place(size)


def test_a_size_that_was_clear_in_the_step_before(monkeypatch):
    """A smaller last batch, of 2 of 4 samples, beside 6 steps in time: the samples are where they were."""
    monkeypatch.setattr(drawn_for_all, "samples", (0, 2, 4, 0))
    monkeypatch.setattr(drawn_for_all, "last", [(1, 1, False)])
    monkeypatch.setattr(drawn_for_all, "step", [])
    assert drawn_for_all.place((6, 2, 8)) == (1, 1, False)


@pytest.mark.parametrize(
    ("size", "place"), [((2, 2), (0, 1, False)), ((2, 4, 8), (0, 1, False)), ((6, 8), (0, 3, False))]
)
def test_a_size_that_does(monkeypatch, size, place):
    monkeypatch.setattr(drawn_for_all, "samples", (0, 2, 4, 0))
    assert drawn_for_all.place(size) == place


@pytest.mark.parametrize(("size", "dim"), [((2, 4, 8), 0), ((4, 2, 8), 1)])
def test_a_size_that_does_where_a_model_may_turn_its_dimensions(monkeypatch, size, dim):
    """Turned, a part of 2 of 4 samples would stand where 4 steps in time do."""
    monkeypatch.setattr(drawn_for_all, "turns", True)
    monkeypatch.setattr(drawn_for_all, "samples", (0, 2, 4, dim))
    assert drawn_for_all.place(size) == (dim, 1, False)


def few(rank: int, split: bool = True) -> Any:
    """Of no samples dropout draws nothing."""
    torch.manual_seed(3)
    for total in (4, 1, 4):
        x = torch.ones(total, 8)
        mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
        F.dropout(x[mine], 0.5)
        drawn_for_all.end()
    return torch.rand(3)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_process_without_samples_draws_what_follows_as_the_others_do(ranks):
    assert all(torch.equal(found, few(0, split=False)) for found in on_ranks(ranks, few))


def padded(rank: int, split: bool = True) -> Any:
    lengths = torch.tensor([2, 5, 3, 1])
    x = torch.arange(20.0).view(4, 5, 1) + 1
    mine, _ = my_part__exact(x) if split else (slice(None), 1.0)
    packed = pack_padded_sequence(x[mine], lengths[mine], batch_first=True, enforce_sorted=False)
    found, _ = (padded_to_longest if split else pad_packed_sequence)(packed, batch_first=True)
    drawn_for_all.end()
    if split:
        alone = pack_padded_sequence(x[rank][None], lengths[rank][None], batch_first=True)
        assert padded_to_longest(alone, batch_first=True)[0].shape[1] == lengths[rank]
    return found


def test_packed_sequences_are_padded_as_those_of_the_whole_batch():
    """In a step; an evaluation may have others on each process."""
    assert torch.equal(torch.cat(on_ranks(2, padded)), padded(0, split=False))
