"""Tables of text and numbers, as statsmodels sets them in plain text.

See `summary_tables` for its own tables, which are imported where these become HTML or LaTeX.
"""

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 78


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

    def spread(self, width: int) -> list[int]:
        """The widths of the columns in a table of this width."""
        widths = self._widths
        spare_width = width - self.width
        # Spare space goes between the columns, the remainder to the first ones.
        gaps = len(widths) - 1
        for index in range(1, len(widths)):
            widths[index] += spare_width // gaps + (index <= spare_width % gaps)
        return widths

    def lines(self, width: int) -> list[str]:
        """The table as text, between two rules."""
        widths = self.spread(width)
        aligns = ["l", *(self.aligns[place % len(self.aligns)] for place in range(len(widths) - 1))]
        lines = [_line(row, widths, aligns) for row in self.rows]
        rule = "=" * (sum(widths) + len(widths) - 1)
        if self.header is not None:
            header = _line(["", *self.header[1:]], widths, "r" * len(widths))
            lines = [header, "-" * len(header), *lines]
        title = [self.title.center(len(rule))] if self.title else []
        return [*title, rule, *lines, rule]

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


def _line(cells: Iterable[str], widths: Iterable[int], aligns: Iterable[str]) -> str:
    columns = zip(cells, widths, aligns, strict=True)
    return " ".join(
        cell.ljust(width) if align == "l" else cell.rjust(width) for cell, width, align in columns
    )


@dataclass(frozen=True)
class Tables:
    """Tables below each other, and the lines below them for their common width.

    `markdown` makes the same in Markdown; None if there is no such form.
    """

    grids: Sequence[Grid]
    lines_below: Callable[[int], list[str]]
    markdown: Callable[[], str] | None = None

    @property
    def width(self) -> int:
        """That of the widest."""
        return max(WIDTH, *(grid.width for grid in self.grids))

    def as_text(self) -> str:
        """All as text."""
        width = self.width
        # One rule stands between two tables.
        lines = [line for grid in self.grids for line in grid.lines(width)[:-1]]
        lines.append(self.grids[-1].lines(width)[-1])
        return "\n".join([*lines, "", *(self.lines_below(width) or [""])])


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


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


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
