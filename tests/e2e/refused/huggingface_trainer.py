# refused: transformers|trainer
# %%
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
dataset = load_dataset("imdb")
tokenized = dataset.map(lambda b: tokenizer(b["text"], truncation=True), batched=True)

# %%
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
args = TrainingArguments("out", per_device_train_batch_size=16, num_train_epochs=1)
trainer = Trainer(model=model, args=args, train_dataset=tokenized["train"])

# %%
trainer.train()
