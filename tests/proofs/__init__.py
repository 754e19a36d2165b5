"""What trainings have proved is kept in proofs.json, so that `make test` trains only what has changed.

A line of that file is the name of a training and a hash of all that it depends on. `make prove` trains what has no line
or another hash and writes the line; `make test-all` trains everything, whatever the file says.
"""
