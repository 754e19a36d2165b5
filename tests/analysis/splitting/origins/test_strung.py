"""Samples one behind the other, as a loader's own function gives them."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.splitting.steps import planned

COLLATE = """def collate(batch):
    texts = torch.{}([x for x, _ in batch])
    return texts{}, torch.stack([t for _, t in batch])
loader = DataLoader(TensorDataset(X, y), batch_size=32, collate_fn=collate)"""


@pytest.mark.parametrize(
    ("how", "moved", "head", "words"),
    [
        ("cat", "", "for text, t in loader:", "'text' has samples of unlike lengths"),
        ("concatenate", "", "for i, (text, t) in enumerate(loader):", "'text' has samples of unlike lengths"),
        ("cat", ".to('cpu')", "for text, t in loader:", "'text' has samples of unlike lengths"),
        ("stack", "", "for text, t in loader:", ""),
        ("stack", ".to('cpu')", "for text, t in loader:", ""),
    ],
)
def test_what_a_collate_function_strings_together(how, moved, head, words):
    made = planned(
        "loss = F.mse_loss(model(text), t)", head=head, before=COLLATE.format(how, moved), options=Options(exact=True)
    )
    assert str(made.assumed.unsplit).startswith(words)
    assert bool(made.assumed.splits) is not bool(words)


def test_what_is_made_of_itself_ends():
    turned = "    for _ in batch:\n        other = texts.to('cpu')\n        texts = other.contiguous()\n    return"
    made = planned(
        "loss = F.mse_loss(model(text), t)",
        head="for text, t in loader:",
        before=COLLATE.format("stack", "").replace("    return", turned),
        options=Options(exact=True),
    )
    assert made.assumed.splits
