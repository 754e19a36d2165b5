# oracle: equal
# nproc: 2
# %%
# one loss over models in a dictionary, optimizers made beside them, both gone through by values()
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
nets = {"encoder": nn.Linear(12, 16), "decoder": nn.Linear(16, 12), "classes": nn.Linear(16, 4)}
optimizers = {name: torch.optim.SGD(part.parameters(), lr=0.2) for name, part in nets.items()}
probes = [nn.Linear(12, 4) for _ in range(2)]
plain = nn.Linear(12, 4)
of_plain = torch.optim.SGD(plain.parameters(), lr=0.1)
of_probes = [torch.optim.SGD(probe.parameters(), lr=0.1 * (i + 1)) for i, probe in enumerate(probes)]

# %%
for epoch in range(3):
    total, on_probes = 0.0, 0.0
    for xb, yb in train_loader:
        code = torch.tanh(nets["encoder"](xb))
        losses = {"again": F.mse_loss(nets["decoder"](code), xb), "class": F.cross_entropy(nets["classes"](code), yb)}
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        loss = 0.0
        for part in losses.values():
            loss = loss + part
        loss.backward()
        for optimizer in optimizers.values():
            optimizer.step()
        for part in losses.values():
            total += part.item()

        for optimizer in of_probes:
            optimizer.zero_grad()
        loss = sum(F.cross_entropy(probe(xb), yb) for probe in probes)
        loss.backward()
        for optimizer in of_probes:
            optimizer.step()
        on_probes += loss.item()

        loss = F.cross_entropy(plain(xb), yb)
        of_plain.zero_grad()
        loss.backward()
        of_plain.step()
    print(f"epoch {epoch}: {total / len(train_loader):.6f} {on_probes / len(train_loader):.6f}")
