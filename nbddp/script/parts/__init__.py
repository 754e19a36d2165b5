"""What a script is made of besides the notebook: definitions that are copied as source; no script imports them.

So they are written as scripts are: no type hints, torch and the standard library alone, no name of a notebook. What
ruff is told not to mind stands at the top of a file, where it is not copied.
"""
