"""Configuration of Sphinx, which makes the site of these pages; the pages of operators are made by `_site/`.

pip install '.[docs]' && sphinx-build -W docs build/site
"""

from __future__ import annotations

import sys
from pathlib import Path

import opweave

_HERE = Path(__file__).parent
sys.path[:0] = map(str, (_HERE, _HERE.parent / "tests"))  # for _site, and for the names that torch has

project = "opweave"
author = "the authors of opweave"
project_copyright = author
version = release = opweave.__version__

extensions = ["myst_nb", "_site"]
exclude_patterns = ["_site"]
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 4
nb_execution_mode = "cache"  # cells of tutorials run again when their text has changed
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_logo = html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": project, "alt_text": ""},
    "collapse_navigation": True,  # a page would list all operators otherwise
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
