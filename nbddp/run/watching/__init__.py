"""Watching a training from outside: what nbddp hangs into the syntax tree of a script that it runs.

Goes in: the script's file and its watch points. Comes out: the same training with the same output, and a folder that
tells of it. Only processes that nbddp has started import this; none of it imports torch before the script has.
"""
