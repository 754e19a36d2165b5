"""Whole notebooks: each is run in one plain process and as its exported script, and the two must agree."""
