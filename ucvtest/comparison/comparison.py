"""The outcome of `compare`: an immutable table of results."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ucvtest.comparison.fields import ComparisonFields

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ucvtest.results.summary_tables import MarkdownSummary


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonFields):
    """Learners compared by one or several tests.

    Parameters
    ----------
    learners : tuple of str
        Names.
    results : mapping of (test, learner, other) to TestResult
        Every test of every pair; estimates are the first learner minus the second.
    fits : tuple of Fits
        The model fits made for it.
    correction : str or None
        How p-values are adjusted for the number of pairs.
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat it on the same data.
    joint : mapping of test to JointResult
        Tests of all learners at once, of the tests that have one: see `joint_test`.
    together : mapping of test to JointEstimates
        What joins the learners after ``correction="simultaneous"``: see `best_set`.
    across : mapping of test to JointStatistics
        What joins all results of a test by several metrics, after ``correction="simultaneous"``.

    Notes
    -----
    p-values are adjusted over the pairs of learners within each test. They are not adjusted for
    the number of tests of the same difference: that would answer a question nobody asks, and would
    not repair a choice among tests by their p-values. Decide beforehand which test counts. A pair
    without a p-value counts as p = 1. Intervals are adjusted only after
    ``correction="simultaneous"``.
    """

    def __str__(self) -> str:
        from ucvtest.comparison.summary import tables

        return tables(self).as_text()

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())

    @property
    def verdict(self) -> str:
        """The answer in words, at the 5% level."""
        from ucvtest.comparison.summary import verdict

        return verdict(self)

    def summary(
        self, alpha: float = 0.05, *, with_verdict: bool = True, notes: bool = False
    ) -> "MarkdownSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, ``as_markdown``.

        Markdown has everything, with or without `notes`.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of the intervals, and the level of the verdict.
        with_verdict : bool
            Whether the verdict stands below the tables.
        notes : bool
            Whether all notes, fits and settings are shown. Otherwise there are at most three
            lines of what a reader has to know, as in ``print(comparison)``.
        """
        from ucvtest.comparison.summary import tables
        from ucvtest.results.summary_tables import MarkdownSummary

        return MarkdownSummary(tables(self, alpha, with_verdict=with_verdict, notes=notes))

    def notes_in_brief(self, rest: str = "summary(notes=True)") -> list[str]:
        """The lines below the verdict when it is printed: at most three notes, then how many more.

        Parameters
        ----------
        rest : str
            Where to find the other notes.
        """
        from ucvtest.comparison.summary import brief_notes

        return brief_notes(self, rest)

    def plot(
        self,
        ax: "Axes | None" = None,
        alpha: float = 0.05,
        kind: Literal["pairs", "learners"] | None = None,
    ) -> "Axes":
        """Draw all estimates with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        alpha : float
            One minus the confidence level of the intervals, which are adjusted after
            ``correction="simultaneous"`` only.
        kind : {"pairs", "learners"}, optional
            The differences, or the estimate of each learner, the best set in colour: the default of
            three learners or more after ``correction="simultaneous"`` with one test.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `alpha` is outside (0, 1), or learners cannot be drawn.
        """
        from ucvtest.comparison.drawing import plot_comparison

        return plot_comparison(self, ax, alpha, kind)

    def save_plot(
        self,
        path: str | Path,
        *,
        alpha: float = 0.05,
        dpi: float = 150,
        kind: Literal["pairs", "learners"] | None = None,
    ) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot.

        Parameters
        ----------
        path : path
            Its suffix (.png, .pdf, .svg) decides the format.
        alpha : float
            One minus the confidence level of the intervals.
        dpi : float
            Pixels per inch, where the format has pixels.
        kind : {"pairs", "learners"}, optional
            As for `plot`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the suffix is none that matplotlib can write, or `alpha` outside (0, 1).
        """
        from ucvtest.comparison.drawing import save_comparison

        save_comparison(self, path, alpha=alpha, dpi=dpi, kind=kind)
