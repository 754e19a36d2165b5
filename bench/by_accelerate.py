"""The training of `bench.notebooks` as Accelerate's users write it; `python -m bench.by_accelerate` runs it alone."""

import os
import time

import torch
import torch.nn.functional as F
from accelerate import Accelerator, notebook_launcher
from torch.utils.data import DataLoader, TensorDataset

from bench.by_hand import Net, batch_size, epochs, free_port, lr


def train():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    images = torch.randn(10000, 64)
    labels = (images @ torch.randn(64, 10)).argmax(1)
    loader = DataLoader(TensorDataset(images, labels), batch_size=batch_size // accelerator.num_processes, shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    stamp = os.environ.get("BENCH_STAMP")
    for epoch in range(epochs):
        model.train()
        running_loss = 0.0
        began = time.perf_counter()
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            if stamp and accelerator.is_main_process:
                with open(stamp, "w") as file:
                    file.write(str(time.time()))
            if stamp:
                return
            running_loss += loss.item()
        rate = len(loader) / (time.perf_counter() - began)
        accelerator.print(f"epoch {epoch}: loss {running_loss / len(loader):.4f}, {rate:.1f} steps/s")


def launch():
    """From a script and from a kernel alike."""
    notebook_launcher(train, num_processes=2, use_port=str(free_port()))


if __name__ == "__main__":
    launch()
