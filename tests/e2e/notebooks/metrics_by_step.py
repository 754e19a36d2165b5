# oracle: equal
# values: perplexity error low right hits noted each guesses
# %%
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)
loader = DataLoader(TensorDataset(X[:960], y[:960]), batch_size=96)
model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

# %%
for epoch in range(3):
    perplexity, error, low, right, hits, noted = 0, 0, 0, 0, 0, []
    each, guesses = [], torch.zeros(960)
    for step, (x, t) in enumerate(loader):
        output = model(x)
        loss = F.cross_entropy(output, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        perplexity += torch.exp(loss).item()
        error += F.mse_loss(output.softmax(1), F.one_hot(t, 10).float()).sqrt().item()
        noted.append(torch.sqrt(loss.detach()))
        if (loss < 2).item():
            low += 1
        predicted = output.argmax(1)
        right += sum([1 for p, q in zip(predicted, t) if p == q])
        for p, q in zip(predicted, t):
            each.append(int(p == q))
        guesses[step * len(x) : (step + 1) * len(x)] = predicted
        hits += accuracy_score(t, predicted, normalize=False)
    print(f"epoch {epoch}: {perplexity / len(loader):.4f} {error / len(loader):.4f} {low} {right} {hits}")
    print(f"{torch.stack(noted).mean():.4f} {sum(each) / len(each):.4f} {guesses.sum():.0f}")
