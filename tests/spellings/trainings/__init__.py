"""Random whole trainings: how batches come, models are made, steps are taken, epochs end, and where it all stands."""
