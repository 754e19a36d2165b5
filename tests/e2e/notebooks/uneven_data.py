# oracle: equal 1, alike 0.12
# nproc: 1 2 3
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, Dataset

# %%
bc = load_breast_cancer()
X, X_test, y, y_test = train_test_split(bc.data, bc.target, test_size=0.25, random_state=3)
sc = StandardScaler()
X = sc.fit_transform(X)
X_test = sc.transform(X_test)
print(X.shape, X_test.shape)


class BCDataset(Dataset):
    def __init__(self, X, y):
        self.X = torch.from_numpy(X.astype("float32"))
        self.y = torch.from_numpy(y.astype("float32")).reshape(-1, 1)
        self.n_samples = X.shape[0]

    def __getitem__(self, index):
        return self.X[index], self.y[index]

    def __len__(self):
        return self.n_samples


train_data = BCDataset(X[:425], y[:425])
test_data = BCDataset(X_test, y_test)
train_loader = DataLoader(dataset=train_data, batch_size=24, shuffle=True, num_workers=0)
test_loader = DataLoader(dataset=test_data, batch_size=24)

# %%
torch.manual_seed(8)


class LogisticRegression(nn.Module):
    def __init__(self, n_input_features):
        super().__init__()
        self.linear = nn.Linear(n_input_features, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


model = LogisticRegression(X.shape[1])
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %% tags=["ddp-train"]
num_epochs = 4
for epoch in range(num_epochs):
    epoch_loss, n = 0.0, 0
    for i, (inputs, labels) in enumerate(train_loader):
        y_predicted = model(inputs)
        loss = criterion(y_predicted, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        epoch_loss += loss.item() * inputs.shape[0]
        n += inputs.shape[0]
    with torch.no_grad():
        right = 0
        for inputs, labels in test_loader:
            right += model(inputs).round().eq(labels).sum().item()
        acc = right / len(test_data)
    print(f'epoch: {epoch+1}, loss = {epoch_loss / n:.4f}, accuracy = {acc:.4f}')

torch.save(model.state_dict(), "logreg.pt")
