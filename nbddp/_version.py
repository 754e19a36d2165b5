"""The one place that says which version this is; the build, the exported header and `nbddp --version` read it."""

__version__ = "0.1.0"
