"""Numbers read from printed lines: the loops of tutorials and notebooks, and the lines that must give nothing."""

import math
import time

import pytest

from nbddp.run.state.printed import LONGEST, plain, read_line

VALUES = [
    ("epoch 3: loss 0.123, accuracy 98.2%", {"loss": 0.123, "accuracy": 98.2}, ("epoch", 3.0)),
    ("Epoch [2/10], Step [100/400], Loss: 0.42", {"loss": 0.42}, ("epoch", 2.25)),
    ("val_loss=0.3", {"val_loss": 0.3}, ("line", None)),
    ("[1,  2000] loss: 2.173", {"loss": 2.173}, ("line", None)),
    ("Train Epoch: 1 [640/6400 (10%)]\tLoss: 2.300000", {"loss": 2.3}, ("epoch", 1.1)),
    (
        "Test set: Average loss: 0.0512, Accuracy: 9841/10000 (98%)",
        {"average loss": 0.0512, "accuracy": 0.9841},
        ("line", None),
    ),
    ("loss: 2.301927  [    0/60000]", {"loss": 2.301927}, ("line", None)),
    (" Accuracy: 64.1%, Avg loss: 1.082345 ", {"accuracy": 64.1, "avg loss": 1.082345}, ("line", None)),
    ("Epoch 001: | Train Loss: 0.31 | Val Acc: 98.2", {"train loss": 0.31, "val acc": 98.2}, ("epoch", 1.0)),
    ("Epoch: 0001 cost = 0.123", {"cost": 0.123}, ("epoch", 1.0)),
    ("Epoch 1/10 - loss: 0.32 - acc: 0.91 - val_loss: 0.4", {"loss": 0.32, "acc": 0.91, "val_loss": 0.4}, ("epoch", 1)),
    ("epoch=5 train/loss=0.2 train/acc=0.3", {"train/loss": 0.2, "train/acc": 0.3}, ("epoch", 5.0)),
    ("Epoch 5 | loss 0.3 | lr 1e-3", {"loss": 0.3, "lr": 0.001}, ("epoch", 5.0)),
    ("iter 100: train loss 4.19, val loss 4.2", {"train loss": 4.19, "val loss": 4.2}, ("step", 100.0)),
    ("iter 100: loss 3.2134, time 23.45ms, mfu 0.1%", {"loss": 3.2134, "mfu": 0.1}, ("step", 100.0)),
    ("{'loss': 0.5, 'grad_norm': 1.2, 'epoch': 1.5}", {"loss": 0.5, "grad_norm": 1.2}, ("epoch", 1.5)),
    ("Accuracy of the network on the 10000 test images: 55 %", {"accuracy": 55.0}, ("line", None)),
    ("Accuracy for class: plane is 57.3 %", {"plane": 57.3}, ("line", None)),
    (
        "Epoch: [0][ 10/100]\tTime  0.5 ( 1.2)\tLoss 6.9 (6.95)\tAcc@1 0.78",
        {"loss": 6.9, "acc@1": 0.78},
        ("epoch", 0.1),
    ),
    ("45/100 [====>...] - ETA: 0s - loss: 0.12 - acc: 0.9", {"loss": 0.12, "acc": 0.9}, ("line", None)),
    ("loss: tensor(0.3124, grad_fn=<NllLossBackward0>)", {"loss": 0.3124}, ("line", None)),
    ("2024-01-01 12:00:00,123 - INFO - epoch 1 loss 0.5", {"loss": 0.5}, ("epoch", 1.0)),
    ("loss -1.5e-3", {"loss": -0.0015}, ("line", None)),
    ("final test accuracy 0.9812", {"final test accuracy": 0.9812}, ("line", None)),
    ("\x1b[32mloss: 0.5\x1b[0m", {"loss": 0.5}, ("line", None)),
    ("mse: 12", {"mse": 12.0}, ("line", None)),
    ("loss=inf acc=0.1", {"loss": math.inf, "acc": 0.1}, ("line", None)),
    ("epoch 2 of 7 loss 1", {"loss": 1.0}, ("epoch", 2.0)),
]

BARS = [
    (" 45%|####  | 45/100 [00:01<00:02, 40it/s]", {}, 45, 100, None),
    (
        "Epoch 3:  45%|##5   | 45/100 [00:01<00:02, 40.00it/s, loss=0.12, acc=3e-4]",
        {"loss": 0.12, "acc": 3e-4},
        45,
        100,
        3,
    ),
    ("Epoch 3/10:   0%|          | 0/100 [00:00<?, ?it/s]", {}, 0, 100, 3),
    ("train: 100%|██████████| 8/8 [00:08<00:00,  1.01s/it, loss=0.5]", {"loss": 0.5}, 8, 8, None),
    ("45it [00:01, 40.00it/s, loss=0.5]", {"loss": 0.5}, 45, None, None),
]

NOTHING = [
    "",
    "Using cuda:0 device",
    "Python 3.11.4, torch 2.13.0+cpu",
    "http://127.0.0.1:8888/",
    "saved to model_0.98.pt",
    "shape: (64, 10)",
    "Files already downloaded and verified",
    "Info: nothing",
    "5 3 0.1",
    "Loss after 10 steps: 0.5",
    "seed: 42",
    "port = 29500",
    "no numbers at all, inference done",
    "12:30:45",
]


@pytest.mark.parametrize(("line", "values", "place"), VALUES)
def test_values_and_their_place_are_read(line, values, place):
    printed = read_line(line)
    assert printed.values == values
    assert printed.place == (place[0], pytest.approx(place[1]) if place[1] is not None else None)
    assert not printed.bar


@pytest.mark.parametrize(("line", "values", "batch", "batches", "epoch"), BARS)
def test_tqdm_bars_are_understood(line, values, batch, batches, epoch):
    printed = read_line(line)
    assert printed.bar
    assert (printed.values, printed.batch, printed.batches, printed.epoch) == (values, batch, batches, epoch)


@pytest.mark.parametrize("line", NOTHING)
def test_other_lines_give_nothing(line):
    assert read_line(line) is None


def test_nan_is_read_as_such():
    assert math.isnan(read_line("epoch 1: loss nan").values["loss"])


def test_an_epoch_without_numbers_is_a_place_without_values():
    printed = read_line("Epoch 3/7 took 12.3 s")
    assert (printed.values, printed.epoch, printed.epochs) == ({}, 3.0, 7)


def test_very_long_lines_cost_little():
    began = time.perf_counter()
    for line in (
        "a" * 10_000_000,
        "a " * 100_000,
        "loss=1.5 " * 100_000,
        "1.5," * 100_000,
        "[" * 100_000,
        "' : " * 50_000,
    ):
        read_line(line)
    assert time.perf_counter() - began < 2.0
    assert read_line("loss 0.5" + "x" * LONGEST) is None


def test_plain_text_has_no_escape_sequences_and_no_control_characters():
    assert plain("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a\tb\x00c\x1b[2K") == "red link a\tb c"
    assert plain("<script>é</script>") == "<script>é</script>"
