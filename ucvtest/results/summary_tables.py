"""Tables of text and numbers as statsmodels has them, for plain text, HTML and LaTeX."""

import html
import re
from collections.abc import Sequence

from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable

from ucvtest.results.text_tables import Grid, Tables, width_of

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    # Closed, because SimpleTable takes two dollar signs in a row for an empty formula.
    "$": r"\${}",
    "%": r"\%",
    "&": r"\&",
    "<": "$<$",
    ">": "$>$",
    "^": r"\^{}",
    "_": r"\_",
    "|": "$|$",
    "~": r"\~{}",
}

SIDE = {"l": "left", "r": "right"}


class TableSummary(Summary):  # type: ignore[misc]  # statsmodels has no types
    """A statsmodels Summary, also as Markdown.

    Unlike its base class it escapes what HTML and LaTeX would misread ("95%", "<lambda>"), as
    do its tables, and keeps the titles of all tables in LaTeX.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        grids = tables.laid_out()
        # All are as wide as the widest.
        self._grids, width = grids, width_of(grids)
        self.tables = [_table(grid, width) for grid in grids]
        self.add_extra_txt(tables.lines_below(width))
        self.as_markdown = tables.as_markdown

    def as_html(self) -> str:
        """Tables and text as HTML."""
        return page([], self._grids, self._paragraphs())

    def as_latex(self) -> str:
        """Tables and text as LaTeX; needs the package booktabs."""
        latex_blocks = []
        for grid in self._grids:
            table = _table(grid.escaped(escape_latex))
            title = rf"\textbf{{{table.title}}}\par\smallskip" if table.title else ""
            body = table.as_latex_tabular(center=False).split("\n%\\caption")[0]
            latex_blocks.append(
                "\n".join(filter(None, [r"\begin{center}", title, body, r"\end{center}"]))
            )
        return "\n\n".join([*latex_blocks, *map(escape_latex, self._paragraphs())])

    def _paragraphs(self) -> list[str]:
        lines = (self.extra_txt or "").split("\n")
        paragraphs: list[str] = []
        for line in lines:
            # The text is wrapped for a fixed width; a continuation line is indented.
            if line.startswith(" ") and paragraphs:
                paragraphs[-1] += f" {line.strip()}"
            elif line.strip():
                paragraphs.append(line.strip())
        return paragraphs


def _table(grid: Grid, width: int = 0) -> SimpleTable:
    """The table of statsmodels, as wide as it has to be."""
    text_format = {
        "table_dec_above": "=",
        "table_dec_below": "=",
        "colwidths": grid.spread(max(width, grid.width)),
        "data_aligns": grid.aligns,
        "header_align": "r",
        "title_align": "c",
    }
    latex = {"data_aligns": grid.aligns, "header_align": "r", "replacements": {}}
    pages = {
        "data_fmts": [f'<td style="text-align:{SIDE[align]}">%s</td>' for align in grid.aligns],
        "stub": '<th style="text-align:left">%s</th>',
        "header": '<th style="text-align:right">%s</th>',
    }
    return SimpleTable(
        [row[1:] for row in grid.rows],
        headers=None if grid.header is None else grid.header[1:],
        stubs=[row[0] for row in grid.rows],
        title=grid.title,
        txt_fmt=text_format,
        ltx_fmt=latex,
        html_fmt=pages,
    )


def page(above: Sequence[str], grids: Sequence[Grid], below: Sequence[str] = ()) -> str:
    """Paragraphs and tables as HTML, also for notebooks; names stay text."""
    first, last = (
        [f"<p>{html.escape(paragraph)}</p>" for paragraph in texts] for texts in (above, below)
    )
    tables = [_table(grid.escaped(html.escape)).as_html() for grid in grids]
    # Or notebooks would read what stands between dollar signs as a formula.
    opening_tag = '<div class="tex2jax_ignore mathjax_ignore">'
    return "\n".join([opening_tag, *first, *tables, *last, "</div>"])


def escape_latex(text: str) -> str:
    """The text as LaTeX shows it, on one line, because a blank one ends a paragraph."""
    escaped = "".join(LATEX.get(character, character) for character in " ".join(text.splitlines()))
    # At the start of a row these would belong to the end of the row before.
    return re.sub(r"^\s*([\[*])", r"{\1}", escaped)
