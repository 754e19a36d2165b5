# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import random

import torch
from torch import nn

true_w, true_b = torch.tensor([2, -3.4]), 4.2
features = torch.randn(1000, 2)
labels = features @ true_w + true_b


# %%
def data_iter(batch_size, features, labels):
    num_examples = len(features)
    indices = list(range(num_examples))
    # The examples are read at random, in no particular order
    random.shuffle(indices)
    for i in range(0, num_examples, batch_size):
        batch_indices = torch.tensor(indices[i: min(i + batch_size, num_examples)])
        yield features[batch_indices], labels[batch_indices]


net = nn.Linear(2, 1)
trainer = torch.optim.SGD(net.parameters(), lr=0.03)

# %% tags=["ddp-train"]
for epoch in range(3):
    for X, y in data_iter(10, features, labels):
        l = ((net(X).squeeze(1) - y) ** 2).mean()
        trainer.zero_grad()
        l.backward()
        trainer.step()
    print(f"epoch {epoch + 1}, loss {l:f}")
