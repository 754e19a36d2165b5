"""Which loaders are shared out, and how their samplers learn the epoch."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, evaluation, plan


def shared(made: Plan) -> dict[str, str]:
    return {made.program.source(obj.node): share.how for obj, share in made.sharding.shares.items()}


def with_loader(call: str, training: str = TRAINING) -> Plan:
    return plan(IMPORTS, DATA + f"train_loader = {call}\n", MODEL, training)


@pytest.mark.parametrize(
    ("call", "how"),
    [
        ("DataLoader(train_set, batch_size=10, shuffle=True)", "sampler"),
        ("DataLoader(train_set, 10, True)", "sampler"),
        ("DataLoader(dataset=train_set, batch_size=10)", "sampler"),
        ("DataLoader(train_set, batch_size=10, sampler=torch.utils.data.RandomSampler(train_set))", "own sampler"),
        ("DataLoader(train_set, **{'batch_size': 10})", "built"),
    ],
)
def test_how_a_loader_is_shared_out(call, how):
    assert shared(with_loader(call)) == {call: how}


def test_only_training_loaders_are_shared_out():
    made = plan(*BEFORE, evaluation("n = 0", "n += len(x)", "print(n)"))
    assert len(made.sharding.loaders) == 1
    assert len(made.roles.evaluation_loaders) == 1


def test_the_sampler_gets_a_name_and_the_number_of_the_epoch():
    made = plan(*BEFORE, TRAINING)
    assert list(made.epochs.named.values()) == ["train_sampler"]
    assert [(e.sampler, e.number) for e in made.epochs.set_epoch] == [("train_sampler", "epoch")]


@pytest.mark.parametrize(
    ("header", "number"),
    [
        ("for epoch in range(3):", "epoch"),
        ("for e in range(1, 4):", "e"),
        ("for epoch, _ in enumerate(range(3)):", "epoch"),
    ],
)
def test_the_epoch_is_the_loops_variable(header, number):
    made = plan(*BEFORE, TRAINING.replace("for epoch in range(3):", header))
    assert [e.number for e in made.epochs.set_epoch] == [number]


def test_a_loader_that_does_not_shuffle_needs_no_epoch():
    made = with_loader("DataLoader(train_set, batch_size=10, shuffle=False)")
    assert not made.epochs.set_epoch


@pytest.mark.parametrize(
    ("loader", "sampler"),
    [
        ("train_loader", "train_sampler"),
        ("trainloader", "trainsampler"),
        ("trainLoader", "trainSampler"),
        ("batches", "batches_sampler"),
    ],
)
def test_names_of_samplers(loader, sampler):
    made = plan(*(cell.replace("train_loader", loader) for cell in (*BEFORE, TRAINING)))
    assert list(made.epochs.named.values()) == [sampler]


def test_a_name_that_is_taken_is_not_taken_again():
    made = plan(*BEFORE, "train_sampler = 3", TRAINING.replace("range(3)", "range(train_sampler)"))
    assert "train_sampler" not in made.epochs.named.values()
