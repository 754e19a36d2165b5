# oracle: equal
# nproc: 1 2
# %%
# after "Make Your First GAN": the module owns its optimizer and overrides train()
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(8, 24),
            nn.LeakyReLU(0.02),
            nn.Linear(24, 1),
            nn.Sigmoid(),
        )
        self.loss_function = nn.MSELoss()
        self.optimiser = torch.optim.Adam(self.parameters(), lr=0.01)
        # counter and accumulator for progress
        self.counter = 0
        self.progress = []

    def forward(self, inputs):
        return self.model(inputs)

    def train(self, inputs, targets):
        outputs = self.forward(inputs)
        loss = self.loss_function(outputs, targets)

        # increase counter and accumulate error every 5
        self.counter += 1
        if self.counter % 5 == 0:
            self.progress.append(loss.item())

        # zero gradients, perform a backward pass, update weights
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()


# %%
x = torch.rand(360, 8)
y = (x.mean(1, keepdim=True) > 0.5).float()
train_loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=20)
C = Classifier()

# %% tags=["ddp-train"]
epochs = 4
for i in range(epochs):
    total = 0.0
    for inputs, targets in train_loader:
        total += C.train(inputs, targets)
    with torch.no_grad():
        score = sum(((C(a) > 0.5) == b.bool()).sum().item() for a, b in test_loader)
    print(f"training epoch {i + 1} of {epochs}: loss {total / len(train_loader):.5f} score {score / 60:.4f}")
torch.save(C.state_dict(), "classifier.pt")
