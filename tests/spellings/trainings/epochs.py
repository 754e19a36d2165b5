"""How an epoch is looked at, and what it decides."""

from __future__ import annotations

EVALUATIONS = (
    """def evaluate(loader):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for a, b in loader:
            out = EVALUATED
            total += METRIC
            n += len(b)
    model.train()
    return total / n""",
    """@torch.no_grad()
def evaluate(loader):
    model.eval()
    losses = []
    for a, b in loader:
        out = EVALUATED
        losses.append(METRIC)
    model.train()
    return sum(losses) / len(losses)""",
    """@torch.no_grad()
def evaluate(loader, keep=False):
    model.eval()
    outs, targets = [], []
    for a, b in loader:
        outs.append(EVALUATED)
        targets.append(b)
    model.train()
    out, b = torch.cat(outs), torch.cat(targets)
    return METRIC / len(b)""",
    """def evaluate(loader):
    model.eval()
    with torch.no_grad():
        found = sum((EVALUATED).abs().sum().item() for a, b in loader)
    model.train()
    return found""",
    """def evaluate(loader):
    was, found = model.training, Meter()
    model.eval()
    try:
        with torch.no_grad():
            for i, (a, b) in enumerate(loader):
                out = EVALUATED
                found.update(METRIC, len(b))
                if i == 1:
                    note = METRIC
    finally:
        model.train(was)
    return found.avg""",
    """def batches_of(loader):
    for a, b in loader:
        yield EVALUATED, b
def evaluate(loader):
    model.eval()
    total = 0
    with torch.no_grad():
        for out, b in batches_of(loader):
            total += METRIC
    model.train()
    return total""",
    """def evaluate(loader):
    model.eval()
    with torch.inference_mode():
        a, b = x[:13], y[:13]
        out = EVALUATED
        found = METRIC
    model.train()
    return found""",
    """def evaluate(loader):
    model.eval()
    right, wrong = [], []
    with torch.no_grad():
        for a, b in loader:
            out = EVALUATED
            for one in out.flatten().tolist():
                (right if one > 0 else wrong).append(one)
    model.train()
    return len(right) / (len(right) + len(wrong))""",
)
ENDS = (
    "print(epoch, 'loss', LEFT)",
    "print(f'{epoch} {VAL:.4f}')",
    "val = VAL\nprint('val', val)\nplateau.step(val)\nprint('rate', base.param_groups[0]['lr'])",
    """val = VAL
if val < best:
    best = val
    best_state = copy.deepcopy(model.state_dict())
print('best', best)""",
    """val = VAL
if val < best:
    best, bad = val, 0
else:
    bad += 1
    if bad > 1:
        print('stop', epoch)
        break""",
    "if stopper(VAL):\n    print('stopped', epoch)\n    break",
    "history.append((epoch, LEFT))\nprint(history[-1])",
    "log['train'].append(TRAIN)\nlog['val'].append(VAL)\nprint(log)",
    "scheduler.step()\nprint('rate', scheduler.get_last_lr())",
    "print({'epoch': epoch, 'left': LEFT, 'val': VAL})",
    "if epoch % 2 == 0:\n    print('even', VAL, LEFT)",
    "best = min(best, VAL)\nhistory.append(best)",
    """record = {'train': LEFT, 'val': VAL}
history.append(record)
print(' '.join(f'{k} {v}' for k, v in record.items()))""",
    """if VAL < best:
    best = VAL
    torch.save(model.state_dict(), 'best.pt')
    print('saved', epoch)""",
)
LAST = (
    "print('history', history, norms)",
    "print('weights', sum(p.sum().item() for p in model.parameters()))",
    "if best_state is not None:\n    model.load_state_dict(best_state)\nprint('last', VAL)",
    "print(max(log['val'], default=0), len(history))",
    "print('average', sum(p.sum().item() for p in average.parameters()))",
)
