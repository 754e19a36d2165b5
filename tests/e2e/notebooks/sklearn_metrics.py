# oracle: equal
# nproc: 1 2 3
# metrics: ^Epoch
# %%
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix, f1_score, roc_auc_score
from torch.utils.data import DataLoader, Dataset

# %%
X, y = make_classification(n_samples=815, n_features=20, n_informative=8, weights=[0.8], random_state=4)


class TabularDataset(Dataset):
    def __init__(self, X, y):
        self.X = X.astype(np.float32)
        self.y = y.astype(np.int64)

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return {"features": self.X[i], "label": self.y[i]}


train_loader = DataLoader(TabularDataset(X[:600], y[:600]), batch_size=30, shuffle=True)
valid_loader = DataLoader(TabularDataset(X[600:], y[600:]), batch_size=50)

# %%
torch.manual_seed(99)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
clf = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(clf.parameters(), lr=5e-3, weight_decay=1e-4)


# %%
def run_validation(clf, loader):
    clf.eval()
    y_true, y_pred, y_prob = [], [], []
    with torch.no_grad():
        for batch in loader:
            logits = clf(batch["features"].to(device))
            y_true.extend(batch["label"].tolist())
            y_pred.extend(logits.argmax(1).cpu().tolist())
            y_prob.extend(logits.softmax(1)[:, 1].cpu().numpy())
    return np.array(y_true), np.array(y_pred), np.array(y_prob)


# %% tags=["ddp-train"]
for epoch in range(3):
    clf.train()
    for batch in train_loader:
        features, label = batch["features"].to(device), batch["label"].to(device)
        optimizer.zero_grad()
        loss = criterion(clf(features), label)
        loss.backward()
        optimizer.step()
    y_true, y_pred, y_prob = run_validation(clf, valid_loader)
    acc = accuracy_score(y_true, y_pred)
    f1 = f1_score(y_true, y_pred)
    auc = roc_auc_score(y_true, y_prob)
    print(f"Epoch {epoch} n {len(y_true)} acc {acc:.5f} f1 {f1:.5f} auc {auc:.5f}")

torch.save(clf.state_dict(), "tabular.pt")

# %%
print(classification_report(y_true, y_pred))
print(confusion_matrix(y_true, y_pred))
