"""What nbddp costs: an export, a step of the script that comes out, a step in the kernel. `make bench` prints all."""
