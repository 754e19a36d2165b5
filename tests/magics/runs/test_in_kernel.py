"""`%%single_train` and `%%dp_train` in a real kernel: the same numbers, and in all else a cell like any other."""

from __future__ import annotations

import ast

import pytest

from tests.magics.conftest import BODY, MODEL, TRAIN
from tests.magics.kernel import ROOT

SINGLE = TRAIN.replace("ddp", "single", 1)
LONG = "epochs = 5_000\nlr = 0.05"
WEIGHTS = "[w for p in model.parameters() for w in p.flatten().tolist()]"
NOTHING_LEFT = "'__nbddp__' in globals(), type(loader.batch_sampler.sampler).__name__"


def test_the_first_word_is_all_that_changes(kernel):
    found = {}
    for mode in ("single", "dp", "ddp"):
        kernel.run(MODEL, "model")
        reply = kernel.run(TRAIN.replace("ddp", mode, 1), "train", timeout=120)
        assert reply.status == "ok", reply.error
        found[mode] = ast.literal_eval(kernel.value(f"(losses, {WEIGHTS}, len(run.history), run.state.phase)"))
        assert len(reply.displays) == 1
        assert [set(shown) for shown in reply.updates] == [
            {"text/plain", "text/html", "application/vnd.nbddp.run+json"}
        ]
    for mode in ("single", "dp"):
        for mine, theirs in zip(found[mode][:2], found["ddp"][:2], strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)
        assert found[mode][2:] == found["ddp"][2:] == (3, "done")


@pytest.mark.parametrize(("first", "then"), [("single", "dp"), ("dp", "single"), ("ddp", "single")])
def test_a_copy_of_the_cell_in_another_mode(kernel, first, then):
    for mode in (first, then):
        reply = kernel.run(TRAIN.replace("ddp", mode, 1), f"train {mode}", timeout=120)
        assert reply.status == "ok", reply.error
        assert "unchanged" not in reply.text
        assert len(reply.displays) == 1
        assert kernel.value("len(run.history), run.state.phase") == "3 done"
    for mode in (first, then):
        kernel.run("", f"train {mode}")


def test_variables_results_and_history_are_those_of_a_cell(kernel):
    kernel.aside("before, moment = model, optimizer")
    reply = kernel.run(f"{SINGLE}\nlen(losses), x.shape", "train")
    assert reply.result == "(3, torch.Size([8, 4]))"
    assert reply.text.count("loss 0.") + reply.text.count("loss 5.") == 3
    assert kernel.value("model is before, optimizer is moment, epoch, type(model).__name__") == "True True 2 Linear"
    assert kernel.value(NOTHING_LEFT) == "False RandomSampler"
    assert kernel.value("[sorted(row) for row in run.history][0]") == "['epoch', 'losses', 'seconds', 'total']"
    assert kernel.value("len(run.frame), run.state.step") == "3 24"


def test_a_traceback_shows_the_cell_and_nothing_of_nbddp(kernel):
    cell = SINGLE.replace("        optimizer.step()", "        optimizer.step()\n        assert epoch < 1, 'enough'")
    reply = kernel.run(cell, "train")
    assert reply.status == "error"
    assert "AssertionError" in reply.error
    assert "enough" in reply.error
    line = cell.split("\n").index("        assert epoch < 1, 'enough'") + 1
    assert f"line {line}" in reply.error
    assert "nbddp" not in reply.error
    assert kernel.value(NOTHING_LEFT) == "False RandomSampler"
    assert kernel.value("run.state.phase, run.state.culprit.type") == "failed AssertionError"
    kernel.aside("import builtins; answers = iter(['p epoch', 'q']); own = builtins.input")
    debugged = kernel.run("builtins.input = lambda *_: next(answers)\n%debug\nbuiltins.input = own", "debug")
    assert "enough" in debugged.text
    assert "\n1\n" in debugged.text
    kernel.run("", "debug")


def test_functions_of_other_cells_tell_how_far_they_are_and_stay_the_same(kernel):
    inside = "\n".join("    " + line for line in BODY.split("\n"))
    kernel.run(
        f"def fit(epochs):\n{inside}\n    if epochs > 3:\n        raise ValueError(epochs)\n    return losses", "fit"
    )
    kernel.aside("code = fit.__code__")
    reply = kernel.run("%%single_train\nfound = fit(3)\nlen(found)", "train")
    assert reply.result == "3", reply.error
    assert kernel.value("[row['total'] / len(loader) for row in run.history] == found") == "True"
    assert kernel.value("fit.__code__ is code") == "True"
    failed = kernel.run("%%single_train\nfound = fit(4)", "train")
    assert "ValueError" in failed.error
    assert "nbddp" not in failed.error
    assert f"line {len(BODY.splitlines()) + 3}" in failed.error
    assert kernel.value("fit.__code__ is code, len(run.history)") == "True 4"
    kernel.run("", "fit")


def test_an_interrupt_ends_it_as_it_ends_a_cell(kernel):
    kernel.run(LONG, "parameters", ("parameters",))
    asked = kernel.send(SINGLE.replace("single", "dp", 1), "train")
    while "epoch" not in kernel.client.get_iopub_msg(timeout=30)["content"].get("text", ""):
        pass  # the training prints, and not only that there is no GPU: it has begun
    kernel.interrupt()
    reply = kernel.result(asked)
    assert reply.status == "error"
    assert "KeyboardInterrupt" in reply.error
    assert kernel.value("run.state.phase") == "stopped"
    assert kernel.value(NOTHING_LEFT) == "False RandomSampler"
    assert kernel.value("6 * 7") == "42"


@pytest.mark.parametrize("grade", ["epoch", "now"])
def test_the_buttons_stop_it(kernel, grade):
    kernel.run(LONG, "parameters", ("parameters",))
    kernel.aside(
        "import threading, time\nglobals().pop('run', None)\n"
        "def press():\n    while 'run' not in globals() or not run.state.step: time.sleep(0.01)\n"
        f"    run.stop({grade!r})\nthreading.Thread(target=press).start()"
    )
    reply = kernel.run(SINGLE, "train")
    assert kernel.value("run.state.phase") == "stopped"
    if grade == "epoch":
        assert reply.status == "ok", reply.error
        assert kernel.value("len(losses) == epoch + 1 == len(run.history)") == "True"
    else:
        assert "KeyboardInterrupt" in reply.error


def test_a_loss_that_is_no_number_is_told(kernel):
    kernel.aside("for group in optimizer.param_groups: group['lr'] = 1e30")
    reply = kernel.run(SINGLE, "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("run.state.nan is not None") == "True"
    assert "is not a finite number" in reply.updates[-1]["text/plain"]


def test_magics_in_the_cell_and_around_it_and_await(kernel):
    cell = SINGLE.replace("epochs):", "epochs):\n    %time later = 1", 1)
    cell = cell.replace("losses = []", "import asyncio\nawait asyncio.sleep(0)\nhere = %pwd\nlosses = []")
    reply = kernel.run(cell, "train")
    assert reply.status == "ok", reply.error
    assert reply.text.count("Wall time") == 3
    assert kernel.value("isinstance(here, str), later, len(run.history)") == "True 1 3"
    timed = kernel.run(f"%%time\n{SINGLE}", "train")
    assert timed.status == "ok", timed.error
    assert timed.text.count("Wall time") == 1
    assert kernel.value("len(run.history)") == "3"


def test_a_cell_that_is_not_understood_runs_unchanged(kernel):
    reply = kernel.run("%%single_train\nanswer = 6 * 7\nanswer", "train")
    assert (reply.status, reply.result) == ("ok", "42")
    assert "This cell runs unchanged, without a live view of its training: " in reply.text
    one = "    loss = (model(xs[step]) - ys[step]).square().mean()\n    loss.backward()"  # a single sample in each step
    whole = f"%%dp_train\nfor step in range(3):\n{one}"
    reply = kernel.run(whole, "train")
    assert reply.status == "ok", reply.error
    assert "no training loop over a DataLoader was found" in reply.text
    assert kernel.value("step") == "2"


def test_a_syntax_error_is_the_shells_own(kernel):
    reply = kernel.run("%%single_train\nfor epoch in range(3)\n    pass", "train")
    assert reply.status == "error"
    assert "SyntaxError" in reply.error
    assert "line 2" in reply.error
    assert kernel.run(SINGLE, "train").status == "ok"


CASES = {
    "an option that there is not": ("single", "--devise cpu", "no option '--devise' (did you mean '--device'?)"),
    "a device that there is not": ("single", "--device cuda:977", "There is no device cuda:977: "),
    "no device at all": ("single", "--device gpu", "'gpu' is not a device: choose, for example, cpu"),
    "GPUs that there are not": ("dp", "--devices 976,977", "There is no GPU 976: "),
    "a fresh start": ("single", "--fresh", "run the cells that create the model and its optimizer again"),
    "parameters of a script": ("dp", "-- --lr 0.5", "set them in the notebook's cells"),
    "an open quotation mark": ("dp", "--devices '0", "No closing quotation"),
}


@pytest.mark.parametrize(("mode", "options", "sentence"), CASES.values(), ids=CASES)
def test_options_that_cannot_be(kernel, mode, options, sentence):
    kernel.aside("losses = None")
    reply = kernel.run(TRAIN.replace("ddp_train", f"{mode}_train {options}", 1), "train")
    assert reply.status == "error"
    assert sentence in reply.error
    assert "Traceback" not in reply.error
    assert kernel.value("losses") == "None"


def test_help_and_a_dry_run_run_nothing(kernel):
    kernel.aside("losses = None")
    assert "--device cuda:1" in kernel.run(SINGLE.replace("train", "train --help", 1), "train").text
    assert "--devices 0,1" in kernel.run("%%dp_train --help", "train").text
    assert "It would run this cell" in kernel.run(SINGLE.replace("train", "train --dry-run", 1), "train").text
    assert kernel.value("losses") == "None"


def test_options_for_processes_are_left_out_with_a_word(kernel):
    reply = kernel.run(TRAIN.replace("ddp_train", "dp_train --nproc 2 --background", 1), "train")
    assert reply.status == "ok", reply.error
    assert "--nproc, --background: only for runs on processes, ignored here." in reply.text
    assert "DataParallel cannot split a batch with " in reply.text


def test_another_device_for_the_cell_alone(kernel):
    reply = kernel.run(SINGLE.replace("train", "train --device cpu", 1), "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("run.state.ranks[0].device") == "cpu"


def test_auto_says_which_it_is(kernel):
    kernel.aside("import os; own = os.environ.get('CUDA_VISIBLE_DEVICES'); os.environ['CUDA_VISIBLE_DEVICES'] = ''")
    reply = kernel.run(TRAIN.replace("train", "train --mode auto", 1), "train")
    assert reply.status == "ok", reply.error
    assert "--mode auto: no GPU, so the cell trains in this kernel (single)." in reply.text
    assert kernel.value("type(run).__name__, len(run.history)") == "KernelRun 3"
    assert "invalid choice: 'atuo'" in kernel.run(TRAIN.replace("train", "train --mode atuo", 1), "train").error
    kernel.aside("os.environ.pop('CUDA_VISIBLE_DEVICES'); own is None or os.environ.update(CUDA_VISIBLE_DEVICES=own)")


def test_models_are_split_for_the_cell_alone(kernel):
    kernel.aside(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.inkernel import on_cpu\nfrom nbddp.inkernel import parallel\n"
        "from nbddp.magics.runs import compiled\n"
        "own = parallel.Split, compiled._devices\n"
        "parallel.Split, compiled._devices = on_cpu.OnCpu, lambda asked: (('cpu', 'cpu'), [])\n"
        "shapes = []\nhook = model.register_forward_hook(lambda m, i, o: shapes.append(len(o)))"
    )
    watched = "kind, keys = type(model), [*model.state_dict()]\n    losses.append"
    cell = TRAIN.replace("ddp", "dp", 1).replace("losses.append", watched)
    reply = kernel.run(cell, "train")
    assert reply.status == "ok", reply.error
    assert kernel.value("keys, kind is nn.Linear, isinstance(model, kind)") == "['weight', 'bias'] False False"
    assert kernel.value("type(model) is nn.Linear, set(shapes), run.state.warnings") == "True {8} ()"
    failed = kernel.run(cell.replace("losses.append", "1 / 0; losses.append"), "train")
    assert "ZeroDivisionError" in failed.error
    assert "nbddp" not in failed.error
    assert kernel.value("type(model) is nn.Linear") == "True"
    kernel.aside("parallel.Split, compiled._devices = own; hook.remove()")
