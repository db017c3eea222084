"""Tables of text and numbers as statsmodels has them, for plain text, HTML and LaTeX."""

import copy
import html
import re
from collections.abc import Callable, Sequence
from typing import Any

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
        width = width_of(grids)
        self.tables = [_table(grid, width) for grid in grids]
        self.add_extra_txt(tables.lines_below(width))
        self._printed = tables

    def as_markdown(self) -> str:
        """Verdict, tables and notes as Markdown, in full."""
        return self._printed.as_markdown()

    def as_html(self) -> str:
        """Tables and text as HTML."""
        return _html([], self.tables, self._paragraphs())

    def as_latex(self) -> str:
        """Tables and text as LaTeX; needs the package booktabs."""
        latex_blocks = []
        for table in self.tables:
            title = rf"\textbf{{{escape_latex(table.title)}}}\par\smallskip" if table.title else ""
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


class _Table(SimpleTable):  # type: ignore[misc]  # statsmodels has no types
    """A table of statsmodels whose title and cells are text, whatever they look like."""

    def as_html(self, **fmt_dict: Any) -> str:
        """The table as HTML."""
        return str(SimpleTable.as_html(self._escaped(html.escape), **fmt_dict))

    def as_latex_tabular(self, center: bool = True, **fmt_dict: Any) -> str:
        """The table as LaTeX."""
        table = self._escaped(escape_latex)
        return str(SimpleTable.as_latex_tabular(table, center=center, **fmt_dict))

    def _escaped(self, escape: Callable[[str], str]) -> "_Table":
        table = copy.deepcopy(self)
        table.title = escape(table.title)
        for cell in (cell for row in table for cell in row):
            cell.data = escape(str(cell.data))
        return table


def _table(grid: Grid, width: int = 0) -> _Table:
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
    return _Table(
        [row[1:] for row in grid.rows],
        headers=None if grid.header is None else grid.header[1:],
        stubs=[row[0] for row in grid.rows],
        title=grid.title,
        txt_fmt=text_format,
        ltx_fmt=latex,
        html_fmt=pages,
    )


def page(above: Sequence[str], grids: Sequence[Grid]) -> str:
    """Paragraphs and tables as HTML for notebooks; names stay text."""
    return _html(above, list(map(_table, grids)), [])


def _html(above: Sequence[str], tables: Sequence[Any], below: Sequence[str]) -> str:
    first, last = (
        [f"<p>{html.escape(paragraph)}</p>" for paragraph in texts] for texts in (above, below)
    )
    # Or notebooks would read what stands between dollar signs as a formula.
    opening_tag = '<div class="tex2jax_ignore mathjax_ignore">'
    return "\n".join([opening_tag, *first, *(table.as_html() for table in tables), *last, "</div>"])


def escape_latex(text: str) -> str:
    """The text as LaTeX shows it, on one line, because a blank one ends a paragraph."""
    escaped = "".join(LATEX.get(character, character) for character in " ".join(text.splitlines()))
    # At the start of a row these would belong to the end of the row before.
    return re.sub(r"^\s*([\[*])", r"{\1}", escaped)
