"""A model that sorts the samples of its batch for a recurrent layer, and puts them back."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.splitting.steps import planned

MODEL = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 1)
        self.drop = nn.{layer}
    def forward(self, x, lengths):
        {sort}
        packed = nn.utils.rnn.pack_padded_sequence(self.drop(x[order]), {lengths}.cpu(), batch_first=True)
        state = self.rnn(packed)[1][-1]
        {back}
        return self.out(state)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(64, 5, 4), torch.randint(1, 6, (64,)), torch.randn(64, 1)), batch_size=8)
"""
SORT, BACK = "lengths, order = lengths.sort(0, descending=True)", "state = state[order.sort(0)[1]]"


@pytest.mark.parametrize(
    ("sort", "lengths", "back", "layer", "split"),
    [
        (SORT, "lengths", BACK, "Identity()", True),
        (SORT, "lengths", "_, back = order.sort(0)\n        state = state[back]", "Identity()", True),
        (
            "order = torch.argsort(-lengths)",
            "lengths[order]",
            "state = state[torch.argsort(order)]",
            "Identity()",
            True,
        ),
        (SORT, "lengths", "_, back = order.sort()\n        state = state.index_select(0, back)", "Identity()", True),
        (SORT, "lengths", "state = state.index_select(0, order)", "Identity()", False),
        (SORT, "lengths", "pass", "Identity()", False),
        (SORT, "lengths", f"{BACK} * lengths[:, None]", "Identity()", False),  # which are not put back
        (SORT, "lengths", f"{BACK} + order[:, None]", "Identity()", False),
        (SORT, "lengths", BACK, "Dropout(0.5)", False),  # which draws for them in another order
    ],
)
def test_what_is_put_back_is_of_each_sample(sort, lengths, back, layer, split):
    made = planned(
        "loss = F.mse_loss(model(x, n), t)",
        head="for x, n, t in loader:",
        before=MODEL.format(sort=sort, lengths=lengths, back=back, layer=layer),
        options=Options(exact=True),
    )
    assert bool(made.assumed.splits) == split
