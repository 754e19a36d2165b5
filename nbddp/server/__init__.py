"""What a Jupyter server answers to the page: exports, checks, and the runs of a folder.

Nothing of a notebook is executed here; what is written is what a person says of a run, in its folder.
Jupyter finds the two functions by their names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "nbddp.server"}]


def _load_jupyter_server_extension(server: Any) -> None:
    from nbddp.server.routes import routes

    root = getattr(server.contents_manager, "root_dir", None)  # none where files live in a database, say
    found = routes(server.web_app.settings["base_url"], Path(root).expanduser() if root else None)
    server.web_app.add_handlers(".*$", found)
