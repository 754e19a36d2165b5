"""What the notebook means: its slice, its models, loaders and loops, and which values differ between ranks."""
