# oracle: equal
# nproc: 1 2
# %%
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="toy regression")
parser.add_argument("--batch-size", type=int, default=32, metavar="N")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args([])
args.cuda = not args.no_cuda and torch.cuda.is_available()
args

# %%
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)

x = torch.randn(480, 7)
y = x @ torch.randn(7, 2)
train_loader = DataLoader(TensorDataset(x[:384], y[:384]), batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(TensorDataset(x[384:], y[384:]), batch_size=args.batch_size)

model = nn.Linear(7, 2)
if args.cuda:
    model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)


# %%
def train(epoch):
    model.train()
    total = 0
    for batch_idx, (data, target) in enumerate(train_loader):
        if args.cuda:
            data, target = data.cuda(), target.cuda()
        optimizer.zero_grad()
        loss = F.mse_loss(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Train epoch {epoch}: {total / len(train_loader):.6f}")


def test(epoch):
    model.eval()
    total = 0
    with torch.no_grad():
        for data, target in test_loader:
            if args.cuda:
                data, target = data.cuda(), target.cuda()
            total += F.mse_loss(model(data), target, reduction="sum").item()
    print(f"Test epoch {epoch}: {total / (2 * len(test_loader.dataset)):.6f}")


# %%
for epoch in range(args.epochs):
    train(epoch)
    test(epoch)
torch.save(model.state_dict(), "linear.pt")
