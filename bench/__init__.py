"""What nbddp costs: the time of an export, and of a step of the script that comes out. `make bench` prints both."""
