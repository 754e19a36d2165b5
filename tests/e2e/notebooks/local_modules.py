# oracle: equal
# nproc: 1 2
# values: history
# %%
import os
import sys

sys.path.append(os.path.abspath("src"))
os.environ["RUN_TITLE"] = "shapes"
os.environ.setdefault("WIDTH", "12")
os.chdir("data")

# %%
import torch
import torch.nn as nn

sys.path.append("..")
from metrics import correct, title
from nets import Net
from shapes import make_loaders

# %%
train_loader, test_loader = make_loaders(".", batch_size=12)
os.makedirs("../results", exist_ok=True)
os.chdir("../results")

# %%
torch.manual_seed(0)
model = Net(width=int(os.environ["WIDTH"]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
criterion = nn.CrossEntropyLoss()


# %%
def evaluate(loader):
    model.eval()
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += correct(model(x), y)
    model.train()
    return hits / len(loader.dataset)


# %%
history = []
for epoch in range(3):
    running = 0.0
    for x, y in train_loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    history.append(running / len(train_loader))
    print(f"{title()} epoch {epoch} loss {history[-1]:.6f} train {evaluate(train_loader):.4f} test {evaluate(test_loader):.4f}")
torch.save(model.state_dict(), "net.pt")

# %%
print(os.getcwd().rsplit("/", 1)[-1], len(history))
