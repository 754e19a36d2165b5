# refused: shard
# %%
# one random pair a step, and a coin in the control flow
import random

import torch
import torch.nn as nn

pairs = [(torch.randint(0, 9, (5,)), torch.randint(0, 9, (4,))) for _ in range(100)]
encoder, decoder = nn.Embedding(9, 8), nn.Linear(8, 9)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)


def train(source, target):
    optimizer.zero_grad()
    hidden = encoder(source).mean(0)
    loss = 0
    forced = random.random() < 0.5
    for token in target:
        out = decoder(hidden)
        loss += nn.functional.cross_entropy(out.unsqueeze(0), token.unsqueeze(0))
        if forced:
            hidden = hidden + encoder(token)
    loss.backward()
    optimizer.step()
    return loss.item() / len(target)


# %%
total = 0.0
for step in range(1, 201):
    source, target = random.choice(pairs)
    total += train(source, target)
    if step % 50 == 0:
        print(step, total / 50)
        total = 0.0
