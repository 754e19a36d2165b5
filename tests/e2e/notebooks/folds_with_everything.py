# oracle: equal
# nproc: 2
# metrics: epoch|score
# values: scores
# %%
# folds, accumulation with a rest, a scaler that is off, the best weights of each fold, a log, out-of-fold predictions
import json

import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import StratifiedKFold
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 0.8).long()
data = TensorDataset(x, y)
criterion = nn.CrossEntropyLoss()
use_amp = torch.cuda.is_available()
accumulate = 2

# %%
scores = []
out_of_fold = np.zeros((240, 3))
log = open("log.json", "w")
for fold, (inside, outside) in enumerate(StratifiedKFold(3, shuffle=True, random_state=1).split(x, y)):
    torch.manual_seed(5)
    model = nn.Linear(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.2)
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    train_loader = DataLoader(Subset(data, inside), batch_size=16, shuffle=False)
    valid_loader = DataLoader(Subset(data, outside), batch_size=16, shuffle=False)
    best = np.inf
    for epoch in range(2):
        model.train()
        optimizer.zero_grad()
        total = 0.0
        for i, (xb, yb) in enumerate(train_loader):
            with torch.autocast("cuda", enabled=use_amp):
                loss = criterion(model(xb), yb) / accumulate
            scaler.scale(loss).backward()
            if (i + 1) % accumulate == 0 or (i + 1) == len(train_loader):
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            total += loss.item() * accumulate
        model.eval()
        predictions, valid_loss = [], 0.0
        with torch.no_grad():
            for xb, yb in valid_loader:
                output = model(xb)
                predictions.append(output.softmax(1).numpy())
                valid_loss += criterion(output, yb).item() * len(xb)
        predictions = np.concatenate(predictions)
        valid_loss /= len(outside)
        if valid_loss < best:
            best = valid_loss
            torch.save(model.state_dict(), f"fold_{fold}.pt")
            out_of_fold[outside] = predictions
        json.dump({"fold": fold, "epoch": epoch, "loss": round(valid_loss, 4)}, log)
        print(f"epoch {epoch} of fold {fold}: {total / len(train_loader):.5f} {valid_loss:.5f}")
    scores.append(best)
log.close()
print(f"score {np.mean(scores):.5f}, accuracy {(out_of_fold.argmax(1) == y.numpy()).mean():.4f}")
