"""The outcome of `columns`: what a learner gains by each block of columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ucvtest.common.notes import in_brief
from ucvtest.comparison.comparison import Comparison
from ucvtest.gains.blocks import MOST_LISTED
from ucvtest.results.result import TestResult
from ucvtest.results.serialising import Saved
from ucvtest.results.text_tables import Grid, Outcome, Tables, number_column
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

FINDINGS = {
    "helps": ("helps this learner", "help this learner"),
    "costs": ("costs it accuracy", "cost it accuracy"),
    "undecided": ("is undecided", "are undecided"),
    "not used": ("is not used", "are not used"),
}
"""What is found of one block, and of several, in the order in which it is told."""

COLUMNS = (
    *("block", "columns", "without_block", "with_block", "gain", "se", "conf_low", "conf_high"),
    *("pvalue", "pvalue_adjusted", "finding"),
)
"""Of frames, in this order."""

TITLES = {
    "gain": "gain",
    "conf_low": "low",
    "conf_high": "high",
    "pvalue": "p-value",
    "pvalue_adjusted": "adjusted",
    "pvalue_copies": "copies",
}
"""Of the columns that summaries show."""

UNDECIDED = (
    "Undecided does not mean irrelevant, and a gain below 0 is what learning a column without "
    "information costs; helping means this learner at this number of observations."
)


@dataclass(frozen=True, eq=False, repr=False)
class ColumnGains(Outcome, Saved):
    """What predictions lose without blocks of columns, or gain by them: see `columns`.

    Parameters
    ----------
    comparison : Comparison
        The learners without each block and that with all columns, or those with each block and
        that of the base.
    learner : str
        The learner inside of all of these.
    blocks : mapping of str to tuple of str
        The columns of each block.
    base : tuple of str or None
        The columns to which blocks were added; None where they were left out of all.
    sign : {1, -1}
        What makes a gain of the difference in `comparison`.
    copies : mapping of str to float
        p-values for "carries no information", by block, where they were asked for.
    settings : mapping
        All that is needed to repeat it on the same data.
    notes : tuple of str
    n_fits : int
    elapsed : float
        Seconds.
    """

    _result_kind: ClassVar[str] = "table of gains"

    comparison: Comparison
    learner: str
    blocks: Mapping[str, tuple[str, ...]]
    base: tuple[str, ...] | None
    sign: int
    copies: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_fits: int = 0
    elapsed: float = math.nan

    def __repr__(self) -> str:
        return f"{type(self).__name__}(learner={self.learner!r}, blocks={list(self.blocks)})"

    @property
    def results(self) -> Mapping[tuple[str, str, str], TestResult]:
        """Those of the comparison, for `uv.cite`."""
        return self.comparison.results

    @property
    def n_obs(self) -> int:
        """Observations."""
        return self.comparison.n_obs

    @cached_property
    def _first(self) -> TestResult:
        return next(iter(self.results.values()))

    @property
    def when(self) -> str:
        """From how many observations is learnt, in words."""
        return self._first.estimand.partition("when learning from ")[2]

    @property
    def frame(self) -> "pd.DataFrame":
        """One row for each block, with simultaneous 95% intervals: see `summary_frame`."""
        return self.summary_frame()

    def summary_frame(self, alpha: float = 0.05) -> "pd.DataFrame":
        """One row for each block.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of all intervals together.

        Returns
        -------
        DataFrame
            Columns block, columns (how many), without_block and with_block (the loss or score of
            the learner), gain, se, conf_low, conf_high, pvalue, pvalue_adjusted, finding ("helps",
            "costs", "undecided", "not used") and, with copies, pvalue_copies.
        """
        (own,) = (joined.own for joined in self.comparison.together.values())
        frame = self.comparison.summary_frame(alpha)
        limits = np.sort(self.sign * frame[["conf_low", "conf_high"]].to_numpy(), axis=1)
        # No prediction differed in any fit: there is nothing to estimate.
        unused = ((frame["estimate"] == 0) & ~(frame["se"] > 0)).to_numpy()
        low, high = np.where(unused, math.nan, limits.T)
        values = [[own[name].estimate for name in frame[place]] for place in ("learner", "other")]
        without, with_block = values if self.base is None else values[::-1]
        gains = frame.assign(
            block=[*self.blocks],
            columns=[len(columns) for columns in self.blocks.values()],
            without_block=without,
            with_block=with_block,
            # Never -0.0.
            gain=self.sign * frame["estimate"] + 0.0,
            conf_low=low,
            conf_high=high,
            pvalue=frame["pvalue"].where(~unused, 1.0),
            pvalue_adjusted=frame["pvalue_adjusted"].where(~unused, 1.0),
            finding=np.select(
                [unused, low > 0, high < 0], ["not used", "helps", "costs"], "undecided"
            ),
            **({"pvalue_copies": list(self.copies.values())} if self.copies else {}),
        )
        return gains[[*COLUMNS, *(["pvalue_copies"] if self.copies else [])]]

    @property
    def verdict(self) -> str:
        """The answer in words, by simultaneous 95% intervals."""
        return self.verdict_at()

    def verdict_at(self, alpha: float = 0.05) -> str:
        """The answer in words, at a level of all intervals together."""
        frame = self.summary_frame(alpha)
        clauses = []
        for finding, (singular, plural) in FINDINGS.items():
            names = frame.loc[frame["finding"] == finding, "block"].tolist()
            if names:
                clauses.append(f"{_joined(names)} {singular if len(names) == 1 else plural}")
        added = ""
        if self.base is not None:
            added = f", on top of {_joined(self.base) if self.base else 'no column'}"
        return f"When {self.learner} learns from {self.when}{added}: {'; '.join(clauses)}."

    def notes_in_brief(self) -> list[str]:
        """The lines below the printed verdict: at most three notes, then how many more."""
        return in_brief(self.notes)

    def _tables(self, alpha: float = 0.05, *, notes: bool = False, **options: Any) -> Tables:
        frame = self.summary_frame(alpha)
        cells = {"": frame["block"].tolist()}
        for name, title in TITLES.items():
            if name in frame:
                decimals = 3 if name.startswith("pvalue") else None
                cells[title] = number_column(frame[name].tolist(), decimals)
        cells["finding"] = frame["finding"].tolist()
        return Tables(
            "Which columns matter",
            [("Learner", self.learner), ("Gain", self.in_words), ("Learnt from", self.when)],
            [
                ("Observations", str(self.n_obs)),
                ("Model fits in all", str(self.n_fits)),
                ("Intervals", f"{percent(1 - alpha)}, simultaneous"),
                ("Loss or score", str(self.settings["loss"])),
            ],
            [Grid([list(row) for row in zip(*cells.values(), strict=True)], [*cells])],
            self.verdict_at(alpha),
            notes=self.notes,
            in_full=notes,
            **options,
        )

    @property
    def in_words(self) -> str:
        """What a gain is."""
        quantity = self.settings["loss"]
        with_all = "with all columns" if self.base is None else "with the base and the block"
        without = "without the block" if self.base is None else "of the base"
        first, second = (
            (without, with_all) if self._first.better == "lower" else (with_all, without)
        )
        return f"mean {quantity} {first} minus that {second}"

    def methods_text(self) -> str:
        """The analysis, in a paragraph for the methods section of a paper."""
        copies = ""
        if self.copies:
            copies = (
                " That a block carries no information was tested by the rank of its predictions "
                f"among those with {self.settings['copies']} permuted copies in its place."
            )
        return (
            f"The gain of a block of columns is the {self.in_words}, here of {self.learner} and "
            f"{_joined([*self.blocks])}; all learners had the same learning sets, intervals are "
            f"simultaneous, and p-values are adjusted step by step.{copies} Of the first block: "
            f"{self._first.methods_text()}"
        )

    def plot(self, ax: "Axes | None" = None, alpha: float = 0.05) -> "Axes":
        """Draw gains with simultaneous intervals, the largest above.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        alpha : float
            One minus the confidence level of all intervals together.
        """
        from ucvtest.gains.drawing import picture_of

        return picture_of(self, alpha).on(ax)

    def save_plot(self, path: str | Path, *, alpha: float = 0.05, dpi: float = 150) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot."""
        from ucvtest.gains.drawing import picture_of

        picture_of(self, alpha).write(path, dpi)

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"comparison": self.comparison.to_dict(), "verdict": self.verdict}

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values({**data, "comparison": None})
        base = values["base"]
        return values | {
            "comparison": Comparison.from_dict(data["comparison"]),
            "blocks": {name: tuple(columns) for name, columns in values["blocks"].items()},
            "base": None if base is None else tuple(base),
            "notes": tuple(values["notes"]),
        }


def _joined(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first ones."""
    if len(names) > MOST_LISTED + 1:
        names = [*names[:MOST_LISTED], f"{len(names) - MOST_LISTED} more"]
    *first_names, last = names or [""]
    return f"{', '.join(first_names)} and {last}" if first_names else last
