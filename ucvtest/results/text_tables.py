"""Tables and the words around them, in plain text as statsmodels sets it, and in Markdown.

See `summary_tables` for its own tables, which are imported where these become HTML or LaTeX.
"""

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ucvtest.common.checks import check_switch
from ucvtest.common.notes import in_brief

if TYPE_CHECKING:
    from ucvtest.results.summary_tables import TableSummary

WIDTH = 78


@dataclass(frozen=True)
class Grid:
    """A table before it gets its width: the first cell of each row is the row's name.

    One that is `upright` has its rows as columns in Markdown, so that a narrow page shows it all.
    """

    rows: list[list[str]]
    header: list[str] | None = None
    title: str = ""
    aligns: str = "r"
    upright: bool = False

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

    def markdown(self) -> str:
        """The table with pipes."""
        header = self.header or [""] * len(self.rows[0])
        rows = self.rows
        if self.upright:
            header, *rows = (list(column) for column in zip(header, *rows, strict=True))
        alignment_row = ["---" if align == "l" else "---:" for align in ("l" + self.aligns)]
        alignment_row += alignment_row[-1:] * (len(header) - len(alignment_row))
        cells = (
            [escape_markdown(cell) for cell in line] for line in (header, alignment_row, *rows)
        )
        return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _line(cells: Iterable[str], widths: Iterable[int], aligns: Iterable[str]) -> str:
    columns = zip(cells, widths, aligns, strict=True)
    return " ".join(
        cell.ljust(width) if align == "l" else cell.rjust(width) for cell, width, align in columns
    )


Pairs = Sequence[tuple[str, str]]
"""Labels and what stands behind them."""


@dataclass(frozen=True)
class Tables:
    """All that is printed of an outcome, before it gets its form.

    Parameters
    ----------
    title : str
    statements : pairs of str
        In words, below each other.
    fact_rows : pairs of str
        Numbers and names, side by side.
    grids : sequence of Grid
        The numbers.
    verdict : str
        The answer in words; below the tables unless it is said elsewhere.
    with_verdict : bool
    notes : sequence of str
    in_full : bool
        Whether all notes are printed, or the few lines that a reader has to know.
    fits : sequence of str
        Lines about the fits, which are printed in full only.
    settings : mapping
        Those that Markdown lists.
    complete : callable, optional
        Makes the same in full, which Markdown always is.
    """

    title: str
    statements: Pairs = ()
    fact_rows: Pairs = ()
    grids: Sequence[Grid] = ()
    verdict: str = ""
    with_verdict: bool = True
    notes: Sequence[str] = ()
    in_full: bool = True
    fits: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    complete: Callable[[], Any] | None = None

    def laid_out(self) -> list[Grid]:
        """All tables, those of words first."""
        words = []
        if self.statements:
            words.append(Grid(wrapped_rows(self.statements), aligns="l", title=self.title))
        if self.fact_rows:
            words.append(Grid(in_two_columns(self.fact_rows), aligns="rlr"))
        return [*words, *self.grids]

    def as_text(self) -> str:
        """All as text."""
        grids = self.laid_out()
        width = width_of(grids)
        # One rule stands between two tables.
        lines = [line for grid in grids for line in grid.lines(width)[:-1]]
        lines.append(grids[-1].lines(width)[-1])
        return "\n".join([*lines, "", *(self.lines_below(width) or [""])])

    def lines_below(self, width: int) -> list[str]:
        """The verdict, the fits, and all notes or those that a reader has to know."""
        blocks = []
        if self.verdict and self.with_verdict:
            blocks.append([f"Verdict: {self.verdict}"])
        if self.in_full:
            numbered = [f"[{number}] {note}" for number, note in enumerate(self.notes, start=1)]
            blocks += [["Fits:", *self.fits]] if self.fits else []
            blocks += [["Notes:", *numbered]] if numbered else []
        elif brief := in_brief(self.notes):
            # Names of tests can make a line longer than the tables.
            blocks.append(brief)
        wrapped = ([line for text in block for line in hanging(text, width)] for block in blocks)
        return [line for block in wrapped for line in ("", *block)][1:]

    def as_markdown(self) -> str:
        """All as Markdown, in full: verdict, tables, notes and settings."""
        if self.complete is not None:
            return str(self.complete().as_markdown())
        sections = [f"## {escape_markdown(self.title)}"]
        sections += [f"**{escape_markdown(self.verdict)}**"] if self.verdict else []
        pairs = [list(pair) for pair in (*self.statements, *self.fact_rows)]
        grids = [*self.grids, *([Grid(pairs[1:], pairs[0], aligns="l")] if pairs else [])]
        for grid in grids:
            title = grid.title if grid.title != self.title else ""
            sections += [f"### {escape_markdown(title)}"] if title else []
            sections.append(grid.markdown())
        notes = [f"- {escape_markdown(note)}" for note in (*self.fits, *self.notes)]
        sections += ["### Notes", "\n".join(notes)] if notes else []
        if self.settings:
            rows = [[name, repr(value)] for name, value in self.settings.items()]
            sections += ["### Settings", Grid(rows, ["name", "value"], aligns="l").markdown()]
        return "\n\n".join(sections) + "\n"


class Printed:
    """Base of classes that are printed, and shown in notebooks, as tables."""

    def _tables(self, **options: Any) -> Tables:
        """The tables, by default as they are printed."""
        raise NotImplementedError

    def _summary(self, **options: Any) -> "TableSummary":
        from ucvtest.results.summary_tables import TableSummary

        for name in {"with_verdict", "notes"} & set(options):
            check_switch(name, options[name])
        return TableSummary(self._tables(**options))

    def __str__(self) -> str:
        return self._tables().as_text()

    def _repr_html_(self) -> str:
        return str(self._summary().as_html())


class Outcome(Printed):
    """What answers a question by intervals, whose level can be chosen."""

    def summary(
        self, alpha: float = 0.05, *, with_verdict: bool = True, notes: bool = False
    ) -> "TableSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, as in statsmodels.

        ``as_markdown`` has everything, with or without `notes`.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of intervals, and the level of the verdict.
        with_verdict : bool
            Whether the verdict stands below the tables.
        notes : bool
            Whether all notes, settings and tables are shown. Otherwise there are at most three
            lines of what a reader has to know, as ``print`` shows them.
        """
        return self._summary(alpha=alpha, with_verdict=with_verdict, notes=notes)


def width_of(grids: Iterable[Grid]) -> int:
    """That of the widest."""
    return max(WIDTH, *(grid.width for grid in grids))


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
    """The text as Markdown shows it, on one line: markup has a backslash, HTML is entities.

    MLflow's pages print a backslash before "<" or "&".
    """
    text = " ".join(text.splitlines()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_|\[\]$~#])", r"\\\1", text)


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
