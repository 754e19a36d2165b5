"""What nbddp costs: an export, a start, a step of the script, a step in the kernel. `make bench` prints all."""
