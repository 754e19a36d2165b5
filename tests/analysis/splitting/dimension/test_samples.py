"""The dimension that counts the samples, by what shows it."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.dimension.sequences import DRAWN, LOSS, OUT, sequences

UNCLEAR = "not clear which one counts the samples"
ONE = "x, t = tokens[step : step + 5], tokens[step + 1 : step + 6]"
MADE = "x, t = torch.randint(0, 9, (5, {size})), torch.randint(0, 9, (5, {size}))"
STATE = "state = torch.zeros(1, x.size(1), 8)\n        " + OUT


@pytest.mark.parametrize(
    ("drawn", "forward", "layer", "found"),
    [
        (DRAWN, OUT, "GRU(4, 8)", 1),
        (DRAWN, OUT, "GRU(4, 8, batch_first=False)", 1),
        (MADE.format(size=6), OUT, "GRU(4, 8)", 1),
        (ONE, STATE, "GRU(4, 8)", 1),
        ("x = torch.stack([tokens[i : i + 5] for i in range(4)], dim=1)\nt = x * 1", OUT, "LSTM(4, 8)", 1),
        ("idx = torch.randint(0, 10, (4,))\nx, t = several[:, idx], several[:, idx]", OUT, "GRU(4, 8)", 1),
        (ONE, OUT, "GRU(4, 8)", UNCLEAR),
        (MADE.format(size=1), OUT, "GRU(4, 8)", UNCLEAR),
        (DRAWN, OUT, "GRU(4, 8, batch_first=True)", "where the model has the samples"),
        (ONE, OUT + "  # ddp: samples in dim 1", "GRU(4, 8)", 1),
        (ONE, OUT + "  # ddp: samples in dim 0", "GRU(4, 8)", 0),
        (ONE, OUT + "  #| ddp: samples in dimension 1", "GRU(4, 8)", 1),
        (ONE, OUT + "  # ddp: samples in dim 2", "GRU(4, 8)", "not along dim 2"),
    ],
)
def test_the_dimension(drawn, forward, layer, found):
    made = sequences(drawn, forward=forward, layer=layer)
    if isinstance(found, str):
        assert made.assumed.unsaid
        assert found in made.assumed.unsplit
    else:
        assert [s.dim for s in made.assumed.splits] == [found]


@pytest.mark.parametrize(
    "forward",
    [
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(h[:, -1])",
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(h.mean(1))",
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(torch.softmax(h, dim=1))",
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(h @ h.transpose(-2, -1) @ h)",
    ],
)
def test_what_goes_along_the_samples_is_not_split(forward):
    assert "second dimension, which counts the samples" in sequences(forward=forward).assumed.unsplit


@pytest.mark.parametrize(
    "forward",
    [
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(h.relu() + self.embed(x).mean(0))",
        "h, state = self.rnn(self.embed(x), state)\n        return self.out(h[:, :, :8])",
    ],
)
def test_what_goes_along_time_is(forward):
    assert sequences(forward=forward, loss=LOSS).assumed.unsplit == ""


@pytest.mark.parametrize(
    ("drawn", "dims"),
    [
        ("x = torch.transpose(rows[step : step + 8], 0, 1)\nt = x * 1", [1]),
        ("x = rows[step : step + 8].transpose(0, 1)\nt = x * 1", [1]),
        ("x = rows[step : step + 8]\nt = x * 1", []),
    ],
)
def test_rows_that_are_cut_out_and_put_side_by_side_are_samples(drawn, dims):
    made = sequences(drawn, before="from drawing import draw\nrows = draw()\n")
    assert [s.dim for s in made.assumed.splits] == dims
