"""How a training framework tells what the script would tell of a loop."""

# mypy: ignore-errors
# ruff: noqa: ARG001, ARG002

import contextlib
import math
import os

import torch
import torch.distributed as dist

from nbddp.script.parts.checkpoint import stop_asked
from nbddp.script.parts.reporting import epoch_begins, report_epoch, report_step


def ranks_here():
    """How many processes train on this machine."""
    return int(os.environ["LOCAL_WORLD_SIZE"])


def in_its_context(learner):
    """fastai's own context for several processes, which takes GPUs; one alone trains as the notebook does."""
    if dist.get_world_size() == 1:
        return contextlib.nullcontext()
    if not torch.cuda.is_available():
        raise SystemExit("fastai trains on several processes on GPUs only; without one, use --nproc 1")
    return learner.distrib_ctx()


def lightning_progress(callback):
    """A callback of Lightning's that tells how far the training is, and ends it after an epoch when asked to."""

    def begin(trainer, module):
        epochs = trainer.max_epochs
        epoch_begins(trainer.current_epoch, epochs if epochs and epochs > 0 else None)

    def step(trainer, module, outputs, batch, number):
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        batches = trainer.num_training_batches
        report_step(batches if math.isfinite(batches) else None, loss=loss)

    def end(trainer, module):
        report_epoch(**trainer.callback_metrics)
        trainer.should_stop |= stop_asked()

    return callback(on_train_epoch_start=begin, on_train_batch_end=step, on_train_epoch_end=end)


def trainer_progress(callback):
    """A callback of the Hugging Face Trainer that tells how far it is, and ends it after an epoch when asked to."""

    class Progress(callback):
        def on_epoch_begin(self, args, state, control, **_):
            epoch_begins(int(state.epoch or 0), math.ceil(state.num_train_epochs))

        def on_step_end(self, args, state, control, **_):
            report_step(state.max_steps // max(1, math.ceil(state.num_train_epochs)))

        def on_log(self, args, state, control, logs=None, **_):
            report_epoch(**(logs or {}))

        def on_epoch_end(self, args, state, control, **_):
            control.should_training_stop |= stop_asked()

    return Progress()
