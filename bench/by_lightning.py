"""The training of `bench.notebooks` as Lightning's users write it; `python -m bench.by_lightning` runs it alone."""

import logging
import os
import time
import warnings

import lightning
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from bench.by_hand import Net, batch_size, epochs, lr


class Training(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.running_loss, self.steps, self.began = 0.0, 0, 0.0

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.running_loss += loss.item()
        self.steps += 1
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=lr)

    def on_train_batch_end(self, *_):
        stamp = os.environ.get("BENCH_STAMP")
        if stamp and self.global_rank == 0:
            with open(stamp, "w") as file:
                file.write(str(time.time()))
        if stamp:
            self.trainer.should_stop = True

    def on_train_epoch_start(self):
        self.running_loss, self.steps, self.began = 0.0, 0, time.perf_counter()

    def on_train_epoch_end(self):
        rate = self.steps / (time.perf_counter() - self.began)
        if self.global_rank == 0:
            print(f"epoch {self.current_epoch}: loss {self.running_loss / self.steps:.4f}, {rate:.1f} steps/s")


def launch(strategy="ddp_notebook"):
    """From a script and from a kernel alike."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    images = torch.randn(10000, 64)
    labels = (images @ torch.randn(64, 10)).argmax(1)
    loader = DataLoader(TensorDataset(images, labels), batch_size=batch_size // 2, shuffle=True)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy=strategy, max_epochs=epochs, enable_model_summary=False, **quiet
    )
    trainer.fit(Training(), loader)


if __name__ == "__main__":
    launch()
