"""Where a script's own checkpoints are."""

# mypy: ignore-errors

checkpoint_file = None  # run puts the paths here
resume_file = None
