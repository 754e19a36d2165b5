"""What runs in a process that is being verified: it records each step, and can take one construct away.

It is loaded beside an unchanged script, before that starts, and needs torch and the standard library.
"""
