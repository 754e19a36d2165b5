"""How a training framework tells what a loop would tell: by a callback of its own."""

from __future__ import annotations

import importlib
import math
from typing import Any

from nbddp.run.watching.epochs import Epochs
from nbddp.run.watching.progress import Progress


def watch_lightning(trainer: Any, progress: Progress, epochs: Epochs) -> None:
    """Give Lightning's Trainer a callback of its own package; there are two, which do not mix."""
    root = type(trainer).__module__.partition(".")[0]
    package = "lightning.pytorch" if root == "lightning" else root
    callback = importlib.import_module(f"{package}.callbacks").LambdaCallback

    def begin(trainer: Any, _: Any) -> None:
        total = trainer.max_epochs
        progress.epoch_begins(trainer.current_epoch, total if total and total > 0 else None)

    def step(trainer: Any, _: Any, outputs: Any, batch: Any, number: int) -> None:  # noqa: ARG001
        if progress.step():
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            batches = trainer.num_training_batches
            progress.report_step(batches if math.isfinite(batches) else None, {"loss": loss})

    def end(trainer: Any, _: Any) -> None:
        progress.metrics(trainer.callback_metrics)
        trainer.should_stop |= epochs.stop_asked()

    trainer.callbacks.append(callback(on_train_epoch_start=begin, on_train_batch_end=step, on_train_epoch_end=end))


def watch_transformers(trainer: Any, progress: Progress, epochs: Epochs) -> None:
    """The same for the Trainer of Hugging Face."""
    base = importlib.import_module("transformers").TrainerCallback

    class Watching(base):  # type: ignore[misc, valid-type]
        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            progress.epoch_begins(int(state.epoch or 0), math.ceil(state.num_train_epochs))

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            if progress.step():
                progress.report_step(state.max_steps // max(1, math.ceil(state.num_train_epochs)), {})

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:  # noqa: ARG002
            progress.metrics(logs or {})

        def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            control.should_training_stop |= epochs.stop_asked()

    trainer.add_callback(Watching())


WATCH = {"lightning": watch_lightning, "transformers": watch_transformers}
