"""From edits to the text of a script."""
