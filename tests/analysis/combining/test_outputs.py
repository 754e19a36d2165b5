"""Calls that show or log, and keep nothing."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.combining import lets_out
from tests.analysis.cells import BEFORE, batch, node, plan

NAMES = """
import logging
import matplotlib.pyplot as plt
import wandb
from loguru import logger as log_of_loguru
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
logger = logging.getLogger()
file = open("log.txt", "w")
log = []

def show(value):
    print(value)
"""


@pytest.mark.parametrize(
    ("call", "yes"),
    [
        ("print(loss)", True),
        ("logging.info(loss)", True),
        ("logger.info(loss)", True),
        ("wandb.log({'loss': loss})", True),
        ("writer.add_scalar('loss', loss, epoch)", True),
        ("file.write(str(loss))", True),
        ("log.append(loss)", False),
        ("log_of_loguru.info(loss)", True),
        ("display(loss)", True),
        ("plt.scatter(epoch, loss)", True),
        ("len(log)", False),
        ("show(loss)", False),  # the call inside of it does
        ("str(loss)", False),
    ],
)
def test_lets_out(call, yes):
    made = plan(*BEFORE, NAMES, batch(call))
    assert lets_out(made.facts.calls[node(made, ast.Call, call)]) is yes
