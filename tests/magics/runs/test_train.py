"""`%%ddp_train` in a real kernel: trained on two processes, and everything is as if it had been trained right there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys

import pytest

from nbddp.export import export
from tests.magics.conftest import BODY, FILE, MODEL, TRAIN

WEIGHTS = "[round(w, 4) for w in model.weight.flatten().tolist()]"


def losses(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"loss (\d+\.\d+)", text)]


@pytest.mark.thorough
def test_the_numbers_of_the_script_run_by_hand_and_the_model_trained_in_place(kernel, folder):
    kernel.aside("before, moment = model, optimizer")
    reply = kernel.run(TRAIN, "train")
    assert reply.status == "ok", reply.error
    script = folder / "by_hand.py"
    script.write_text(export(folder / FILE).text)
    assert script.read_text() == (folder / ".nbddp" / "runs" / kernel.value("run.name") / "script.py").read_text()
    words = [sys.executable, str(script), "--nproc", "2"]
    by_hand = subprocess.run(
        words, capture_output=True, text=True, check=True, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert losses(by_hand.stdout) == [round(loss, 5) for loss in ast.literal_eval(kernel.value("losses"))]
    assert losses(by_hand.stdout) == losses(kernel.value("run.log()"))
    assert kernel.value("model is before, optimizer is moment, epoch") == "True True 2"
    assert kernel.value("len(optimizer.state_dict()['state'])") == "2"
    assert kernel.value("(model(xs) - ys).square().mean().item() < losses[-1]") == "True"
    assert kernel.value("run.history[2]['epoch'], len(run.frame)") == "2 3"
    assert kernel.value("sorted(run.load('model'))") == "['bias', 'weight']"
    assert "Not brought back: x, y (each process has its own)" in reply.text
    assert [set(shown) for shown in reply.updates] == [{"text/plain", "text/html", "application/vnd.nbddp.run+json"}]
    assert kernel.value("run.state.start") == "warm", kernel.value("run.state.why_cold")


def test_training_again_goes_on_and_fresh_begins_anew(kernel):
    kernel.run(TRAIN, "train")
    first, weights = ast.literal_eval(kernel.value("losses")), kernel.value(WEIGHTS)
    kernel.run(TRAIN, "train")
    assert ast.literal_eval(kernel.value("losses"))[0] < first[-1]
    reply = kernel.run(TRAIN.replace("train", "train --fresh", 1), "train")
    assert reply.status == "ok", reply.error
    assert ast.literal_eval(kernel.value("losses")) == first
    assert kernel.value(WEIGHTS) == weights


def test_a_history_and_the_best_so_far_of_an_earlier_cell_go_on(kernel):
    """As they would in the kernel: else a worse model would be taken for the best of all."""
    kernel.run("best, seen = 1e9, []\nkept = {'seen': seen}", "before")
    cell = TRAIN.replace("    losses.append", "    seen.append(total)\n    best = min(best, total)\n    losses.append")
    for _ in range(2):
        reply = kernel.run(cell, "train")
        assert reply.status == "ok", reply.error
    assert kernel.value("len(seen), best == min(seen), len(losses)") == "6 True 3"
    kernel.aside("best = -1.0")
    reply = kernel.run(cell, "train")
    assert kernel.value("len(seen), best, kept['seen'] is seen") == "9 -1.0 True"
    kernel.run("", "before")


TRAINER = """\
class Trainer:
    def __init__(self):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
    def fit(self, begin=0):
        for epoch in range(begin, epochs):
            for x, y in loader:
                loss = (model(x) - y).square().mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
trainer = Trainer()"""


def test_an_optimizer_that_only_a_trainer_holds_comes_back_too(kernel):
    kernel.run(TRAINER, "before")
    kernel.aside("held, moments = trainer.optimizer, 'trainer.optimizer.state[model.weight][\"momentum_buffer\"]'")
    reply = kernel.run("%%ddp_train\ntrainer.fit()", "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("held is trainer.optimizer, eval(moments).norm().item() > 0") == "True True"
    reply = kernel.run("%%ddp_train\ntrainer.fit(begin=3)", "train")
    assert "No epoch was trained" in reply.text
    kernel.run("", "before")


def test_what_the_kernel_has_counts_not_what_the_cell_would_build(kernel):
    kernel.aside(
        "with torch.no_grad(): model.weight.copy_(torch.tensor([[1.0, -2.0, 0.5, 3.0]])).sub_(model.bias.zero_())"
    )
    kernel.run(TRAIN, "train")
    assert float(kernel.value("max(losses)")) < 1e-9


def test_a_second_training_cell_does_not_train_the_first_one_again(kernel):
    kernel.run(TRAIN, "train")
    weights = kernel.value(WEIGHTS)
    reply = kernel.run(TRAIN.replace("losses", "later").replace("range(epochs)", "range(1)"), "more")
    assert reply.status == "ok", reply.error
    assert losses(kernel.value("run.log()")) == [round(float(kernel.value("later[0]")), 5)]
    assert float(kernel.value("later[0]")) <= float(kernel.value("losses[-1]"))
    assert kernel.value(WEIGHTS) != weights
    kernel.run("", "more")


def test_what_only_a_branch_of_the_first_training_cell_binds_is_there_in_the_second(kernel):
    keep = "        best = total\n        kept = copy.deepcopy(model.state_dict())\n"
    kernel.run("import copy", "before")
    cell = TRAIN.replace("    losses.append", f"    if total < best:\n{keep}    losses.append")
    assert kernel.run(cell.replace("losses = []", "losses, best = [], 1e9"), "train").status == "ok"
    kernel.aside("first = best")
    reply = kernel.run(cell.replace("range(epochs)", "range(1)"), "more")
    assert reply.status == "ok", reply.error
    assert kernel.value("best < first, sorted(kept), len(losses)") == "True ['bias', 'weight'] 1"
    kernel.run("", "more")
    kernel.run("", "before")


def test_what_an_earlier_training_has_left_by_name_is_what_the_kernel_has(kernel):
    """Its loop is skipped: the best weights, a history, and what was computed from both between the cells."""
    kernel.run("import copy\nclass Stopper:\n    best, weights = 1e9, None\nstopper = Stopper()", "before")
    keep = "        best, kept = total, copy.deepcopy(model.state_dict())\n        stopper.weights = kept\n"
    needs = "seen = [best, turns, labels.sum().item(), kept['weight'].sum().item()]\n"
    cell = TRAIN.replace("    losses.append", f"    if total < best:\n{keep}    losses.append")
    assert kernel.run(cell.replace("losses = []", "losses, best = [], 1e9"), "train").status == "ok"
    kernel.run("turns = len(losses)\nlabels = model(xs).detach().sign()", "middle")
    kernel.aside("stopper.weights = kept; was = best, len(losses), labels.sum().item(), kept['weight'].sum().item()")
    more = f"%%ddp_train\nmodel.load_state_dict(kept)\n{needs}" + BODY.replace(
        "range(epochs)", "range(turns - 2)"
    ).replace("losses", "later")
    reply = kernel.run(more, "more")
    assert reply.status == "ok", reply.error
    assert kernel.value("max(abs(a - b) for a, b in zip(was, seen)) < 1e-6, len(later)") == "True 1"
    reply = kernel.run(more.replace("kept)", "stopper.weights)", 1), "more")
    assert reply.status == "ok", reply.error
    for name in ("more", "middle", "before"):
        kernel.run("", name)


def test_what_is_made_of_a_model_between_two_trainings_is_made_of_the_trained_one(kernel):
    """A copy that teaches, and data that only a loader holds: its training is skipped, what it came to is not."""
    kernel.run("import copy", "before")
    assert kernel.run(TRAIN, "train").status == "ok"
    made = "teacher = copy.deepcopy(model)\nby_model = DataLoader(TensorDataset(xs, model(xs).detach()), batch_size=4)"
    assert kernel.run(made, "middle").status == "ok"
    kernel.aside("was = teacher.weight.sum().item(), sum(y.sum().item() for _, y in by_model)")
    needs = "seen = [teacher.weight.sum().item(), sum(y.sum().item() for _, y in by_model)]\n"
    reply = kernel.run(f"%%ddp_train\n{needs}" + BODY.replace("losses", "later"), "more")
    assert reply.status == "ok", reply.error
    assert kernel.value("max(abs(a - b) for a, b in zip(was, seen)) < 1e-5, len(later)") == "True 3"
    for name in ("more", "middle", "before"):
        kernel.run("", name)


def test_a_model_that_an_earlier_training_has_kept_is_refused_with_its_line(kernel):
    keep = "    kept = copy.deepcopy(model)\n"
    kernel.run("import copy", "before")
    assert kernel.run(TRAIN.replace("    losses.append", f"{keep}    losses.append"), "train").status == "ok"
    more = "%%ddp_train\nmodel.load_state_dict(kept.state_dict())\n" + BODY.replace("losses", "later")
    reply = kernel.run(more, "more")
    assert reply.status == "error"
    assert "line 2, needs kept, a model that the training of cell" in str(reply.error)
    for name in ("more", "before"):
        kernel.run("", name)


def test_a_sharded_model_trains_as_any_and_is_plain_again_in_the_kernel(kernel):
    kernel.run(TRAIN, "train")
    whole, weights = ast.literal_eval(kernel.value("losses")), kernel.value(WEIGHTS)
    reply = kernel.run(TRAIN.replace("train", "train --fresh --shard", 1), "train")
    assert reply.status == "ok", reply.error
    assert "fully_shard(" in kernel.value("run.folder.script.read_text()")
    assert ast.literal_eval(kernel.value("losses")) == pytest.approx(whole, abs=1e-5)
    assert kernel.value(WEIGHTS) == weights
    assert kernel.value("type(model.weight.data) is torch.Tensor, len(optimizer.state_dict()['state'])") == "True 2"
    reply = kernel.run(TRAIN.replace("train", "train --shard", 1), "train")
    assert reply.status == "ok", reply.error
    assert ast.literal_eval(kernel.value("losses"))[0] < whole[-1]


def test_what_a_sharded_model_cannot_do_is_refused_by_name(kernel):
    cell = TRAIN.replace("total += loss.item()", "total += sum(p.square().sum() for p in model.parameters()).item()")
    reply = kernel.run(cell.replace("train", "train --shard", 1), "train")
    assert reply.status == "error"
    assert "error[sharded]: 'p' is read or changed where each rank has only a part of it" in reply.error


KEEPER = """
class Keeper:
    def __init__(self):
        self.seen, self.of = [], model
keeper = Keeper()
add = lambda x, step=2: x + step + len(losses)
"""
SAME = "all(a is b for a, b in zip(model.parameters(), optimizer.param_groups[0]['params']))"


def test_what_the_cell_itself_builds_is_there_afterwards_whole(kernel):
    """The model, its optimizer that trains this very model, what a class of the cells holds, and a lambda."""
    kernel.run("", "model")
    kernel.aside("del model, optimizer")
    cell = TRAIN.replace("%%ddp_train\n", f"%%ddp_train\n{MODEL}{KEEPER}") + "\nkeeper.seen.append(add(1))\n"
    reply = kernel.run(cell, "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("list(run.load('model'))") == "['weight', 'bias']"
    assert kernel.value(f"torch.equal(model.weight, run.load('model')['weight']), {SAME}") == "True True"
    assert kernel.value("keeper.of is model, keeper.seen == [3 + len(losses)], add(2) - len(losses)") == "True True 4"


def test_an_optimizer_that_the_cell_builds_trains_the_model_that_the_kernel_has(kernel):
    built, made = MODEL.rsplit("\n", 1)
    kernel.run(f"{built}\nheld = model", "model")
    reply = kernel.run(TRAIN.replace("%%ddp_train\n", f"%%ddp_train\n{made}\n"), "train")
    assert reply.status == "ok", reply.error
    trained = "torch.equal(model.weight, run.load('model')['weight'])"
    assert kernel.value(f"held is model, {SAME}, {trained}") == "True True True"


def test_what_the_cell_builds_anew_is_not_what_was_kept_from_before(kernel):
    """As in the kernel: another model has been built and trained, and the optimizer is that model's."""
    kernel.run("", "model")
    kernel.aside("kept, state = model, {key: value.clone() for key, value in model.state_dict().items()}")
    reply = kernel.run(TRAIN.replace("%%ddp_train\n", f"%%ddp_train\n{MODEL}\n"), "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("model is kept, all(torch.equal(state[k], v) for k, v in kept.state_dict().items())") == (
        "False True"
    )
    assert kernel.value("(model(xs) - ys).square().mean().item() < losses[-1]") == "True"
    assert kernel.value("optimizer.param_groups[0]['params'][0] is model.weight") == "True"


def test_in_the_background_the_kernel_is_free(kernel):
    reply = kernel.run(TRAIN.replace("train", "train --background", 1), "train")
    assert reply.status == "ok", reply.error
    assert "<Run " in reply.result
    assert kernel.value("6 * 7") == "42"
    assert kernel.value("run.wait().phase") == "done"
    weights = kernel.value(WEIGHTS)
    kernel.aside("run.restore()")
    assert kernel.value(WEIGHTS) != weights


def test_a_script_of_its_own_and_a_dry_run(kernel, folder):
    reply = kernel.run(TRAIN.replace("train", "train --dry-run --export written.py", 1), "train")
    assert reply.status == "ok", reply.error
    assert (
        "It would train cell 5 of digits & co.ipynb, starting from the notebook's current state of: model, optimizer."
        in reply.text
    )
    assert (folder / "written.py").read_text() == export(folder / FILE).text
