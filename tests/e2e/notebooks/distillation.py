# oracle: equal within 1e-4
# nproc: 1 2
# metrics: ^student
# order: 0 1 2
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)  # Adam makes steps of its rate even of gradients that are all rounding
device = "cuda" if torch.cuda.is_available() else "cpu"
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=72, shuffle=True)
test_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=72)


# %%
class DeepNN(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, width), nn.ReLU())
        self.classifier = nn.Linear(width, 10)

    def forward(self, x):
        return self.classifier(self.features(x))


def closed_form_teacher():
    """A teacher without gradient descent: random features and least squares."""
    torch.manual_seed(42)
    net = DeepNN(256)
    with torch.no_grad():
        h = net.features(X[:1440]).double()
        target = F.one_hot(y[:1440], 10).double() * 4
        solution = torch.linalg.solve(h.T @ h + 10 * torch.eye(256).double(), h.T @ target)
        net.classifier.weight.copy_(solution.T)
        net.classifier.bias.zero_()
    return net


teacher = closed_form_teacher().to(device)
torch.manual_seed(42)
student = DeepNN(24).to(device)


# %%
def train_knowledge_distillation(teacher, student, train_loader, epochs, learning_rate, T, soft_target_loss_weight, ce_loss_weight, device):
    ce_loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(student.parameters(), lr=learning_rate)

    teacher.eval()  # Teacher set to evaluation mode
    student.train()  # Student to train mode

    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, labels in train_loader:
            inputs, labels = inputs.to(device), labels.to(device)

            optimizer.zero_grad()

            # Forward pass with the teacher model - do not save gradients here as we do not change the teacher's weights
            with torch.no_grad():
                teacher_logits = teacher(inputs)

            # Forward pass with the student model
            student_logits = student(inputs)

            # Soften the student logits by applying softmax first and log() second
            soft_targets = nn.functional.softmax(teacher_logits / T, dim=-1)
            soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)

            # Calculate the soft targets loss. Scaled by T**2 as suggested by the authors
            soft_targets_loss = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T**2)

            # Calculate the true label loss
            label_loss = ce_loss(student_logits, labels)

            # Weighted sum of the two losses
            loss = soft_target_loss_weight * soft_targets_loss + ce_loss_weight * label_loss

            loss.backward()
            optimizer.step()

            running_loss += loss.item()

        print(f"student epoch {epoch+1}/{epochs}, loss: {running_loss / len(train_loader):.5f}")


def test(model, test_loader, device):
    model.to(device)
    model.eval()
    correct = 0
    total = 0
    with torch.no_grad():
        for inputs, labels in test_loader:
            inputs, labels = inputs.to(device), labels.to(device)
            _, predicted = torch.max(model(inputs).data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    return 100 * correct / total


# %%
print(f"teacher accuracy: {test(teacher, test_loader, device):.2f}%")

# %% tags=["ddp-train"]
train_knowledge_distillation(teacher=teacher, student=student, train_loader=train_loader, epochs=3, learning_rate=0.01, T=2, soft_target_loss_weight=0.25, ce_loss_weight=0.75, device=device)
print(f"student accuracy: {test(student, test_loader, device):.2f}%")
torch.save(student.state_dict(), "student.pt")
