# refused: reinforcement|loader|shard|environment
# %%
import random
from collections import deque

import torch
import torch.nn as nn
import torch.optim as optim


class Corridor:
    """Walk right ten times."""

    def reset(self):
        self.x = 0
        return torch.tensor([0.0])

    def step(self, action):
        self.x += 1 if action == 1 else -1
        done = abs(self.x) >= 10
        return torch.tensor([float(self.x)]), float(self.x >= 10), done


env = Corridor()
policy_net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 2))
target_net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 2))
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.Adam(policy_net.parameters(), lr=1e-3)
memory = deque(maxlen=1000)
BATCH_SIZE = 32
GAMMA = 0.9

# %%
def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    batch = random.sample(memory, BATCH_SIZE)
    s, a, r, s2 = zip(*batch)
    s, s2, r = torch.stack(s), torch.stack(s2), torch.tensor(r)
    q = policy_net(s).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = r + GAMMA * target_net(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# %% tags=["ddp-train"]
for i_episode in range(20):
    state = env.reset()
    for t in range(100):
        action = random.randrange(2) if random.random() < 0.3 else policy_net(state).argmax().item()
        next_state, reward, done = env.step(action)
        memory.append((state, action, reward, next_state))
        state = next_state
        optimize_model()
        if done:
            break
    target_net.load_state_dict(policy_net.state_dict())
    print("episode", i_episode, "lasted", t)
