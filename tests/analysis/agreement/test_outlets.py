"""Where a number of one rank's share gets out."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.agreement import always_displayed, outlets
from nbddp.analysis.agreement.outlets import displayed
from tests.analysis.cells import BEFORE, batch, evaluation, plan

NAMES = """
import logging
from torch.optim.lr_scheduler import ReduceLROnPlateau
scheduler = ReduceLROnPlateau(optimizer)
log = []
"""


def found(made: Plan) -> list[tuple[str, str | None, bool]]:
    return [(made.program.source(o.node), o.way, o.decides) for o in outlets(made)]


def let_out(*lines: str) -> list[str]:
    return [source for source, _, _ in found(plan(*BEFORE, NAMES, batch(*lines)))]


def test_the_size_of_what_is_kept_of_a_batch_is_that_of_a_share() -> None:
    assert let_out("model.seen = model(x).detach()", "print(model.seen.shape)") == ["model.seen"]


@pytest.mark.parametrize(
    ("line", "sources"),
    [
        ("print(loss.item())", ["loss.item()"]),
        ("print(epoch, loss.item(), len(x))", ["loss.item()", "len(x)"]),
        ("print(f'{epoch} {loss.item():.3f}')", ["loss.item()"]),
        ("print('%d %f' % (epoch, loss.item()))", ["loss.item()"]),
        ("print('{}'.format(loss))", ["loss"]),
        ("print(round(loss.item(), 3))", ["loss.item()"]),
        ("print({'loss': loss.item()})", ["loss.item()"]),
        ("logging.info('%f', loss.item())", ["loss.item()"]),
        ("print(x.max().item())", ["x.max().item()"]),
        ("torch.save(loss, 'loss.pt')", ["loss"]),
        ("scheduler.step(loss)", ["loss"]),
        ("optimizer.param_groups[0]['lr'] = 0.1 * loss.item()", ["0.1 * loss.item()"]),
    ],
)
def test_numbers_of_the_share_are_found(line, sources):
    assert let_out(line) == sources


@pytest.mark.parametrize(
    "line",
    [
        "print(epoch)",
        "print(len(train_loader))",
        "print(f'{epoch} of 3')",
        "n = loss.item()",
        "print('a', end='')",
        "optimizer.param_groups[0]['lr'] = 0.1 * epoch",
        "log.append(loss.item())",  # which the loop's end combines
    ],
)
def test_what_is_alike_or_stays_inside_is_none(line):
    assert let_out(line) == []


def test_a_scheduler_is_steered_and_a_print_is_not():
    made = plan(*BEFORE, NAMES, batch("scheduler.step(loss)", "print(loss)"))
    assert found(made) == [("loss", "mean_over_ranks", True), ("loss", "mean_over_ranks", False)]


def test_where_not_all_ranks_come_nothing_combines_it():
    made = plan(*BEFORE, NAMES, batch("if x.max() > 1:", "    print(loss)"))
    assert found(made) == [("loss", None, False)]


def test_what_an_evaluation_run_whole_shows_is_whole():
    assert found(plan(*BEFORE, evaluation("n = 0", "print(F.cross_entropy(model(x), y))", "pass"))) == []


SHOWN = "import wandb\nfrom tqdm import tqdm\nbar = tqdm(range(3))\nkept = []\n"


def shown(*lines: str, before: str = "") -> str | None:
    made = plan(*BEFORE, SHOWN, before or "pass", batch(*lines))
    calls = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.Call) and any(
        isinstance(a, ast.Name) and a.id == "row" for a in [*n.args, *(k.value for k in n.keywords)])]  # fmt: skip
    call = max(calls, key=lambda c: c.lineno)
    name = next(n for n in ast.walk(call) if isinstance(n, ast.Name) and n.id == "row")
    found = displayed(made, call, name)
    assert (found is not None) is always_displayed(made, name)
    return None if found is None else ", ".join(map(ast.unparse, found))


@pytest.mark.parametrize(
    ("lines", "record"),
    [
        (["row = {'loss': loss.item()}", "wandb.log(row)"], "{'loss': loss.item()}"),
        (["row = {'loss': loss.item()}", "print(row)", "wandb.log(row)"], "{'loss': loss.item()}"),
        (["row = {'loss': loss.item()}", "bar.set_postfix(**row)"], "{'loss': loss.item()}"),
        (["row = {}", "row['loss'] = loss.item()", "wandb.log(row)"], "loss.item()"),
        (["row = {'n': 1}", "row['loss'] = loss.item()", "print(row)"], "{'n': 1}, loss.item()"),
        (["row = f'{loss.item()}'", "print(row)"], "f'{loss.item()}'"),
        (["row = '%f' % loss.item()", "print(row)"], "'%f' % loss.item()"),
        (["row = '{}'.format(loss.item())", "print(row)"], "'{}'.format(loss.item())"),
    ],
)
def test_the_record_that_is_shown(lines, record):
    assert shown(*lines) == record


@pytest.mark.parametrize(
    "lines",
    [
        ["row = {'loss': loss.item()}", "kept.append(row)", "wandb.log(row)"],
        ["row = {'loss': loss.item()}", "n = row['loss']", "wandb.log(row)"],
        ["row = {**{}, 'loss': loss.item()}", "wandb.log(row)"],
        ["row = f'{loss.item()}'", "row = row + '!'", "print(row)"],
        ["row = loss.item()", "print(row)"],
        ["if x.max() > 1:", "    row = f'{loss.item()}'", "print(row)"],
    ],
)
def test_what_goes_elsewhere_too_is_none(lines):
    assert shown(*lines, before="row = ''" if lines[0].startswith("if") else "") is None
