"""A run: its folder, its processes, what they report, and how to watch, stop and get it back.

Nothing is imported here, so that the processes that watch over a run start without torch and at once.
"""
