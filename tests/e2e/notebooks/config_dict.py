# oracle: equal
# nproc: 1 2 3
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from torch.utils.data import DataLoader, TensorDataset

config = {
    "seed": 1,
    "lr": 0.05,
    "batch_size": 18,
    "epochs": 4,
    "hidden": [24, 12],
    "device": "cuda" if torch.cuda.is_available() else "cpu",
}

# %%
torch.manual_seed(config["seed"])
wine = load_wine()
X = torch.tensor((wine.data - wine.data.mean(0)) / wine.data.std(0), dtype=torch.float32)
y = torch.tensor(wine.target)
perm = torch.randperm(len(X))
tr, va = perm[:144], perm[144:]
loaders = dict(
    train=DataLoader(TensorDataset(X[tr], y[tr]), batch_size=config["batch_size"], shuffle=True),
    val=DataLoader(TensorDataset(X[va], y[va]), batch_size=config["batch_size"], shuffle=False),
)


def mlp(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


model = mlp([13, *config["hidden"], 3]).to(config["device"])
optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)

# %%
for epoch in range(config["epochs"]):
    loss_sum = 0.0
    for x, t in loaders["train"]:
        x, t = x.to(config["device"]), t.to(config["device"])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    correct = 0
    with torch.no_grad():
        for x, t in loaders["val"]:
            x, t = x.to(config["device"]), t.to(config["device"])
            correct += (model(x).argmax(1) == t).sum().item()
    print(f"epoch {epoch} loss {loss_sum / len(loaders['train']):.5f} val acc {correct / len(va):.4f}")

torch.save({"config": config, "state_dict": model.state_dict()}, "wine.pt")
