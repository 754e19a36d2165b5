"""notebooks/plain_loop.py as a person would write it for several processes: what the runner is tested with."""

import argparse
import json
import os
import socket
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class MLP(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(64, hidden)
        self.fc2 = nn.Linear(hidden, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def summed(*numbers):
    total = torch.tensor(numbers, dtype=torch.float64)
    dist.all_reduce(total)
    return total.tolist()


def train(rank, world_size, seed):
    torch.manual_seed(seed)
    torch.manual_seed(42)
    digits = load_digits()
    data = torch.tensor(digits.data / 16.0, dtype=torch.float32)
    target = torch.tensor(digits.target)
    train_set, held_out = TensorDataset(data[:1500], target[:1500]), TensorDataset(data[1500:], target[1500:])
    sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=60 // world_size, sampler=sampler)
    val_loader = DataLoader(held_out, batch_size=60, sampler=range(rank, len(held_out), world_size))
    net = MLP()
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        running_loss = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running_loss += loss.item() / len(train_loader) / world_size
        with torch.no_grad():
            correct = sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader)
        running_loss, correct = summed(running_loss, correct)
        if rank == 0:
            print(f"Epoch [{epoch + 1}/4] loss: {running_loss:.6f} val acc: {100 * correct / len(held_out):.4f}%")
    if rank == 0:
        torch.save(net.state_dict(), "mlp.pt")
        states = {"model": net.state_dict(), "optimizer": optimizer.state_dict()}
        result = {"format": 1, "states": states, "values": {"running_loss": running_loss}, "left_out": {}}
        torch.save(result, os.environ["NBDDP_RESULT"])


def run_rank(rank, world_size, port, seed):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world_size)
    train(rank, world_size, seed)
    dist.barrier()  # gloo's threads let go of the last tensors first (pytorch/pytorch#179291)
    dist.destroy_process_group()
    with Path(os.environ["NBDDP_EVENTS"]).open("a") as events:
        events.write(json.dumps({"event": "end", "time": time.time(), "rank": rank}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(run_rank, args=(options.nproc, port, options.seed), nprocs=options.nproc)


if __name__ == "__main__":
    main()
