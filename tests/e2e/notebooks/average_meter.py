# oracle: equal
# nproc: 1 2
# metrics: \* Epoch
# %%
import time

import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


# %%
class AverageMeter(object):
    """Computes and stores the average and current value"""

    def __init__(self, name="", fmt=":f"):
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def accuracy(output, target, topk=(1,)):
    """Computes the accuracy over the k top predictions for the specified values of k"""
    with torch.no_grad():
        maxk = max(topk)
        batch_size = target.size(0)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / batch_size))
        return res


# %%
torch.manual_seed(2)
d, t = load_digits(return_X_y=True)
d = torch.tensor(d / 16.0, dtype=torch.float32)
t = torch.tensor(t)
train_loader = DataLoader(TensorDataset(d[:1500], t[:1500]), batch_size=100, shuffle=True)
val_loader = DataLoader(TensorDataset(d[1500:], t[1500:]), batch_size=100)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(inplace=True), nn.Linear(64, 10)).to(device)
criterion = nn.CrossEntropyLoss().to(device)
optimizer = optim.SGD(model.parameters(), 0.2, momentum=0.9, weight_decay=1e-4)
print_freq = 5


# %%
def train(train_loader, model, criterion, optimizer, epoch):
    batch_time = AverageMeter()
    losses = AverageMeter()
    top1 = AverageMeter()
    top5 = AverageMeter()

    # switch to train mode
    model.train()

    end = time.time()
    for i, (images, target) in enumerate(train_loader):
        images = images.to(device, non_blocking=True)
        target = target.to(device, non_blocking=True)

        # compute output
        output = model(images)
        loss = criterion(output, target)

        # measure accuracy and record loss
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1[0].item(), images.size(0))
        top5.update(acc5[0].item(), images.size(0))

        # compute gradient and do SGD step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        # measure elapsed time
        batch_time.update(time.time() - end)
        end = time.time()

    print(f" * Epoch {epoch} train loss {losses.avg:.5f} Acc@1 {top1.avg:.3f} Acc@5 {top5.avg:.3f}")
    print(f"   {batch_time.avg:.3f} s per batch")


def validate(val_loader, model, criterion, epoch):
    losses = AverageMeter()
    top1 = AverageMeter()
    model.eval()
    with torch.no_grad():
        for images, target in val_loader:
            images, target = images.to(device), target.to(device)
            output = model(images)
            loss = criterion(output, target)
            (acc1,) = accuracy(output, target)
            losses.update(loss.item(), images.size(0))
            top1.update(acc1.item(), images.size(0))
    print(f" * Epoch {epoch} val loss {losses.avg:.5f} Acc@1 {top1.avg:.3f}")
    return top1.avg


# %% tags=["ddp-train"]
best_acc1 = 0
for epoch in range(3):
    train(train_loader, model, criterion, optimizer, epoch)
    acc1 = validate(val_loader, model, criterion, epoch)

    # remember best acc@1 and save checkpoint
    is_best = acc1 > best_acc1
    best_acc1 = max(acc1, best_acc1)
    if is_best:
        torch.save({"epoch": epoch + 1, "state_dict": model.state_dict(), "best_acc1": best_acc1}, "model_best.pth")
