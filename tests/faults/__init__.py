"""What can go wrong with a run, as scenes: `make faults` plays them all, and prints what was said and what was left."""
