"""How `make docs` builds the pages: without a network, warnings being errors."""

import hashlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT)]

import made  # noqa: E402
from publisher import Publisher  # noqa: E402

import ucvtest  # noqa: E402

# Tables, pictures and lists that are made of the package itself and of its committed tables.
made.write_all(HERE)

project = "ucvtest"
author = "The ucvtest developers"
copyright = "The ucvtest developers, BSD-3-Clause"
version = release = ucvtest.__version__
publisher = Publisher(ROOT)


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Where the link "source" of a name leads."""
    return publisher.source_of(domain, info)


extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinxcontrib.bibtex",
    "sphinx_design",
    "findable",
    "mathml",
    *publisher.extensions,
]
exclude_patterns = ["_build", "_ext", "_generated", "**/.ipynb_checkpoints"]
nitpicky = False

# ------------------------------------------------------------------------------ pages and formulas
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "substitution"]
myst_heading_anchors = 3
myst_update_mathjax = False

# --------------------------------------------------------------------------------------- notebooks
# They run again when the package has changed, not only when their own text has.
_SOURCES = [HERE / "conf.py", *sorted((ROOT / "ucvtest").rglob("*.py"))]
_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in _SOURCES)).hexdigest()[:16]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "notebooks" / _DIGEST)
nb_execution_timeout = 1200
nb_execution_raise_on_error = True
nb_merge_streams = True
# Pictures belong in the pages, whatever the tests ask for.
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
# Widgets would load scripts from the network.
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

# --------------------------------------------------------------------------------------- reference
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# -------------------------------------------------------------------------------------- literature
bibtex_bibfiles = ["_generated/references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

# ------------------------------------------------------------------------------------------- looks
html_theme = "pydata_sphinx_theme"
html_title = "ucvtest"
html_static_path = ["_static"]
html_css_files = ["ucvtest.css"]
html_copy_source = False
html_search_scorer = str(HERE / "_ext" / "scorer.js")
html_show_sourcelink = False
html_extra_path = ["_generated/extra"]
html_context = publisher.html_context
html_theme_options = {
    "logo": {"text": f"ucvtest {version}"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    **publisher.theme_options,
}
html_sidebars = {
    page: []
    for page in ("index", "changelog", "choose/index", "glossary", "mlflow/index", "references")
}
