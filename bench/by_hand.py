"""The training of `bench.notebooks` as a script written by hand: what the exported one is measured against."""

import os
import socket
import time

import torch
import torch.distributed as dist
import torch.distributed.nn  # before there is a group: imported later, by DDP, its defaults would keep it
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

lr = 0.1
batch_size = 50
epochs = 12


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def train(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(0)
    images = torch.randn(10000, 64)
    labels = (images @ torch.randn(64, 10)).argmax(1)
    train_set = TensorDataset(images, labels)
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=sampler)
    device = torch.device("cpu")
    model = DistributedDataParallel(Net().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        running_loss = 0.0
        began = time.perf_counter()
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        total = torch.tensor(running_loss, dtype=torch.float64)
        dist.all_reduce(total)  # of all samples, as the notebook prints it
        running_loss = total.item() / world_size
        rate = len(train_loader) / (time.perf_counter() - began)
        if rank == 0:
            print(f"epoch {epoch}: loss {running_loss / len(train_loader):.4f}, {rate:.1f} steps/s")


def run(rank, world_size):
    train(rank, world_size)
    dist.destroy_process_group()  # when DDP has gone, which would end it later, with the GIL in its hands


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


if __name__ == "__main__":
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    mp.spawn(run, args=(2,), nprocs=2)
