# oracle: alike 0.3
# nproc: 2
# %%
# a generator of batches for the training and for evaluations, of a data set that is told its split
import torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Both(Dataset):
    def __init__(self):
        self.parts = {"train": torch.randn(64, 4), "val": torch.randn(24, 4)}
        self.set_split("train")

    def set_split(self, split):
        self.now = self.parts[split]

    def __len__(self):
        return len(self.now)

    def __getitem__(self, i):
        return {"x": self.now[i], "y": self.now[i].sum(0, keepdim=True)}


def generate_batches(dataset, batch_size, shuffle=True, drop_last=True, device="cpu"):
    dataloader = DataLoader(
        dataset=dataset, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last
    )
    for data in dataloader:
        out = {}
        for name, tensor in data.items():
            out[name] = data[name].to(device)
        yield out


# %%
dataset = Both()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = {"train": [], "val": []}
# %%
for epoch in range(3):
    dataset.set_split("train")
    batches = generate_batches(dataset, batch_size=8)
    running = 0.0
    model.train()
    for i, batch in enumerate(batches):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(batch["x"]), batch["y"])
        loss.backward()
        optimizer.step()
        running += (loss.item() - running) / (i + 1)
    history["train"].append(running)
    dataset.set_split("val")
    batches = generate_batches(dataset, batch_size=8, shuffle=False)
    running = 0.0
    model.eval()
    for i, batch in enumerate(batches):
        loss = nn.functional.mse_loss(model(batch["x"]), batch["y"])
        running += (loss.item() - running) / (i + 1)
    history["val"].append(running)
    print(f"epoch {epoch}: loss {history['train'][-1]:.4f}")
