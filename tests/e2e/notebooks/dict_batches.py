# oracle: equal within 1e-4
# nproc: 2
# %%
# batches are dictionaries, the model brings its loss along, the schedule turns once per batch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from tqdm.auto import tqdm

torch.manual_seed(0)
device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


# %%
class Reviews(Dataset):
    def __init__(self, n, seed):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, 30, (n, 7), generator=generator)
        self.labels = (self.ids.sum(1) > 105).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(7), "labels": self.labels[i]}


class Output(dict):
    __getattr__ = dict.__getitem__


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, input_ids, attention_mask=None, labels=None):
        hidden = (self.embed(input_ids) * attention_mask.unsqueeze(-1)).mean(1)
        logits = self.head(hidden)
        loss = F.cross_entropy(logits, labels) if labels is not None else None
        return Output(loss=loss, logits=logits)


train_dataloader = DataLoader(Reviews(192, 1), shuffle=True, batch_size=16)
eval_dataloader = DataLoader(Reviews(45, 2), batch_size=16)
model = Classifier().to(device)

# %%
num_epochs = 2
num_training_steps = num_epochs * len(train_dataloader)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: max(0.0, 1 - s / num_training_steps))
progress_bar = tqdm(range(num_training_steps))

for epoch in range(num_epochs):
    model.train()
    total_loss = 0
    for batch in train_dataloader:
        batch = {k: v.to(device) for k, v in batch.items()}
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
        progress_bar.update(1)
        total_loss += loss.item()

    model.eval()
    predictions, true_labels, eval_loss = [], [], 0
    for batch in eval_dataloader:
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.no_grad():
            outputs = model(**batch)
        eval_loss += outputs["loss"].item()
        predictions.extend(torch.argmax(outputs.logits, dim=-1).cpu().numpy())
        true_labels.extend(batch["labels"].cpu().numpy())
    accuracy = np.mean(np.array(predictions) == np.array(true_labels))
    print(f"epoch {epoch}: train {total_loss / len(train_dataloader):.5f}, eval {eval_loss / len(eval_dataloader):.5f}, "
          f"accuracy {accuracy:.4f} on {len(predictions)}, rate {lr_scheduler.get_last_lr()[0]:.6f}")
