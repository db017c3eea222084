"""Tables of text and numbers, in the form of statsmodels, before they get their width."""

import copy
import html
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from statsmodels.iolib.summary import Summary
from statsmodels.iolib.table import SimpleTable

__all__ = [
    "WIDTH",
    "Grid",
    "GridSummary",
    "decimals_of",
    "escape_markdown",
    "hanging",
    "in_two_columns",
    "number_column",
    "number_text",
    "page",
    "wrapped_rows",
]

WIDTH = 78

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


class GridSummary(Summary):  # type: ignore[misc]  # statsmodels has no types
    """A statsmodels Summary made of grids.

    Unlike its base class it escapes what HTML and LaTeX would misread ("95%", "<lambda>"), as
    do its tables, and keeps the titles of all tables in LaTeX.
    """

    def fill(self, grids: Sequence["Grid"], notes_for_width: Callable[[int], list[str]]) -> None:
        """Make all tables as wide as the widest; `notes_for_width` gives the lines below them."""
        width = max(WIDTH, *(grid.width for grid in grids))
        self.tables = [grid.table(width) for grid in grids]
        self.add_extra_txt(notes_for_width(width))

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


@dataclass(frozen=True)
class Grid:
    """A table before it gets its width: the first cell of each row is the row's name."""

    rows: list[list[str]]
    header: list[str] | None = None
    title: str = ""
    aligns: str = "r"

    @property
    def _widths(self) -> list[int]:
        lines = self.rows if self.header is None else [self.header, *self.rows]
        return [max(map(len, column)) for column in zip(*lines, strict=True)]

    @property
    def width(self) -> int:
        """Characters in a line, with one space between columns."""
        return sum(self._widths) + len(self._widths) - 1

    def table(self, width: int) -> SimpleTable:
        """The table of statsmodels, as wide as is asked for."""
        widths = self._widths
        spare_width = width - self.width
        # Spare space goes between the columns, the remainder to the first ones.
        gaps = len(widths) - 1
        for index in range(1, len(widths)):
            widths[index] += spare_width // gaps + (index <= spare_width % gaps)
        text_format = {
            "table_dec_above": "=",
            "table_dec_below": "=",
            "colwidths": widths,
            "data_aligns": self.aligns,
            "header_align": "r",
            "title_align": "c",
        }
        latex = {"data_aligns": self.aligns, "header_align": "r", "replacements": {}}
        pages = {
            "data_fmts": [f'<td style="text-align:{SIDE[align]}">%s</td>' for align in self.aligns],
            "stub": '<th style="text-align:left">%s</th>',
            "header": '<th style="text-align:right">%s</th>',
        }
        return _Table(
            [row[1:] for row in self.rows],
            headers=None if self.header is None else self.header[1:],
            stubs=[row[0] for row in self.rows],
            title=self.title,
            txt_fmt=text_format,
            ltx_fmt=latex,
            html_fmt=pages,
        )

    def transposed(self) -> "Grid":
        """Rows as columns."""
        header, *rows = (list(column) for column in zip(self.header or [], *self.rows, strict=True))
        return Grid(rows, header, self.title, self.aligns)

    def markdown(self) -> str:
        """The table with pipes."""
        header = self.header or [""] * len(self.rows[0])
        alignment_row = ["---" if align == "l" else "---:" for align in ("l" + self.aligns)]
        alignment_row += alignment_row[-1:] * (len(header) - len(alignment_row))
        lines = [header, alignment_row, *self.rows]
        cells = ([escape_markdown(cell) for cell in line] for line in lines)
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def page(above: Sequence[str], grids: Sequence[Grid], below: Sequence[str] = ()) -> str:
    """Paragraphs, tables and paragraphs as HTML for notebooks; names stay text."""
    return _html(above, [grid.table(grid.width) for grid in grids], below)


def _html(above: Iterable[str], tables: Iterable[Any], below: Iterable[str]) -> str:
    first, last = (
        [f"<p>{html.escape(paragraph)}</p>" for paragraph in texts] for texts in (above, below)
    )
    # Or notebooks would read what stands between dollar signs as a formula.
    opening_tag = '<div class="tex2jax_ignore mathjax_ignore">'
    return "\n".join([opening_tag, *first, *(table.as_html() for table in tables), *last, "</div>"])


def hanging(paragraph: str, width: int) -> list[str]:
    """Lines of a paragraph whose continuation is indented."""
    return textwrap.wrap(paragraph, width, subsequent_indent="    ", break_on_hyphens=False)


def wrapped_rows(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Rows of labels and texts, each text on as many lines as it needs."""
    pairs = list(pairs)
    room = WIDTH - 2 - max(len(label) for label, _ in pairs) - 1
    rows = []
    for label, text in pairs:
        first, *continuation_lines = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
        rows += [[f"{label}:", first], *(["", line] for line in continuation_lines)]
    return rows


def in_two_columns(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Rows of two labels and values each, filled column by column."""
    padded = [(f"{label}:", value) for label, value in pairs]
    if len(padded) % 2:
        padded.append(("", ""))
    n_rows = len(padded) // 2
    return [[*padded[row], *padded[n_rows + row]] for row in range(n_rows)]


def escape_markdown(text: str) -> str:
    """The text with a backslash before what Markdown would read as markup, on one line."""
    return re.sub(r"([\\`*_<|\[\]$~#&])", r"\\\1", " ".join(text.splitlines()))


def escape_latex(text: str) -> str:
    """The text as LaTeX shows it, on one line, because a blank one ends a paragraph."""
    escaped = "".join(LATEX.get(character, character) for character in " ".join(text.splitlines()))
    # At the start of a row these would belong to the end of the row before.
    return re.sub(r"^\s*([\[*])", r"{\1}", escaped)


def number_text(value: Any) -> str:
    """A value on its own: four significant digits for a float, anything else as it is."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def number_column(values: Sequence[Any], decimals: int | None = None) -> list[str]:
    """Cells with the same number of decimals, so that a column of numbers lines up."""
    places = decimals_of(values) if decimals is None else decimals
    return [_cell(value, places) for value in values]


def decimals_of(values: Iterable[Any]) -> int:
    """Decimals that give the largest number four significant digits, the least one two.

    At most three more are spent on small numbers next to large ones.
    """
    finite = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    magnitudes = [math.floor(math.log10(size)) for size in finite if size > 0]
    if not magnitudes:
        return 4
    for_largest = max(3 - max(magnitudes), 0)
    return min(max(for_largest, 1 - min(magnitudes)), for_largest + 3, 12)


def _cell(value: Any, decimals: int) -> str:
    if not isinstance(value, float) or not math.isfinite(value) or value == 0:
        # An exact zero, such as no Monte-Carlo error, must not look like a rounded number.
        return number_text(value)
    if 0 < abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:.0e}"
    return f"{value:.{decimals}f}"
