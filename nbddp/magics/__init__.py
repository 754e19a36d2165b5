"""`%load_ext nbddp`: `%%ddp_train` and `%ddp` in a kernel.

Nothing is imported here: `import nbddp` must not bring IPython along.
"""
