"""A training that slices its batches out of tensors, written by hand: what the split script is measured against."""

import os
import time

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from bench.by_hand import Net, batch_size, epochs, free_port, lr


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    images = torch.randn(10000, 64)
    labels = (images @ torch.randn(64, 10)).argmax(1)
    model = DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    share = batch_size // world_size
    for epoch in range(epochs):
        order = torch.randperm(len(images))
        running_loss = 0.0
        began = time.perf_counter()
        for start in range(0, len(images), batch_size):
            mine = order[start + rank * share : start + (rank + 1) * share]
            loss = F.cross_entropy(model(images[mine]), labels[mine])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        rate = len(images) / batch_size / (time.perf_counter() - began)
        if rank == 0:
            print(f"epoch {epoch}: loss {running_loss / (len(images) / batch_size):.4f}, {rate:.1f} steps/s")


def run(rank, world_size):
    train(rank, world_size)
    dist.destroy_process_group()  # when DDP has gone, which would end it later, with the GIL in its hands


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    mp.spawn(run, args=(2,), nprocs=2)
