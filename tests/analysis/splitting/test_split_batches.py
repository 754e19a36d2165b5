"""Which batches are split, found step by step, and what is of the same samples as they are."""

from __future__ import annotations

from nbddp.analysis.splitting import split_batches
from nbddp.options import Options
from tests.analysis.cells import BEFORE, TRAINING, plan
from tests.analysis.splitting.steps import cut, planned

LOSS = "loss = F.mse_loss(model(x), t)"


def test_what_feeds_the_step_is_split_and_then_nothing_is_new():
    made = planned(f"x, t = draw(X, y)\n{LOSS}", before="from drawing import draw")
    assert cut(made) == ["x", "t"]
    assert not made.assumed.unsplit
    assert split_batches(made) is made.assumed


def test_data_that_stand_in_columns_are_split_in_their_second_dimension():
    made = planned(
        "out = W @ Xt\nloss = F.mse_loss(out, yt)\nW.grad",
        before="W = torch.randn(1, 4).requires_grad_()\nXt, yt = torch.randn(4, 60), torch.randn(1, 60)",
    )
    assert [s.dim for s in made.assumed.splits] == [1]
    assert split_batches(made) is made.assumed


def test_what_is_turned_where_it_is_read_is_split_as_it_stands():
    made = planned(
        "out = W @ X.T\nloss = F.mse_loss(out, y.T)\nW.grad", before="W = torch.randn(1, 4).requires_grad_()"
    )
    assert [(s.names, s.dim) for s in made.assumed.splits] == [(("X", "y"), 0)]
    assert split_batches(made) is made.assumed


def test_where_one_cannot_be_split_none_is_and_the_reason_is_kept():
    made = planned("loss = F.mse_loss(model(X[step]), y[step])")
    assert made.assumed.splits == ()
    assert made.assumed.unsplit.startswith("'X[step]' is a single sample")
    assert split_batches(made) is made.assumed


def test_all_ranks_draw_alike_from_a_loader_where_batches_are_split_exactly():
    made = plan(*BEFORE, TRAINING, options=Options(exact=True))
    assert len(made.assumed.alike) == 1
    assert len(made.assumed.splits) == 1
    assert not plan(*BEFORE, TRAINING).assumed.alike


def test_without_a_loader_the_same_is_split_where_the_numbers_are_to_be_exact():
    step = f"x, t = X[step * 10 : step * 10 + 10], y[step * 10 : step * 10 + 10]\n{LOSS}"
    made = planned(step, options=Options(exact=True))
    assert cut(made) == cut(planned(step)) == ["x", "t"]
