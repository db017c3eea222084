"""Formulas as MathML, written when the pages are built.

docutils, which Sphinx needs anyway, translates LaTeX; every current browser draws MathML itself.
So no page loads a script or a font for its formulas, and a formula that cannot be translated is a
warning of the build instead of red text in the browser.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def _translated(node: nodes.Node, code: str, *, as_block: bool) -> str:
    try:
        return tex2mathml(code, as_block=as_block)
    except MathError as error:
        LOGGER.warning("formula %r: %s", code, error, location=node)
        return ""


def _inline(translator: HTML5Translator, node: nodes.Element) -> None:
    translator.body.append(_translated(node, node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.Element) -> None:
    code = node.astext()
    environment = pick_math_environment(code)
    if environment != "equation*" and r"\begin{" not in code:
        code = rf"\begin{{{environment}}}{code}\end{{{environment}}}"
    # A wide formula scrolls on its own, not the page.
    translator.body.append(f'<div class="math">{_translated(node, code, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
