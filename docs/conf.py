"""The site: `make docs` builds it below build/docs. What is said of code is made from the code first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from nbddp import __version__  # noqa: E402
from tools import documentation  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "nbddp"
author = copyright = "The nbddp authors"  # noqa: A001 -- Sphinx names it so
release = version = __version__
extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["_parts", "_made", "notebooks.md", "spellings.md", "pictures"]  # those are parts of pages

html_theme = "furo"
html_title = f"nbddp {version}"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

myst_enable_extensions = ["attrs_block", "colon_fence"]
myst_heading_anchors = 3
nitpicky = True
smartquotes = False  # --nproc and "x" are to be copied
suppress_warnings = [
    "misc.highlighting_failure",  # a notebook's cell may hold what no lexer knows, or what is wrong on purpose
    "mystnb.unknown_mime_type",  # what only our JupyterLab extension draws; beside it stands the same as HTML
]
# The quickstart is run as it stands. The others take minutes, or packages that this does not need.
nb_execution_mode = "force"
nb_execution_excludepatterns = [
    f"examples/{name}.ipynb" for name in documentation.example_pages.names() if name != "quickstart"
]
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True
nb_ipywidgets_js = {}  # what a saved run shows is HTML; the site loads nothing from elsewhere


def setup(app: Sphinx) -> None:
    documentation.write(Path(app.srcdir))
