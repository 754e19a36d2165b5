"""The live view of a run in a notebook, and what stays of it in the saved file.

Nothing is imported here: whoever trains in a place without a widget library must not need one.
"""
