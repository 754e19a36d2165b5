"""Ranks without processes: a script's `train` in threads of one process, its exchange functions replaced."""
