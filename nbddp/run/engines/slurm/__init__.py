"""SLURM, by its own commands: a job is one supervisor, on its first node, which has srun start the ranks on all."""
