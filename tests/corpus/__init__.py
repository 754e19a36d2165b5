"""Any folder of notebooks through the compiler: what is refused and why, and whether the others train the same.

    python -m tests.corpus DIR [--only NAMES] [--path FOLDER ...] [--env NAME=VALUE ...] [--json FILE]

Each notebook is cut short, run in one plain process, exported, and its script run on one process and on two. The three
runs take the same samples in the same order, without dropout, so that their losses have to agree step by step.
"""
