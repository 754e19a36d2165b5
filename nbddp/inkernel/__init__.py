"""Training inside of the kernel: the cell as it is, with words between its lines that tell how far it is.

Nothing is imported here: torch is only wanted once a cell trains.
"""
