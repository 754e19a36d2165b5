# %%
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


# %%
class LitModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.layer(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


class Data(L.LightningDataModule):
    def setup(self, stage):
        x = torch.randn(240, 8, generator=torch.Generator().manual_seed(0))
        self.train = TensorDataset(x, x.sum(1, keepdim=True))

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=20, shuffle=True)


# %%
torch.manual_seed(0)
model = LitModel()
trainer = L.Trainer(max_epochs=3, devices=1, strategy="ddp_notebook", logger=False, enable_checkpointing=False)
trainer.fit(model, datamodule=Data())
print(f"epoch 3: {trainer.callback_metrics['train_loss']:.5f}")
trainer.save_checkpoint("last.ckpt", weights_only=True)
